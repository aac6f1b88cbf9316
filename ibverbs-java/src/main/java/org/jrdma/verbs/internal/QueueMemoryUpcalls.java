package org.jrdma.verbs.internal;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.abi.rdma.ibv_parent_domain_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.verbs.model.QueueMemoryAllocator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The native functions through which a provider calls a {@link QueueMemoryAllocator}. They catch
 * all exceptions, because an exception in an upcall would terminate the process.
 */
public final class QueueMemoryUpcalls implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(QueueMemoryUpcalls.class);

    private final QueueMemoryAllocator memory;
    private final Arena arena = Arena.ofShared();

    /**
     * The allocated memory by its address, because C passes only the address when it frees memory.
     */
    private final Map<Long, MemorySegment> allocations = new ConcurrentHashMap<>();

    public QueueMemoryUpcalls(QueueMemoryAllocator memory) {
        this.memory = memory;
    }

    void write(MemorySegment attributes) {
        ibv_parent_domain_init_attr.alloc(
                attributes, ibv_parent_domain_init_attr.alloc.allocate(this::allocate, arena));
        ibv_parent_domain_init_attr.free(
                attributes, ibv_parent_domain_init_attr.free.allocate(this::release, arena));
        ibv_parent_domain_init_attr.comp_mask(
                attributes,
                ibv_parent_domain_init_attr.comp_mask(attributes)
                        | rdma_h.IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS());
    }

    private MemorySegment allocate(
            MemorySegment domain,
            MemorySegment context,
            long bytes,
            long alignment,
            long resource) {
        try {
            var allocated = memory.allocate(bytes, alignment, resource);
            if (allocated.isEmpty()) {
                return rdma_h.IBV_ALLOCATOR_USE_DEFAULT();
            }
            var segment = allocated.get();
            if (!segment.isNative()
                    || segment.byteSize() < bytes
                    || segment.address() % Math.max(1, alignment) != 0) {
                LOG.error(
                        "{} returned {}, which is not native memory of at least {} bytes that is aligned to {} bytes",
                        memory,
                        segment,
                        bytes,
                        alignment);
                return MemorySegment.NULL;
            }
            allocations.put(segment.address(), segment);
            return segment;
        } catch (Throwable e) {
            FailureLog.error(LOG, "The allocator of queue memory failed to allocate memory", e);
            return MemorySegment.NULL;
        }
    }

    private void release(
            MemorySegment domain, MemorySegment context, MemorySegment address, long resource) {
        try {
            var segment = allocations.remove(address.address());
            if (segment != null) {
                memory.release(segment, resource);
            }
        } catch (Throwable e) {
            FailureLog.error(LOG, "The allocator of queue memory failed to release memory", e);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
