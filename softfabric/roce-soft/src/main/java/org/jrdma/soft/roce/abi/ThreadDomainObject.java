package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_td;
import org.jrdma.ffi.Errno;

/** Behind an {@code ibv_td}. Nothing here is faster for being of one thread. */
final class ThreadDomainObject implements Owned {

    private final ContextObject context;
    private final MemorySegment structure;
    private final Users users = new Users();

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
    Users users() {
        return users;
    }

    @Override
    public void destroy() {
        users.refuseIfAny(Errno.EBUSY);
        context.disown(this);
        Structures.release(structure);
    }
}
