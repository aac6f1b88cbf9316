package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ReferenceCount;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;

/**
 * An object behind a native structure that belongs to a context, such as a queue pair. A context
 * that is closed destroys its remaining resources. The constructor of a subclass must call {@link
 * ContextObject#own} as its last step, so that the context never owns a resource whose constructor
 * has failed.
 */
abstract class ContextResource {

    private final ContextObject context;
    private final MemorySegment structure;
    private final ReferenceCount users = new ReferenceCount();
    private final UnacknowledgedEvents asyncEvents = new UnacknowledgedEvents();

    ContextResource(ContextObject context, GroupLayout layout) {
        this.context = context;
        this.structure = StructureRegistry.allocate(layout, this);
    }

    final ContextObject context() {
        return context;
    }

    final MemorySegment structure() {
        return structure;
    }

    /**
     * The number of objects that use this object. It cannot be destroyed while this number is not
     * 0.
     */
    final ReferenceCount users() {
        return users;
    }

    /**
     * The counter of asynchronous events about this object that the program has not acknowledged.
     */
    final UnacknowledgedEvents asyncEvents() {
        return asyncEvents;
    }

    /**
     * Stops reporting events about this object. The program may still acknowledge events that it
     * has received.
     */
    void stop() {}

    /**
     * Destroys this object and releases its structure. This method does not wait until the program
     * has acknowledged the events about this object.
     *
     * @throws org.jrdma.soft.roce.abi.ErrnoException with {@code EBUSY} if other objects use this
     *     object
     */
    void destroy() {
        users.requireNone(Errno.EBUSY);
        context.disown(this);
        StructureRegistry.release(structure);
    }
}
