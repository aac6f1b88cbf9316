package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.LibraryName;
import org.jrdma.ffi.linkage.NativeLibrary;

/**
 * An open librdmacm, by its parts.
 *
 * @param library where the symbols come from
 * @param identifiers identifiers, and the steps of a connection
 * @param multicast multicast groups
 * @param addresses addresses by name
 * @param events channels and events
 */
public record ConnectionLibrary(
        NativeLibrary library,
        IdentifierFunctions identifiers,
        MulticastFunctions multicast,
        AddressFunctions addresses,
        EventFunctions events) {

    /** What the library is called, and which packages hold it. */
    public static final LibraryName NAME =
            new LibraryName("librdmacm.so.1", "librdmacm1", "librdmacm", "librdmacm1");

    /** Links the functions. */
    public ConnectionLibrary(NativeLibrary library) throws LibraryNotFoundException {
        this(
                library,
                new IdentifierFunctions(library),
                new MulticastFunctions(library),
                new AddressFunctions(library),
                new EventFunctions(library));
    }

    /** Returns what a software library reports about the last failure; otherwise the advice. */
    public String explained(String advice) {
        var explanation = library.explanation();
        return explanation.isEmpty() ? advice : explanation;
    }
}
