package org.jrdma.soft.sisci.abi;

import org.jrdma.soft.sisci.fabric.Descriptor;

/** Functions of a library that C can call. */
abstract class Exports {

    final Library library;
    final Handles handles;

    Exports(Library library) {
        this.library = library;
        this.handles = library.handles();
    }

    /** A descriptor of the initialized library. */
    final Descriptor descriptor(long handle) {
        var _ = library.member();
        return handles.object(handle, Descriptor.class);
    }
}
