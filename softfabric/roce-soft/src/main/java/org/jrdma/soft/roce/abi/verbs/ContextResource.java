package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.GroupLayout;
import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ReferenceCount;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.abi.UnacknowledgedEvents;

/**
 * The object of a native structure that a context owns and destroys when it is closed. The
 * constructor of a subclass calls {@link ContextObject#own} last.
 */
abstract class ContextResource {

    private final ContextObject context;
    private final MemorySegment structure;
    private final ReferenceCount users = new ReferenceCount();
    private final UnacknowledgedEvents asyncEvents = new UnacknowledgedEvents();

    ContextResource(ContextObject context, GroupLayout layout) {
        this.context = context;
        this.structure = Structures.allocate(layout, this);
    }

    final ContextObject context() {
        return context;
    }

    final MemorySegment structure() {
        return structure;
    }

    /** The objects that need this one, which cannot be destroyed before them. */
    final ReferenceCount users() {
        return users;
    }

    /** The asynchronous events of this object. */
    final UnacknowledgedEvents asyncEvents() {
        return asyncEvents;
    }

    /** Ends the reporting of events. Events that were taken may still be acknowledged. */
    void stop() {}

    /**
     * Destroys this object and releases its structure, without waiting for acknowledgements.
     *
     * @throws org.jrdma.soft.roce.abi.ErrnoException if other objects need this one
     */
    void destroy() {
        users.requireNone(Errno.EBUSY);
        context.disown(this);
        Structures.release(structure);
    }
}
