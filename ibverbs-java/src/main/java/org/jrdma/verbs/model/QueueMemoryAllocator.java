package org.jrdma.verbs.model;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jrdma.verbs.ProtectionDomain;

/**
 * An allocator of the memory in which a provider keeps its queues, for example from huge pages or
 * from a NUMA node. The provider calls the allocator on any thread, while the program creates or
 * closes an object of the {@linkplain ProtectionDomain#newParentDomainUnguarded parent domain}. In
 * C: {@code alloc} and {@code free} of {@code struct ibv_parent_domain_init_attr}.
 */
public interface QueueMemoryAllocator {

    /**
     * Allocates memory. If this method throws an exception, the exception is logged, and the
     * creation of the object fails.
     *
     * @param alignment the required alignment of the address
     * @param resource the purpose of the memory, in the provider's numbering
     * @return native memory that stays allocated until {@link #release} is called for it; empty if
     *     the provider is to allocate the memory itself
     */
    Optional<MemorySegment> allocate(long bytes, long alignment, long resource);

    /**
     * Frees memory that {@link #allocate} returned. If this method throws an exception, the
     * exception is logged.
     */
    void release(MemorySegment memory, long resource);
}
