package org.jrdma.ffi;

/**
 * A library written in Java that stands in for one in C. A binding finds it as a service, where its
 * module or jar is there; it is never taken unasked.
 */
public interface SoftwareLibrary extends LibraryProvider {

    /** The library that it stands in for, as {@code libibverbs.so.1}. */
    String soname();
}
