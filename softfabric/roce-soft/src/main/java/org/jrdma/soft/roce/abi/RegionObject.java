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

    private final MemorySegment structure;
    private DomainObject domain;
    private int access;
    private MemoryRegion region;

    /**
     * @param start by which address the first byte is known
     * @throws Refusal if the rights make no sense or the memory is not there
     */
    RegionObject(DomainObject domain, long address, long length, long start, int access) {
        check(address, length, access);
        this.domain = domain;
        this.access = access;
        this.structure = Structures.allocate(ibv_mr.layout(), this);
        register(Memory.at(address, length), isZeroBased() ? 0 : start);
        own();
    }

    /** A region of no memory. */
    RegionObject(DomainObject domain) {
        this.domain = domain;
        this.access = Access.LOCAL_WRITE;
        this.structure = Structures.allocate(ibv_mr.layout(), this);
        register(MemorySegment.NULL, 0);
        own();
    }

    private void own() {
        domain.users().add();
        domain.context().own(this);
    }

    private void disown() {
        domain.users().remove();
        domain.context().disown(this);
    }

    private static void check(long address, long length, int access) {
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
    }

    private boolean isZeroBased() {
        return (access & rdma_h.IBV_ACCESS_ZERO_BASED()) != 0;
    }

    private void register(MemorySegment memory, long start) {
        region = domain.context().port().memory().register(domain.domain(), memory, start, access);
        ibv_mr.context(structure, domain.context().address());
        ibv_mr.pd(structure, domain.structure());
        ibv_mr.addr(structure, MemorySegment.ofAddress(memory.address()));
        ibv_mr.length(structure, region.isNull() ? -1 : memory.byteSize());
        ibv_mr.lkey(structure, region.key());
        ibv_mr.rkey(structure, region.isNull() ? 0 : region.key());
    }

    /**
     * Changes what {@code changes} names, and the keys.
     *
     * @throws Refusal with nothing changed
     */
    void change(int changes, long nextDomain, long address, long length, int nextAccess) {
        var changesMemory = (changes & rdma_h.IBV_REREG_MR_CHANGE_TRANSLATION()) != 0;
        var changesDomain = (changes & rdma_h.IBV_REREG_MR_CHANGE_PD()) != 0;
        var changesAccess = (changes & rdma_h.IBV_REREG_MR_CHANGE_ACCESS()) != 0;
        if (changes == 0
                || (changes & ~rdma_h.IBV_REREG_MR_FLAGS_SUPPORTED()) != 0
                || (!changesAccess && nextAccess != 0)
                || region.isNull()) {
            throw new Refusal(Errno.EINVAL);
        }
        check(
                changesMemory ? address : region.memory().address(),
                changesMemory ? length : region.memory().byteSize(),
                changesAccess ? nextAccess : access);
        var next = changesDomain ? DomainObject.of(nextDomain) : domain;
        if (next.context() != domain.context()) {
            throw new Refusal(Errno.EINVAL);
        }
        var before = region;
        var memory = changesMemory ? Memory.at(address, length) : before.memory();
        disown();
        domain = next;
        access = changesAccess ? nextAccess : access;
        register(memory, isZeroBased() ? 0 : changesMemory ? address : before.start());
        own(); // as the newest, for a context destroys what is new before what is old
        domain.context().port().memory().deregister(before);
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
        disown();
        Structures.release(structure);
    }
}
