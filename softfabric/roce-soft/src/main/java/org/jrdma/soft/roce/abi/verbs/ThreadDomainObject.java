package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_td;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ReferenceCount;
import org.jrdma.soft.roce.abi.Structures;

/** Behind an {@code ibv_td}. Nothing here is faster for being of one thread. */
final class ThreadDomainObject implements ContextResource {

    private final ContextObject context;
    private final MemorySegment structure;
    private final ReferenceCount users = new ReferenceCount();

    ThreadDomainObject(ContextObject context) {
        this.context = context;
        this.structure = Structures.allocate(ibv_td.layout(), this);
        ibv_td.context(structure, context.address());
        context.own(this);
    }

    static ThreadDomainObject of(long address) {
        return Structures.object(address, ThreadDomainObject.class);
    }

    ContextObject context() {
        return context;
    }

    MemorySegment structure() {
        return structure;
    }

    /** Parent domains of it. */
    ReferenceCount users() {
        return users;
    }

    @Override
    public void destroy() {
        users.refuseIfAny(Errno.EBUSY);
        context.disown(this);
        Structures.release(structure);
    }
}
