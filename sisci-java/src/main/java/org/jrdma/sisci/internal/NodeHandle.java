package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;

/**
 * The state of an open node that its objects need. Does not refer to the API object of the node, so
 * that a leaked node can be detected.
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
     * Returns the handle of an object that was created from this node. The node must be held.
     *
     * @param name the name of the object in messages
     * @param handle the object's handle
     * @param removal removes the object
     */
    public ObjectHandle own(String name, MemorySegment handle, RemovalRetry.Removal removal) {
        return own(name, handle, lifetime, removal);
    }

    /** Like the previous method, for an object whose owner is another object of the node. */
    public ObjectHandle own(
            String name, MemorySegment handle, Lifetime owner, RemovalRetry.Removal removal) {
        var retry = new RemovalRetry(deferred);
        var owned = new Lifetime(name, List.of(owner), () -> retry.remove(removal));
        return new ObjectHandle(this, handle, owned, retry);
    }

    /**
     * Like the previous method, for an object that reports events.
     *
     * @param listener the key of the object's listener, which is removed with the object
     * @param events the event queue, which is closed when the close of the object starts
     */
    public ObjectHandle own(
            String name,
            MemorySegment handle,
            Lifetime owner,
            long listener,
            EventQueue<?> events,
            RemovalRetry.Removal removal) {
        var retry = new RemovalRetry(deferred);
        return own(name, handle, owner, listener, events, retry, () -> retry.remove(removal));
    }

    /** Like the previous method, with a removal that uses a given retry itself. */
    public ObjectHandle own(
            String name,
            MemorySegment handle,
            Lifetime owner,
            long listener,
            EventQueue<?> events,
            RemovalRetry retry,
            RemovalRetry.Removal retriedRemoval) {
        var owned =
                new Lifetime(
                        name,
                        List.of(owner),
                        () -> {
                            try {
                                retriedRemoval.remove();
                            } finally {
                                Callbacks.forget(listener);
                            }
                        });
        owned.onClose(events::close);
        return new ObjectHandle(this, handle, owned, retry);
    }

    @Override
    public String toString() {
        return lifetime.toString();
    }
}
