package org.jrdma.ffi;

/**
 * A Java implementation of a C library's ABI. A binding finds the implementation as a service if
 * its module or jar is present, but uses it only if the program requests it.
 */
public interface JavaImplementedLibrary extends LibraryProvider {

    /**
     * Returns the name of the C library that this library implements, such as {@code
     * libibverbs.so.1}.
     */
    String soname();
}
