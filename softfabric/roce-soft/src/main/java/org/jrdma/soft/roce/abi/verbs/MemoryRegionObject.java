package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_mr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Linux;
import org.jrdma.ffi.linkage.MappedMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Memory;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jspecify.annotations.Nullable;

/** Behind an {@code ibv_mr}. */
final class MemoryRegionObject extends ContextResource {

    private static final int KNOWN =
            Access.LOCAL_WRITE
                    | Access.REMOTE
                    | Access.WINDOW_BIND
                    | Access.ZERO_BASED
                    | Access.ON_DEMAND
                    | rdma_h.IBV_ACCESS_HUGETLB()
                    | rdma_h.IBV_ACCESS_OPTIONAL_RANGE();

    /** What is known by another address stands at the same place of its pages, says the kernel. */
    private static final long PAGE_BYTES = Linux.pageBytes();

    /** Whose it is; null for memory of this side's own. */
    private final @Nullable DeviceMemoryObject ofDevice;

    private ProtectionDomainObject domain;
    private int access;
    private MemoryRegion region;

    /**
     * @param start by which address the first byte is known
     * @throws ErrnoException if the rights make no sense or the memory is not there
     */
    MemoryRegionObject(
            ProtectionDomainObject domain, long address, long length, long start, int access) {
        check(address, length, access);
        ErrnoException.throwIf(
                !isZeroBased(access) && (address ^ start) % PAGE_BYTES != 0, Errno.EINVAL);
        super(domain.context(), ibv_mr.layout());
        this.ofDevice = null;
        var memory = Memory.at(address, length);
        own(domain, access, register(domain, memory, isZeroBased(access) ? 0 : start, access));
    }

    /** A region of no memory. */
    MemoryRegionObject(ProtectionDomainObject domain) {
        super(domain.context(), ibv_mr.layout());
        this.ofDevice = null;
        var access = Access.LOCAL_WRITE;
        own(domain, access, register(domain, MemorySegment.NULL, 0, access));
    }

    /** A region of the device's own memory. */
    MemoryRegionObject(
            ProtectionDomainObject domain,
            DeviceMemoryObject ofDevice,
            long offset,
            long length,
            int access) {
        ErrnoException.throwIf(
                domain.context() != ofDevice.context() || length == 0 || !isZeroBased(access),
                Errno.EINVAL);
        refuseRights(access);
        var memory = ofDevice.part(offset, length);
        super(domain.context(), ibv_mr.layout());
        this.ofDevice = ofDevice;
        ofDevice.users().add();
        own(domain, access, register(domain, memory, 0, access));
    }

    private static MemoryRegion register(
            ProtectionDomainObject domain, MemorySegment memory, long start, int access) {
        return domain.context().port().memory().register(domain.domain(), memory, start, access);
    }

    private void own(ProtectionDomainObject newDomain, int newAccess, MemoryRegion newRegion) {
        domain = newDomain;
        access = newAccess;
        region = newRegion;
        var memory = region.memory();
        ibv_mr.context(structure(), domain.context().address());
        ibv_mr.pd(structure(), domain.structure());
        ibv_mr.addr(
                structure(),
                ofDevice == null ? MemorySegment.ofAddress(memory.address()) : MemorySegment.NULL);
        ibv_mr.length(structure(), region.isNull() ? -1 : memory.byteSize());
        ibv_mr.lkey(structure(), region.key());
        ibv_mr.rkey(structure(), region.isNull() ? 0 : region.key());
        domain.users().add();
        domain.context().own(this);
    }

    private void disown() {
        domain.users().remove();
        domain.context().disown(this);
    }

    private static void refuseRights(int access) {
        ErrnoException.throwIf((access & ~KNOWN) != 0, Errno.EOPNOTSUPP);
        ErrnoException.throwIf(
                (access & Access.REMOTE_CHANGES) != 0 && (access & Access.LOCAL_WRITE) == 0,
                Errno.EINVAL);
    }

    private static void check(long address, long length, int access) {
        refuseRights(access);
        ErrnoException.throwIf(length <= 0 || address + length < address, Errno.EINVAL);
        ErrnoException.throwIf(
                !MappedMemory.isThere(address, length, (access & Access.LOCAL_WRITE) != 0),
                Errno.EFAULT);
    }

    private static boolean isZeroBased(int access) {
        return (access & Access.ZERO_BASED) != 0;
    }

    /**
     * Changes what {@code changes} names, and the keys.
     *
     * @throws ErrnoException with nothing changed
     */
    void change(int changes, long nextDomain, long address, long length, int nextAccess) {
        var changesMemory = (changes & rdma_h.IBV_REREG_MR_CHANGE_TRANSLATION()) != 0;
        var changesDomain = (changes & rdma_h.IBV_REREG_MR_CHANGE_PD()) != 0;
        var changesAccess = (changes & rdma_h.IBV_REREG_MR_CHANGE_ACCESS()) != 0;
        ErrnoException.throwIf(
                changes == 0
                        || (changes & ~rdma_h.IBV_REREG_MR_FLAGS_SUPPORTED()) != 0
                        || (!changesAccess && nextAccess != 0)
                        || region.isNull()
                        || ofDevice != null,
                Errno.EINVAL);
        var before = region;
        var newAccess = changesAccess ? nextAccess : access;
        check(
                changesMemory ? address : before.memory().address(),
                changesMemory ? length : before.memory().byteSize(),
                newAccess);
        var newDomain = changesDomain ? ProtectionDomainObject.of(nextDomain) : domain;
        ErrnoException.throwIf(newDomain.context() != domain.context(), Errno.EINVAL);
        refuseIfShown();
        var memory = changesMemory ? Memory.at(address, length) : before.memory();
        var start = changesMemory ? address : before.start();
        var changed = register(newDomain, memory, isZeroBased(newAccess) ? 0 : start, newAccess);
        disown();
        own(newDomain, newAccess, changed); // the newest: a context destroys the new before the old
        domain.context().port().memory().deregister(before);
    }

    static MemoryRegionObject of(long address) {
        return Structures.object(address, MemoryRegionObject.class);
    }

    /** Refuses to go while windows show it. */
    void refuseIfShown() {
        if (domain.context().port().memory().hasWindows(region)) {
            throw new ErrnoException(
                    Errno.EBUSY,
                    "A memory window is bound to it: unbind or deallocate that first.");
        }
    }

    MemoryRegion region() {
        return region;
    }

    @Override
    void destroy() {
        domain.context().port().memory().deregister(region);
        super.destroy();
        domain.users().remove();
        if (ofDevice != null) {
            ofDevice.users().remove();
        }
    }
}
