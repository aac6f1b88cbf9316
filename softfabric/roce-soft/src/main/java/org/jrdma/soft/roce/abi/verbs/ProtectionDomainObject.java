package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_pd;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jspecify.annotations.Nullable;

/** The implementation of an {@code ibv_pd}: a protection domain, or a parent domain. */
final class ProtectionDomainObject extends ContextResource {

    private final ProtectionDomain domain;

    /**
     * The protection domain that this parent domain was created from; null if this object is not a
     * parent domain.
     */
    private final @Nullable ProtectionDomainObject base;

    /** The thread domain of this parent domain; null if it has none. */
    private final @Nullable ThreadDomainObject threads;

    ProtectionDomainObject(ContextObject context) {
        this(context, new ProtectionDomain(), null, null);
    }

    /**
     * Creates a parent domain. It permits access to the same memory as the protection domain that
     * it is created from.
     */
    ProtectionDomainObject(ProtectionDomainObject base, @Nullable ThreadDomainObject threads) {
        ErrnoException.throwIf(
                threads != null && threads.context() != base.context(), Errno.EINVAL);
        this(base.context(), base.domain, base, threads);
        base.users().add();
        if (threads != null) {
            threads.users().add();
        }
    }

    private ProtectionDomainObject(
            ContextObject context,
            ProtectionDomain domain,
            @Nullable ProtectionDomainObject base,
            @Nullable ThreadDomainObject threads) {
        super(context, ibv_pd.layout());
        this.domain = domain;
        this.base = base;
        this.threads = threads;
        ibv_pd.context(structure(), context().address());
        context().own(this);
    }

    static ProtectionDomainObject of(long address) {
        return StructureRegistry.object(address, ProtectionDomainObject.class);
    }

    ProtectionDomain domain() {
        return domain;
    }

    boolean isParent() {
        return base != null;
    }

    @Override
    void destroy() {
        super.destroy();
        if (base != null) {
            base.users().remove();
        }
        if (threads != null) {
            threads.users().remove();
        }
    }
}
