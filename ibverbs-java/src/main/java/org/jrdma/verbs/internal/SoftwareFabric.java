package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jspecify.annotations.Nullable;

/** The software fabric, which implements both libibverbs and librdmacm. */
public final class SoftwareFabric {

    private static @Nullable NativeLibrary library;

    private SoftwareFabric() {}

    /**
     * Returns the library. It is the same object for each call, so that libibverbs and librdmacm
     * share their devices.
     *
     * @throws LibraryNotFoundException if the library is missing; the message names the artifact to
     *     add
     * @throws IllegalArgumentException if a system property of the library is invalid
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
