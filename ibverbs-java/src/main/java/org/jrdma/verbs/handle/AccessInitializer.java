package org.jrdma.verbs.handle;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Obtains the accessor of a package, which a class of that package registers in its static
 * initializer.
 */
public final class AccessInitializer {

    private AccessInitializer() {}

    /**
     * Initializes the class that registers an accessor, and returns the accessor.
     *
     * @param opener the class that registers the accessor in its static initializer
     * @param opened returns the registered accessor
     */
    public static <A> A of(Class<?> opener, Supplier<@Nullable A> opened) {
        try {
            MethodHandles.lookup().ensureInitialized(opener);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return Objects.requireNonNull(
                opened.get(), () -> opener + " does not register an accessor");
    }
}
