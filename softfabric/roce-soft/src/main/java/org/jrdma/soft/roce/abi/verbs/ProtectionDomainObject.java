package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_pd;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ReferenceCount;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/** Behind an {@code ibv_pd}. */
final class ProtectionDomainObject implements ContextResource {

    private final ContextObject context;
    private final MemorySegment structure;
    private final ProtectionDomain domain;
    private final ReferenceCount users = new ReferenceCount();

    /** What a parent domain is made of; null for a plain one. */
    private final @Nullable ProtectionDomainObject base;

    private final @Nullable ThreadDomainObject threads;

    ProtectionDomainObject(ContextObject context) {
        this(context, new ProtectionDomain(), null, null);
    }

    /** A parent domain, which is its base for all that it protects. */
    ProtectionDomainObject(ProtectionDomainObject base, @Nullable ThreadDomainObject threads) {
        if (threads != null && threads.context() != base.context) {
            throw new ErrnoException(Errno.EINVAL);
        }
        this(base.context, base.domain, base, threads);
        base.users.add();
        if (threads != null) {
            threads.users().add();
        }
    }

    private ProtectionDomainObject(
            ContextObject context,
            ProtectionDomain domain,
            @Nullable ProtectionDomainObject base,
            @Nullable ThreadDomainObject threads) {
        this.context = context;
        this.domain = domain;
        this.base = base;
        this.threads = threads;
        this.structure = Structures.allocate(ibv_pd.layout(), this);
        ibv_pd.context(structure, context.address());
        context.own(this);
    }

    static ProtectionDomainObject of(long address) {
        return Structures.object(address, ProtectionDomainObject.class);
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
    ReferenceCount users() {
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
