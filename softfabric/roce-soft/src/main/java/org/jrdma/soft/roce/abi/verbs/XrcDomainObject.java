package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_xrcd;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ReferenceCount;
import org.jrdma.soft.roce.abi.Structures;

/** Behind an {@code ibv_xrcd}. */
final class XrcDomainObject implements ContextResource {

    private final ContextObject context;
    private final XrcDomain domain;
    private final MemorySegment structure;
    private final ReferenceCount users = new ReferenceCount();

    /**
     * @param descriptor of the file that it is found by; -1 for none
     * @param flags as of open(2)
     */
    XrcDomainObject(ContextObject context, int descriptor, int flags) {
        this.context = context;
        this.domain = context.device().xrcDomains().open(descriptor, flags);
        this.structure = Structures.allocate(ibv_xrcd.layout(), this);
        ibv_xrcd.context(structure, context.address());
        context.own(this);
    }

    static XrcDomainObject of(long address) {
        return Structures.object(address, XrcDomainObject.class);
    }

    ContextObject context() {
        return context;
    }

    MemorySegment structure() {
        return structure;
    }

    XrcDomain domain() {
        return domain;
    }

    /** Who was made or opened through it. */
    ReferenceCount users() {
        return users;
    }

    @Override
    public void destroy() {
        users.refuseIfAny(Errno.EBUSY);
        context.disown(this);
        Structures.release(structure);
        context.device().xrcDomains().close(domain);
    }
}
