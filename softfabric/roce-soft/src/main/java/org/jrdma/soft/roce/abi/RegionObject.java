package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_mr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.engine.Access;
import org.jrdma.soft.roce.engine.MemoryRegion;

/** Behind an {@code ibv_mr}. */
final class RegionObject implements Owned {

    private static final int REMOTE_CHANGES = Access.REMOTE_WRITE | Access.REMOTE_ATOMIC;
    private static final int KNOWN =
            Access.LOCAL_WRITE
                    | Access.REMOTE_READ
                    | REMOTE_CHANGES
                    | rdma_h.IBV_ACCESS_MW_BIND()
                    | rdma_h.IBV_ACCESS_ZERO_BASED()
                    | rdma_h.IBV_ACCESS_ON_DEMAND()
                    | rdma_h.IBV_ACCESS_HUGETLB()
                    | rdma_h.IBV_ACCESS_OPTIONAL_RANGE();

    private final DomainObject domain;
    private final MemorySegment structure;
    private final MemoryRegion region;

    /**
     * @param start by which address the first byte is known
     * @throws Refusal if the rights make no sense or the memory is not there
     */
    RegionObject(DomainObject domain, long address, long length, long start, int access) {
        if ((access & ~KNOWN) != 0) {
            throw new Refusal(Errno.EOPNOTSUPP);
        }
        if (length <= 0
                || address + length < address
                || ((access & REMOTE_CHANGES) != 0 && (access & Access.LOCAL_WRITE) == 0)) {
            throw new Refusal(Errno.EINVAL);
        }
        if (!MappedMemory.isThere(address, length, (access & Access.LOCAL_WRITE) != 0)) {
            throw new Refusal(Errno.EFAULT);
        }
        this.domain = domain;
        var zeroBased = (access & rdma_h.IBV_ACCESS_ZERO_BASED()) != 0;
        this.region =
                domain.context()
                        .port()
                        .memory()
                        .register(
                                domain.domain(),
                                Memory.at(address, length),
                                zeroBased ? 0 : start,
                                access);
        this.structure = Structures.allocate(ibv_mr.layout(), this);
        ibv_mr.context(structure, domain.context().address());
        ibv_mr.pd(structure, domain.structure());
        ibv_mr.addr(structure, MemorySegment.ofAddress(address));
        ibv_mr.length(structure, length);
        ibv_mr.lkey(structure, region.key());
        ibv_mr.rkey(structure, region.key());
        domain.users().add();
        domain.context().own(this);
    }

    static RegionObject of(long address) {
        return Structures.object(address, RegionObject.class);
    }

    MemorySegment structure() {
        return structure;
    }

    @Override
    public void destroy() {
        domain.context().port().memory().deregister(region);
        domain.users().remove();
        domain.context().disown(this);
        Structures.release(structure);
    }
}
