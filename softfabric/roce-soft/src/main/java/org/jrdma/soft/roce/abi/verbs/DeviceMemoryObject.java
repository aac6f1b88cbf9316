package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import org.jrdma.abi.rdma.ibv_alloc_dm_attr;
import org.jrdma.abi.rdma.ibv_dm;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Exports;
import org.jrdma.soft.roce.abi.Memory;
import org.jrdma.soft.roce.abi.Structures;

/** Behind an {@code ibv_dm}: memory that stands for a device's own. */
final class DeviceMemoryObject extends ContextResource {

    /** How much a device has, for each process that opens it. */
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
        context.device().takeMemory(length);
        super(context, ibv_dm.layout());
        var alignment = Math.max(Long.BYTES, 1L << logAlignment);
        // As all memory that packets touch: it is here for as long as a region of it is.
        this.memory = Memory.at(arena.allocate(length, alignment).address(), length);
        ibv_dm.context(structure(), context.address());
        Exports.install(context.functions(), structure(), ibv_dm.layout());
        context.own(this);
    }

    static DeviceMemoryObject of(long address) {
        return Structures.object(address, DeviceMemoryObject.class);
    }

    /**
     * A part of it.
     *
     * @throws ErrnoException if it is not within
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
        context().device().giveMemory(memory.byteSize());
        arena.close();
    }
}
