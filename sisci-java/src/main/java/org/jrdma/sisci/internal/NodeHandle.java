package org.jrdma.sisci.internal;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.ffi.Lifetime;

/**
 * The state of an open node for use by the objects of the node. It does not refer to the {@code
 * Node} object, so that a leaked node can be detected.
 *
 * @param functions the functions of the library
 * @param address the handle by which the library identifies the node
 * @param adapter the number of the adapter through which the node was opened
 * @param id the id of the node, which depends on the adapter
 * @param lifetime the lifetime of the node
 * @param deferred the removals to retry when the node is closed
 */
public record NodeHandle(
        SisciFunctionGroups functions,
        MemorySegment address,
        int adapter,
        int id,
        Lifetime lifetime,
        DeferredRemovals deferred) {

    /**
     * Returns the handle of a new native object that this node owns, and starts the object's
     * lifetime. The caller must {@linkplain Lifetime#hold hold} the lifetime of the node.
     *
     * @param name the name of the object for messages
     * @param handle the handle by which the library identifies the object
     * @param removal the action that removes the object, which is retried while the object is busy
     */
    public ObjectHandle own(String name, MemorySegment handle, RemovalRetry.Removal removal) {
        return own(name, handle, lifetime, removal);
    }

    /**
     * Returns the handle of a new native object that another object of this node owns. Otherwise
     * like the method without the parameter {@code owner}.
     */
    public ObjectHandle own(
            String name, MemorySegment handle, Lifetime owner, RemovalRetry.Removal removal) {
        var retry = new RemovalRetry(deferred);
        var owned = new Lifetime(name, List.of(owner), () -> retry.remove(removal));
        return new ObjectHandle(this, handle, owned, retry);
    }

    /**
     * Returns the handle of a new native object that reports events. Otherwise like the method
     * without {@code listener} and {@code events}.
     *
     * @param listener the key of the object's listener, which is removed with the object
     * @param events the event queue, which is closed when the close of the object begins
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

    /**
     * Returns the handle of a new native object whose removal consists of several steps. Otherwise
     * like the method without the parameter {@code retry}.
     *
     * @param retry the retry for {@code close(Duration)}, which {@code retriedRemoval} itself uses
     * @param retriedRemoval the action that removes the object, including all retries
     */
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
