package org.jrdma.verbs.model;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.jrdma.verbs.ProtectionDomain;

/**
 * Gives a provider the memory that it keeps queues in, as from huge pages, or near a processor. Its
 * methods are called within those that make and close what is made in the {@linkplain
 * ProtectionDomain#newParentDomainUnguarded parent domain}, on any thread. In C: {@code alloc} and
 * {@code free} of {@code struct ibv_parent_domain_init_attr}.
 */
public interface QueueMemory {

    /**
     * Gives memory. What it throws is logged, and fails what was to be made.
     *
     * @param alignment what its address must be a multiple of
     * @param resource what it is for, in the provider's own numbers
     * @return native memory that stays until {@link #release}; empty to leave it to the provider
     */
    Optional<MemorySegment> allocate(long bytes, long alignment, long resource);

    /** Takes back what {@link #allocate} gave. What it throws is logged. */
    void release(MemorySegment memory, long resource);
}
