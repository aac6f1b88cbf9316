package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;

/**
 * The functions of libibverbs for protection domains and memory regions. The functions for memory
 * windows are in {@link WindowAndDeviceMemoryFunctions}.
 */
final class DomainAndMemoryExports {

    private DomainAndMemoryExports() {}

    @Exported(value = "ibv_alloc_pd", failure = ErrorConvention.NULL)
    static long allocateDomain(long context) {
        return new ProtectionDomainObject(ContextObject.of(context)).structure().address();
    }

    @Exported(value = "ibv_dealloc_pd", failure = ErrorConvention.ERRNO)
    static int deallocateDomain(long domain) {
        ProtectionDomainObject.of(domain).destroy();
        return 0;
    }

    @Exported(value = "ibv_reg_mr", failure = ErrorConvention.NULL)
    static long register(long domain, long address, long length, int access) {
        return registerAt(domain, address, length, address, access);
    }

    @Exported(value = "ibv_reg_mr_iova2", failure = ErrorConvention.NULL)
    static long registerAt(long domain, long address, long length, long start, int access) {
        return new MemoryRegionObject(
                        ProtectionDomainObject.of(domain), address, length, start, access)
                .structure()
                .address();
    }

    @Exported(value = "ibv_rereg_mr", failure = ErrorConvention.MINUS_ONE)
    static int change(
            long region, int changes, long domain, long address, long length, int access) {
        MemoryRegionObject.of(region).change(changes, domain, address, length, access);
        return 0;
    }

    @Exported(value = "ibv_dereg_mr", failure = ErrorConvention.ERRNO)
    static int deregister(long region) {
        var found = MemoryRegionObject.of(region);
        found.requireUnbound();
        found.destroy();
        return 0;
    }
}
