package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;

/**
 * An open node, as the objects created from it need it: without a reference to the object of the
 * API, so that a leaked one can be detected.
 *
 * @param functions the functions of the library
 * @param address the handle by which the library knows the node
 * @param adapter the number of the adapter by which the node was opened
 * @param id the id that the adapter gives the node
 * @param lifetime the lifetime of the node
 * @param deferred removals to run when the node is closed
 */
public record NodeHandle(
        SisciFunctions functions,
        MemorySegment address,
        int adapter,
        int id,
        Lifetime lifetime,
        DeferredRemovals deferred) {

    /**
     * An object that was created from this node, which must be held.
     *
     * @param name the name of the object in messages
     * @param handle the object's handle
     * @param removal removes the object
     */
    public ObjectHandle own(String name, MemorySegment handle, RemovalRetry.Removal removal) {
        return own(name, handle, lifetime, removal);
    }

    /** As {@link #own(String, MemorySegment, RemovalRetry.Removal)}, for an object of an object. */
    public ObjectHandle own(
            String name, MemorySegment handle, Lifetime owner, RemovalRetry.Removal removal) {
        var retry = new RemovalRetry(deferred);
        var owned = new Lifetime(name, List.of(owner), () -> retry.remove(removal));
        return new ObjectHandle(this, handle, owned, retry);
    }

    /**
     * As {@link #own(String, MemorySegment, Lifetime, RemovalRetry.Removal)}, for an object that
     * reports events.
     *
     * @param listener the key of the object's listener, which ends with the object
     * @param events the events, waits for which end when the object is closed
     */
    public ObjectHandle own(
            String name,
            MemorySegment handle,
            Lifetime owner,
            long listener,
            EventQueue<?> events,
            RemovalRetry.Removal removal) {
        var retry = new RemovalRetry(deferred);
        var owned =
                new Lifetime(
                        name,
                        List.of(owner),
                        () -> {
                            try {
                                retry.remove(removal);
                            } finally {
                                Callbacks.forget(listener);
                            }
                        });
        owned.onClose(events::close);
        return new ObjectHandle(this, handle, owned, retry);
    }

    /** The name of the node. */
    @Override
    public String toString() {
        return lifetime.toString();
    }
}
