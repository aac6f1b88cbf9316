package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.LibraryName;
import org.jrdma.ffi.linkage.NativeLibrary;

/**
 * An open librdmacm.
 *
 * @param library the source of the symbols
 * @param identifiers the functions of identifiers and connections
 * @param multicast the functions of multicast groups
 * @param addresses the functions for address resolution by name
 * @param events the functions of event channels
 */
public record ConnectionLibrary(
        NativeLibrary library,
        IdentifierFunctions identifiers,
        GroupFunctions multicast,
        AddressInfoFunctions addresses,
        EventChannelFunctions events) {

    /** The name of the library and of the packages that contain it. */
    public static final LibraryName NAME =
            new LibraryName("librdmacm.so.1", "librdmacm1", "librdmacm", "librdmacm1");

    public ConnectionLibrary(NativeLibrary library) throws LibraryNotFoundException {
        this(
                library,
                new IdentifierFunctions(library),
                new GroupFunctions(library),
                new AddressInfoFunctions(library),
                new EventChannelFunctions(library));
    }

    /**
     * Returns a software library's explanation of the last failure if there is one, otherwise the
     * advice.
     */
    public String explained(String advice) {
        var explanation = library.explanation();
        return explanation.isEmpty() ? advice : explanation;
    }
}
