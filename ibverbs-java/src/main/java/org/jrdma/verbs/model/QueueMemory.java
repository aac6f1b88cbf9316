package org.jrdma.verbs.model;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jrdma.verbs.ProtectionDomain;

/**
 * An allocator of the memory in which a provider keeps its queues, for example from huge pages or
 * from a NUMA node. The methods that create and close objects of the {@linkplain
 * ProtectionDomain#newParentDomainUnguarded parent domain} call it, on any thread. In C: {@code
 * alloc} and {@code free} of {@code struct ibv_parent_domain_init_attr}.
 */
public interface QueueMemory {

    /**
     * Allocates memory. An exception is logged and makes the creation of the object fail.
     *
     * @param alignment the required alignment of the address
     * @param resource the purpose of the memory, in the provider's numbering
     * @return native memory that stays allocated until {@link #release}; empty to let the provider
     *     allocate
     */
    Optional<MemorySegment> allocate(long bytes, long alignment, long resource);

    /** Frees memory returned by {@link #allocate}. An exception is logged. */
    void release(MemorySegment memory, long resource);
}
