package org.jrdma.verbs.internal;

import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.LibraryNameAndInstallation;
import org.jrdma.ffi.linkage.NativeLibrary;

/**
 * An open librdmacm with its functions.
 *
 * @param library the library that contains the functions
 * @param identifiers the functions of {@code rdma_cm_id} objects and connections
 * @param multicast the functions of multicast groups
 * @param addresses the functions that resolve names to addresses
 * @param events the functions of event channels
 */
public record ConnectionLibrary(
        NativeLibrary library,
        IdentifierFunctions identifiers,
        MulticastJoinFunctions multicast,
        AddressInfoFunctions addresses,
        EventChannelFunctions events) {

    /** The name of the library and the names of the packages that contain the library. */
    public static final LibraryNameAndInstallation NAME =
            new LibraryNameAndInstallation(
                    "librdmacm.so.1", "librdmacm1", "librdmacm", "librdmacm1");

    public ConnectionLibrary(NativeLibrary library) throws LibraryNotFoundException {
        this(
                library,
                new IdentifierFunctions(library),
                new MulticastJoinFunctions(library),
                new AddressInfoFunctions(library),
                new EventChannelFunctions(library));
    }

    /**
     * Returns the message of a software library about its last failure. If there is none, returns
     * {@code advice}.
     */
    public String explained(String advice) {
        var explanation = library.explanation();
        return explanation.isEmpty() ? advice : explanation;
    }
}
