package org.jrdma.verbs.handle;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Obtains the accessor of a package by initializing the class that registers it. */
public final class AccessInitializer {

    private AccessInitializer() {}

    /**
     * Initializes the class that registers the accessor, and returns the accessor.
     *
     * @param opener a class of the package that registers the accessor in its static initializer
     * @param opened a supplier of the registered accessor
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
