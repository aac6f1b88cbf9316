package org.jrdma.verbs.access;

import java.lang.invoke.MethodHandles;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Has a package open itself. */
final class Opening {

    private Opening() {}

    /** Initializes the class that opens a package, and returns what it opened the package with. */
    static <A> A of(Class<?> opener, Supplier<@Nullable A> opened) {
        try {
            MethodHandles.lookup().ensureInitialized(opener);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
        return Objects.requireNonNull(opened.get(), () -> opener + " does not open its package");
    }
}
