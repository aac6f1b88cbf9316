package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_alloc_dm_attr;
import org.jrdma.abi.rdma.ibv_mw_bind;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.memory.Access;

/** The functions of a context for memory windows, device memory and {@code ibv_advise_mr}. */
final class WindowAndDeviceMemoryFunctions {

    private WindowAndDeviceMemoryFunctions() {}

    /**
     * Implements {@code ibv_advise_mr}. With {@code IBV_ADVISE_MR_FLAG_FLUSH}, the pages are loaded
     * before this function returns. Otherwise, and for the advice {@code PREFETCH_NO_FAULT}, only
     * the arguments are checked.
     */
    @Exported(value = "advise_mr", failure = ErrorConvention.ERRNO)
    static int advise(long domain, int advice, int flags, long list, int count) {
        var forWriting = advice == rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE();
        if (!forWriting
                && advice != rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH()
                && advice != rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT()) {
            return Errno.EOPNOTSUPP;
        }
        if ((flags & ~rdma_h.IBV_ADVISE_MR_FLAG_FLUSH()) != 0) {
            return Errno.EINVAL;
        }
        var loadsPages = flags != 0 && advice != rdma_h.IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT();
        var found = ProtectionDomainObject.of(domain);
        for (var i = 0; i < count; i++) {
            var errno =
                    prefetch(
                            found,
                            ScatterGatherListReader.key(list, i),
                            ScatterGatherListReader.address(list, i),
                            Integer.toUnsignedLong(ScatterGatherListReader.length(list, i)),
                            forWriting,
                            loadsPages);
            if (errno != 0) {
                return errno;
            }
        }
        return 0;
    }

    private static int prefetch(
            ProtectionDomainObject domain,
            int key,
            long address,
            long length,
            boolean forWriting,
            boolean loadsPages) {
        var memory = domain.context().port().memory();
        var plain = domain.domain();
        if (!memory.permits(plain, key, address, length, Access.LOCAL_READ)) {
            return Errno.EFAULT;
        }
        if (!memory.permits(plain, key, address, length, Access.ON_DEMAND)) {
            return Errno.EINVAL;
        }
        if (forWriting && !memory.permits(plain, key, address, length, Access.LOCAL_WRITE)) {
            return Errno.EPERM;
        }
        return !loadsPages || memory.touch(plain, key, address, length, DeviceLimits.PAGE_BYTES)
                ? 0
                : Errno.EFAULT;
    }

    @Exported(value = "alloc_dm", failure = ErrorConvention.NULL)
    static long allocateDeviceMemory(long context, long attributes) {
        return new DeviceMemoryObject(
                        ContextObject.of(context),
                        CallerMemory.at(attributes, ibv_alloc_dm_attr.layout()))
                .structure()
                .address();
    }

    @Exported(value = "free_dm", failure = ErrorConvention.ERRNO)
    static int freeDeviceMemory(long memory) {
        DeviceMemoryObject.of(memory).destroy();
        return 0;
    }

    @Exported(value = "reg_dm_mr", failure = ErrorConvention.NULL)
    static long registerDeviceMemory(
            long domain, long memory, long offset, long length, int access) {
        return new MemoryRegionObject(
                        ProtectionDomainObject.of(domain),
                        DeviceMemoryObject.of(memory),
                        offset,
                        length,
                        access)
                .structure()
                .address();
    }

    @Exported(value = "memcpy_to_dm", failure = ErrorConvention.ERRNO)
    static int copyToDevice(long memory, long offset, long source, long length) {
        DeviceMemoryObject.of(memory)
                .part(offset, length)
                .copyFrom(CallerMemory.at(source, length));
        return 0;
    }

    @Exported(value = "memcpy_from_dm", failure = ErrorConvention.ERRNO)
    static int copyFromDevice(long target, long memory, long offset, long length) {
        CallerMemory.at(target, length)
                .copyFrom(DeviceMemoryObject.of(memory).part(offset, length));
        return 0;
    }

    @Exported(value = "alloc_mw", failure = ErrorConvention.NULL)
    static long allocateWindow(long domain, int type) {
        return new MemoryWindowObject(ProtectionDomainObject.of(domain), type)
                .structure()
                .address();
    }

    @Exported(value = "bind_mw", failure = ErrorConvention.ERRNO)
    static int bindWindow(long queuePair, long window, long requested) {
        return QueuePairObject.of(queuePair)
                .bind(
                        MemoryWindowObject.of(window),
                        CallerMemory.at(requested, ibv_mw_bind.layout()));
    }

    @Exported(value = "dealloc_mw", failure = ErrorConvention.ERRNO)
    static int deallocateWindow(long window) {
        MemoryWindowObject.of(window).destroy();
        return 0;
    }
}
