package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jspecify.annotations.Nullable;

/** Loads the software fabric, a library that implements both libibverbs and librdmacm, once. */
public final class SoftwareFabricLoader {

    private static @Nullable NativeLibrary library;

    private SoftwareFabricLoader() {}

    /**
     * Returns the library of the software fabric. Every call returns the same object, so that
     * libibverbs and librdmacm share their devices.
     *
     * @throws LibraryNotFoundException if the artifact that contains the library is missing; the
     *     message names this artifact
     * @throws IllegalArgumentException if a system property of the library has an invalid value
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
