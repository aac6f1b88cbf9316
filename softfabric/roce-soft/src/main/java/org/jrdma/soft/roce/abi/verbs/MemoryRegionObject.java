package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_mr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.MappedAddressCheck;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jspecify.annotations.Nullable;

/** The implementation of an {@code ibv_mr}, a memory region. */
final class MemoryRegionObject extends ContextResource {

    private static final int SUPPORTED_ACCESS =
            Access.LOCAL_WRITE
                    | Access.REMOTE
                    | Access.WINDOW_BIND
                    | Access.ZERO_BASED
                    | Access.ON_DEMAND
                    | rdma_h.IBV_ACCESS_HUGETLB()
                    | rdma_h.IBV_ACCESS_OPTIONAL_RANGE();

    /** The device memory that this region registers; null if it registers host memory. */
    private final @Nullable DeviceMemoryObject deviceMemory;

    private ProtectionDomainObject domain;
    private int access;
    private MemoryRegion region;

    /**
     * Creates a region of host memory.
     *
     * @param start the address of the first byte in work requests and in requests of peers (IOVA)
     * @throws ErrnoException if the rights are invalid or the memory is not mapped
     */
    MemoryRegionObject(
            ProtectionDomainObject domain, long address, long length, long start, int access) {
        check(address, length, access);
        // As in the kernel, the address and the IOVA must have the same offset in a page.
        ErrnoException.throwIf(
                !isZeroBased(access) && (address ^ start) % DeviceLimits.PAGE_BYTES != 0,
                Errno.EINVAL);
        super(domain.context(), ibv_mr.layout());
        this.deviceMemory = null;
        var memory = CallerMemory.at(address, length);
        own(domain, access, register(domain, memory, isZeroBased(access) ? 0 : start, access));
    }

    /** Creates a null memory region: writes to it are discarded, and reads return 0. */
    MemoryRegionObject(ProtectionDomainObject domain) {
        super(domain.context(), ibv_mr.layout());
        this.deviceMemory = null;
        var access = Access.LOCAL_WRITE;
        own(domain, access, register(domain, MemorySegment.NULL, 0, access));
    }

    /**
     * Creates a region of device memory.
     *
     * @param offset the offset of the region in the device memory in bytes
     * @throws ErrnoException if the arguments are invalid
     */
    MemoryRegionObject(
            ProtectionDomainObject domain,
            DeviceMemoryObject deviceMemory,
            long offset,
            long length,
            int access) {
        ErrnoException.throwIf(
                domain.context() != deviceMemory.context() || length == 0 || !isZeroBased(access),
                Errno.EINVAL);
        requireValidAccess(access);
        var memory = deviceMemory.part(offset, length);
        super(domain.context(), ibv_mr.layout());
        this.deviceMemory = deviceMemory;
        deviceMemory.users().add();
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
                deviceMemory == null
                        ? MemorySegment.ofAddress(memory.address())
                        : MemorySegment.NULL);
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

    private static void requireValidAccess(int access) {
        ErrnoException.throwIf((access & ~SUPPORTED_ACCESS) != 0, Errno.EOPNOTSUPP);
        ErrnoException.throwIf(
                (access & Access.REMOTE_CHANGES) != 0 && (access & Access.LOCAL_WRITE) == 0,
                Errno.EINVAL);
    }

    private static void check(long address, long length, int access) {
        requireValidAccess(access);
        ErrnoException.throwIf(length <= 0 || address + length < address, Errno.EINVAL);
        ErrnoException.throwIf(
                !MappedAddressCheck.isMapped(address, length, (access & Access.LOCAL_WRITE) != 0),
                Errno.EFAULT);
    }

    private static boolean isZeroBased(int access) {
        return (access & Access.ZERO_BASED) != 0;
    }

    /**
     * Changes properties of the region, and replaces its keys ({@code ibv_rereg_mr}).
     *
     * @param changes the properties to change, as a combination of {@code IBV_REREG_MR_CHANGE_}
     *     flags
     * @throws ErrnoException if a change is not permitted; the region is unchanged then
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
                        || deviceMemory != null,
                Errno.EINVAL);
        var before = region;
        var newAccess = changesAccess ? nextAccess : access;
        check(
                changesMemory ? address : before.memory().address(),
                changesMemory ? length : before.memory().byteSize(),
                newAccess);
        var newDomain = changesDomain ? ProtectionDomainObject.of(nextDomain) : domain;
        ErrnoException.throwIf(newDomain.context() != domain.context(), Errno.EINVAL);
        requireUnbound();
        var memory = changesMemory ? CallerMemory.at(address, length) : before.memory();
        var start = changesMemory ? address : before.start();
        var changed = register(newDomain, memory, isZeroBased(newAccess) ? 0 : start, newAccess);
        disown();
        // The region becomes the newest object of the context. A context that is closed destroys
        // its objects in the reverse order, so the region is destroyed before its new protection
        // domain.
        own(newDomain, newAccess, changed);
        domain.context().port().memory().deregister(before);
    }

    static MemoryRegionObject of(long address) {
        return StructureRegistry.object(address, MemoryRegionObject.class);
    }

    /**
     * Checks that no memory window is bound to the region.
     *
     * @throws ErrnoException with {@code EBUSY} if a window is bound
     */
    void requireUnbound() {
        if (domain.context().port().memory().hasWindows(region)) {
            throw new ErrnoException(
                    Errno.EBUSY,
                    "A memory window is bound to the memory region. Unbind or deallocate the window first.");
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
        if (deviceMemory != null) {
            deviceMemory.users().remove();
        }
    }
}
