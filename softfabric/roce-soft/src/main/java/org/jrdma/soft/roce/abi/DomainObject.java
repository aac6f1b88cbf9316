package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_pd;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.ProtectionDomain;

/** Behind an {@code ibv_pd}. */
final class DomainObject implements Owned {

    private final ContextObject context;
    private final MemorySegment structure;
    private final ProtectionDomain domain = new ProtectionDomain();
    private final Users users = new Users();

    DomainObject(ContextObject context) {
        this.context = context;
        this.structure = Structures.allocate(ibv_pd.layout(), this);
        ibv_pd.context(structure, context.address());
        context.own(this);
    }

    static DomainObject of(long address) {
        return Structures.object(address, DomainObject.class);
    }

    ContextObject context() {
        return context;
    }

    MemorySegment structure() {
        return structure;
    }

    ProtectionDomain domain() {
        return domain;
    }

    /** Who was made in it. */
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
