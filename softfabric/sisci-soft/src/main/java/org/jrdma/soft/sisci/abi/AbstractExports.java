package org.jrdma.soft.sisci.abi;

import org.jrdma.soft.sisci.fabric.SciDescriptor;

/** The base class of the classes that implement exported C functions. */
abstract class AbstractExports {

    final SoftSisciLibrary library;
    final Handles handles;

    AbstractExports(SoftSisciLibrary library) {
        this.library = library;
        this.handles = library.handles();
    }

    /** Returns the descriptor with a handle. Fails if the library is not initialized. */
    final SciDescriptor descriptor(long handle) {
        var _ = library.process();
        return handles.object(handle, SciDescriptor.class);
    }
}
