package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_pd;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/** Behind an {@code ibv_pd}. */
final class DomainObject implements Owned {

    private final ContextObject context;
    private final MemorySegment structure;
    private final ProtectionDomain domain;
    private final Users users = new Users();

    /** What a parent domain is made of; null for a plain one. */
    private final @Nullable DomainObject base;

    private final @Nullable ThreadDomainObject threads;

    DomainObject(ContextObject context) {
        this(context, new ProtectionDomain(), null, null);
    }

    /** A parent domain, which is its base for all that it protects. */
    DomainObject(DomainObject base, @Nullable ThreadDomainObject threads) {
        if (threads != null && threads.context() != base.context) {
            throw new Refusal(Errno.EINVAL);
        }
        this(base.context, base.domain, base, threads);
        base.users.add();
        if (threads != null) {
            threads.users().add();
        }
    }

    private DomainObject(
            ContextObject context,
            ProtectionDomain domain,
            @Nullable DomainObject base,
            @Nullable ThreadDomainObject threads) {
        this.context = context;
        this.domain = domain;
        this.base = base;
        this.threads = threads;
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

    boolean isParent() {
        return base != null;
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
        if (base != null) {
            base.users.remove();
        }
        if (threads != null) {
            threads.users().remove();
        }
    }
}
