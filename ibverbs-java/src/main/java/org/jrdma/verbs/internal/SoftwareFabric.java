package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jspecify.annotations.Nullable;

/** The library in software, which answers for libibverbs and librdmacm both. */
public final class SoftwareFabric {

    private static @Nullable NativeLibrary library;

    private SoftwareFabric() {}

    /**
     * The same each time, so that both have the same devices.
     *
     * @throws LibraryNotFoundException if there is none; the message says what to add
     * @throws IllegalArgumentException if a system property of its own makes no sense
     */
    public static synchronized NativeLibrary library() throws LibraryNotFoundException {
        if (library == null) {
            library =
                    NativeLibrary.software(
                            VerbsLibrary.NAME.soname(), "roce-soft", "org.jrdma.soft.roce");
        }
        return library;
    }
}
