package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jrdma.abi.rdma.ibv_alloc_dm_attr;
import org.jrdma.abi.rdma.ibv_dm;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Exports;
import org.jrdma.soft.roce.abi.StructureRegistry;

/**
 * The implementation of an {@code ibv_dm}: memory of this process that takes the place of memory on
 * an adapter.
 */
final class DeviceMemoryObject extends ContextResource {

    /**
     * The size of the device memory of a device in bytes. Each process has its own devices, and
     * therefore its own device memory.
     */
    static final long MAX_BYTES = 64L << 20;

    private static final int MAX_LOG_ALIGNMENT = 12;

    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;

    DeviceMemoryObject(ContextObject context, MemorySegment attributes) {
        var length = ibv_alloc_dm_attr.length(attributes);
        var logAlignment = ibv_alloc_dm_attr.log_align_req(attributes);
        ErrnoException.throwIf(
                ibv_alloc_dm_attr.comp_mask(attributes) != 0
                        || length <= 0
                        || logAlignment < 0
                        || logAlignment > MAX_LOG_ALIGNMENT,
                Errno.EINVAL);
        context.device().reserveMemory(length);
        super(context, ibv_dm.layout());
        var alignment = Math.max(Long.BYTES, 1L << logAlignment);
        // A segment that is not bound to the lifetime of the arena, like all registered memory. The
        // arena is closed only after the memory regions of this memory were deregistered, because
        // destroy() fails as long as one exists.
        this.memory = CallerMemory.at(arena.allocate(length, alignment).address(), length);
        ibv_dm.context(structure(), context.address());
        Exports.install(context.functions(), structure(), ibv_dm.layout());
        context.own(this);
    }

    static DeviceMemoryObject of(long address) {
        return StructureRegistry.object(address, DeviceMemoryObject.class);
    }

    /**
     * Returns a part of the device memory.
     *
     * @throws ErrnoException with {@code EINVAL} if the range is out of bounds
     */
    MemorySegment part(long offset, long length) {
        try {
            Objects.checkFromIndexSize(offset, length, memory.byteSize());
        } catch (IndexOutOfBoundsException e) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return memory.asSlice(offset, length);
    }

    @Override
    void destroy() {
        super.destroy();
        context().device().releaseMemory(memory.byteSize());
        arena.close();
    }
}
