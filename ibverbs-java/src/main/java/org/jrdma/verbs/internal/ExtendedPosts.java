package org.jrdma.verbs.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.verbs.internal.WorkRequest.*;
import static org.jrdma.verbs.internal.WorkRequest.Send.*;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_data_buf;
import org.jrdma.abi.rdma.ibv_qp_ex;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.QueuePairType;

/**
 * Posts to a queue pair that was created by {@code ibv_create_qp_ex}, by calling the functions in
 * its {@code ibv_qp_ex}: one for the operation, and one for each other part of a request. Callers
 * write requests as {@code ibv_send_wr}, and this class translates them. A chain is posted as a
 * whole or not at all.
 */
final class ExtendedPosts extends PostAndPollFunctions {

    private static final FunctionDescriptor BARE = FunctionDescriptor.ofVoid(JAVA_LONG);
    private static final FunctionDescriptor COMPLETE = FunctionDescriptor.of(JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor ONE_INT =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT);
    private static final FunctionDescriptor REMOTE =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor WRITE_IMMEDIATE =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final FunctionDescriptor COMPARE_AND_SWAP =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor REMOTE_AND_LONG =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor ELEMENT =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT);
    private static final FunctionDescriptor TWO_LONGS =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor DESTINATION =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT);

    private static final FunctionDescriptor FLUSH =
            FunctionDescriptor.ofVoid(
                    JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_BYTE, JAVA_BYTE);
    private static final FunctionDescriptor BIND =
            FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_LONG);

    private static final MethodHandle PLAIN_BARE = Downcalls.plain(BARE);
    private static final MethodHandle PLAIN_COMPLETE = Downcalls.plain(COMPLETE);
    private static final MethodHandle PLAIN_ONE_INT = Downcalls.plain(ONE_INT);
    private static final MethodHandle PLAIN_REMOTE = Downcalls.plain(REMOTE);
    private static final MethodHandle PLAIN_WRITE_IMMEDIATE = Downcalls.plain(WRITE_IMMEDIATE);
    private static final MethodHandle PLAIN_COMPARE_AND_SWAP = Downcalls.plain(COMPARE_AND_SWAP);
    private static final MethodHandle PLAIN_REMOTE_AND_LONG = Downcalls.plain(REMOTE_AND_LONG);
    private static final MethodHandle PLAIN_ELEMENT = Downcalls.plain(ELEMENT);
    private static final MethodHandle PLAIN_TWO_LONGS = Downcalls.plain(TWO_LONGS);
    private static final MethodHandle PLAIN_DESTINATION = Downcalls.plain(DESTINATION);
    private static final MethodHandle PLAIN_FLUSH = Downcalls.plain(FLUSH);
    private static final MethodHandle PLAIN_BIND = Downcalls.plain(BIND);

    private static final long BUFFER_BYTES = ibv_data_buf.layout().byteSize();
    private static final long BUFFER_ADDRESS = ibv_data_buf.addr$offset();
    private static final long BUFFER_LENGTH = ibv_data_buf.length$offset();

    private static final long EXTENDED_NUMBER = ibv_qp_ex.wr_id$offset();
    private static final long EXTENDED_FLAGS = ibv_qp_ex.wr_flags$offset();

    private static final int OPCODE_WRITE = rdma_h.IBV_WR_RDMA_WRITE();
    private static final int OPCODE_WRITE_IMMEDIATE = rdma_h.IBV_WR_RDMA_WRITE_WITH_IMM();
    private static final int OPCODE_SEND = rdma_h.IBV_WR_SEND();
    private static final int OPCODE_SEND_IMMEDIATE = rdma_h.IBV_WR_SEND_WITH_IMM();
    private static final int OPCODE_READ = rdma_h.IBV_WR_RDMA_READ();
    private static final int OPCODE_COMPARE_AND_SWAP = rdma_h.IBV_WR_ATOMIC_CMP_AND_SWP();
    private static final int OPCODE_FETCH_AND_ADD = rdma_h.IBV_WR_ATOMIC_FETCH_AND_ADD();
    private static final int OPCODE_SEND_INVALIDATE = rdma_h.IBV_WR_SEND_WITH_INV();
    private static final int OPCODE_INVALIDATE = rdma_h.IBV_WR_LOCAL_INV();
    private static final int OPCODE_BIND = rdma_h.IBV_WR_BIND_MW();
    private static final int OPCODE_ATOMIC_WRITE = rdma_h.IBV_WR_ATOMIC_WRITE();
    private static final int OPCODE_FLUSH = rdma_h.IBV_WR_FLUSH();

    private final PostAndPollFunctions classic;
    private final long queuePair;
    private final boolean datagrams;
    private final boolean xrc;
    private final boolean faulty;
    private final MemorySegment start;
    private final MemorySegment complete;
    private final MemorySegment abort;
    private final MemorySegment send;
    private final MemorySegment sendImmediate;
    private final MemorySegment write;
    private final MemorySegment writeImmediate;
    private final MemorySegment read;
    private final MemorySegment compareAndSwap;
    private final MemorySegment fetchAndAdd;
    private final MemorySegment sendInvalidate;
    private final MemorySegment invalidate;
    private final MemorySegment bind;
    private final MemorySegment atomicWrite;
    private final MemorySegment flush;
    private final MemorySegment setElement;
    private final MemorySegment setElements;
    private final MemorySegment setInline;
    private final MemorySegment setInlines;
    private final MemorySegment setDestination;
    private final MemorySegment setReceiveQueue;

    /**
     * The slices of an inline request. All posts reuse this array, because only one thread posts to
     * the queue pair at a time.
     */
    private final MemorySegment buffers;

    private final long buffersAddress;

    /**
     * @param classic the functions of the device for receives, polls and {@code ibv_post_send}
     * @param queuePair the {@code ibv_qp_ex} of the queue pair
     * @param maxElements the maximum number of memory slices in a request
     * @param newer the enabled operations that old libraries lack
     * @param faulty true if {@code ibv_post_send} must post requests with several slices
     */
    ExtendedPosts(
            PostAndPollFunctions classic,
            MemorySegment queuePair,
            QueuePairType type,
            int maxElements,
            Set<Operation> newer,
            boolean faulty) {
        super(classic);
        this.classic = classic;
        this.queuePair = queuePair.address();
        this.datagrams = type == QueuePairType.UNRELIABLE_DATAGRAM;
        this.xrc = type == QueuePairType.XRC_SEND;
        this.faulty = faulty;
        this.start = queuePair.get(ADDRESS, ibv_qp_ex.wr_start$offset());
        this.complete = queuePair.get(ADDRESS, ibv_qp_ex.wr_complete$offset());
        this.abort = queuePair.get(ADDRESS, ibv_qp_ex.wr_abort$offset());
        this.send = queuePair.get(ADDRESS, ibv_qp_ex.wr_send$offset());
        this.sendImmediate = queuePair.get(ADDRESS, ibv_qp_ex.wr_send_imm$offset());
        this.write = queuePair.get(ADDRESS, ibv_qp_ex.wr_rdma_write$offset());
        this.writeImmediate = queuePair.get(ADDRESS, ibv_qp_ex.wr_rdma_write_imm$offset());
        this.read = queuePair.get(ADDRESS, ibv_qp_ex.wr_rdma_read$offset());
        this.compareAndSwap = queuePair.get(ADDRESS, ibv_qp_ex.wr_atomic_cmp_swp$offset());
        this.fetchAndAdd = queuePair.get(ADDRESS, ibv_qp_ex.wr_atomic_fetch_add$offset());
        this.sendInvalidate = queuePair.get(ADDRESS, ibv_qp_ex.wr_send_inv$offset());
        this.invalidate = queuePair.get(ADDRESS, ibv_qp_ex.wr_local_inv$offset());
        this.bind = queuePair.get(ADDRESS, ibv_qp_ex.wr_bind_mw$offset());
        this.atomicWrite =
                newer.contains(Operation.ATOMIC_WRITE)
                        ? queuePair.get(ADDRESS, ibv_qp_ex.wr_atomic_write$offset())
                        : MemorySegment.NULL;
        this.flush =
                newer.contains(Operation.FLUSH)
                        ? queuePair.get(ADDRESS, ibv_qp_ex.wr_flush$offset())
                        : MemorySegment.NULL;
        this.setElement = queuePair.get(ADDRESS, ibv_qp_ex.wr_set_sge$offset());
        this.setElements = queuePair.get(ADDRESS, ibv_qp_ex.wr_set_sge_list$offset());
        this.setInline = queuePair.get(ADDRESS, ibv_qp_ex.wr_set_inline_data$offset());
        this.setInlines = queuePair.get(ADDRESS, ibv_qp_ex.wr_set_inline_data_list$offset());
        this.setDestination = queuePair.get(ADDRESS, ibv_qp_ex.wr_set_ud_addr$offset());
        this.setReceiveQueue = queuePair.get(ADDRESS, ibv_qp_ex.wr_set_xrc_srqn$offset());
        this.buffers = Arena.ofAuto().allocate(BUFFER_BYTES * maxElements, Long.BYTES);
        this.buffersAddress = buffers.address();
    }

    @Override
    public void ensureStack() {
        classic.ensureStack();
    }

    @Override
    void recordWork() {
        classic.recordWork();
    }

    @Override
    int post(MemorySegment function, long queue, long request, long failed) {
        return classic.post(function, queue, request, failed);
    }

    @Override
    public int postSend(long classicQueuePair, long first, long failed) {
        if (faulty && anyHasList(first)) {
            return anyIsNewer(first)
                    ? refuse(first, failed)
                    : classic.postSend(classicQueuePair, first, failed);
        }
        recordWork();
        callBare(start);
        for (var request = first; request != 0; request = UncheckedMemory.getLong(request + NEXT)) {
            UncheckedMemory.setLong(
                    queuePair + EXTENDED_NUMBER, UncheckedMemory.getLong(request + WR_ID));
            UncheckedMemory.setInt(
                    queuePair + EXTENDED_FLAGS, UncheckedMemory.getInt(request + FLAGS));
            var opcode = UncheckedMemory.getInt(request + OPCODE);
            if (!begin(opcode, request)) {
                callBare(abort);
                return refuse(request, failed);
            }
            if (datagrams) {
                setDestination(request);
            } else if (xrc) {
                callOneInt(setReceiveQueue, UncheckedMemory.getInt(request + RECEIVE_QUEUE));
            }
            if (!isWithoutElements(opcode)) {
                setElements(request); // Called even for 0 slices, because this call ends a message.
            }
        }
        var errno = complete();
        // A provider with this fault returns another errno than ENOSPC if its doorbell fails. The
        // requests have then been posted.
        if (errno != 0 && !(faulty && errno != Errno.ENOSPC)) {
            UncheckedMemory.setLong(failed, first);
        }
        return errno;
    }

    private static int refuse(long request, long failed) {
        UncheckedMemory.setLong(failed, request);
        return Errno.EOPNOTSUPP;
    }

    private static boolean isNewer(int opcode) {
        return opcode == OPCODE_ATOMIC_WRITE || opcode == OPCODE_FLUSH;
    }

    private static boolean isWithoutElements(int opcode) {
        return opcode == OPCODE_BIND || opcode == OPCODE_INVALIDATE || isNewer(opcode);
    }

    private static boolean anyIsNewer(long first) {
        for (var request = first; request != 0; request = UncheckedMemory.getLong(request + NEXT)) {
            if (isNewer(UncheckedMemory.getInt(request + OPCODE))) {
                return true;
            }
        }
        return false;
    }

    private static boolean anyHasList(long first) {
        for (var request = first; request != 0; request = UncheckedMemory.getLong(request + NEXT)) {
            if (UncheckedMemory.getInt(request + COUNT) > 1) {
                return true;
            }
        }
        return false;
    }

    /** Calls the operation's function. Returns false if the queue pair does not support it. */
    private boolean begin(int opcode, long request) {
        if (opcode == OPCODE_WRITE) {
            callRemote(write, request);
        } else if (opcode == OPCODE_SEND) {
            callBare(send);
        } else if (opcode == OPCODE_READ) {
            callRemote(read, request);
        } else if (opcode == OPCODE_SEND_IMMEDIATE) {
            callOneInt(sendImmediate, UncheckedMemory.getInt(request + IMMEDIATE));
        } else if (opcode == OPCODE_WRITE_IMMEDIATE) {
            writeImmediate(request);
        } else if (opcode == OPCODE_COMPARE_AND_SWAP) {
            compareAndSwap(request);
        } else if (opcode == OPCODE_FETCH_AND_ADD) {
            callRemoteAndLong(
                    fetchAndAdd, request, UncheckedMemory.getLong(request + COMPARE_OR_ADD));
        } else {
            return beginOfSome(opcode, request);
        }
        return true;
    }

    /** Calls the function of an operation that only some devices support, like begin(). */
    private boolean beginOfSome(int opcode, long request) {
        if (opcode == OPCODE_BIND && bind.address() != 0) {
            bind(request);
        } else if (opcode == OPCODE_INVALIDATE && invalidate.address() != 0) {
            callOneInt(invalidate, UncheckedMemory.getInt(request + INVALIDATED_KEY));
        } else if (opcode == OPCODE_SEND_INVALIDATE && sendInvalidate.address() != 0) {
            callOneInt(sendInvalidate, UncheckedMemory.getInt(request + INVALIDATED_KEY));
        } else if (opcode == OPCODE_ATOMIC_WRITE && atomicWrite.address() != 0) {
            callRemoteAndLong(atomicWrite, request, request + COMPARE_OR_ADD);
        } else if (opcode == OPCODE_FLUSH && flush.address() != 0) {
            flush(request);
        } else {
            return false;
        }
        return true;
    }

    private void setElements(long request) {
        var count = UncheckedMemory.getInt(request + COUNT);
        var list = UncheckedMemory.getLong(request + LIST);
        var inline = (UncheckedMemory.getInt(request + FLAGS) & INLINE) != 0;
        if (inline && count == 1) {
            callTwoLongs(
                    setInline,
                    UncheckedMemory.getLong(list + ELEMENT_ADDRESS),
                    Integer.toUnsignedLong(UncheckedMemory.getInt(list + ELEMENT_LENGTH)));
        } else if (inline) {
            setInlines(list, count);
        } else if (count == 1) {
            setElement(list);
        } else {
            callTwoLongs(setElements, count, list);
        }
    }

    private void setInlines(long list, int count) {
        try {
            for (var index = 0; index < count; index++) {
                var element = list + index * ELEMENT_BYTES;
                var buffer = buffersAddress + index * BUFFER_BYTES;
                UncheckedMemory.setLong(
                        buffer + BUFFER_ADDRESS,
                        UncheckedMemory.getLong(element + ELEMENT_ADDRESS));
                UncheckedMemory.setLong(
                        buffer + BUFFER_LENGTH,
                        Integer.toUnsignedLong(UncheckedMemory.getInt(element + ELEMENT_LENGTH)));
            }
            callTwoLongs(setInlines, count, buffersAddress);
        } finally {
            Reference.reachabilityFence(buffers);
        }
    }

    private void callBare(MemorySegment function) {
        try {
            if (isCritical()) {
                Critical.BARE.invokeExact(function, queuePair);
            } else {
                PLAIN_BARE.invokeExact(function, queuePair);
            }
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private int complete() {
        try {
            return isCritical()
                    ? (int) Critical.COMPLETE.invokeExact(complete, queuePair)
                    : (int) PLAIN_COMPLETE.invokeExact(complete, queuePair);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void callRemote(MemorySegment function, long request) {
        var key = UncheckedMemory.getInt(request + REMOTE_KEY);
        var address = UncheckedMemory.getLong(request + REMOTE_ADDRESS);
        try {
            if (isCritical()) {
                Critical.REMOTE.invokeExact(function, queuePair, key, address);
            } else {
                PLAIN_REMOTE.invokeExact(function, queuePair, key, address);
            }
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void callOneInt(MemorySegment function, int value) {
        try {
            PLAIN_ONE_INT.invokeExact(function, queuePair, value);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void bind(long request) {
        try {
            PLAIN_BIND.invokeExact(
                    bind,
                    queuePair,
                    UncheckedMemory.getLong(request + BOUND_WINDOW),
                    UncheckedMemory.getInt(request + NEW_KEY),
                    request + BIND_INFO);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void writeImmediate(long request) {
        try {
            PLAIN_WRITE_IMMEDIATE.invokeExact(
                    writeImmediate,
                    queuePair,
                    UncheckedMemory.getInt(request + REMOTE_KEY),
                    UncheckedMemory.getLong(request + REMOTE_ADDRESS),
                    UncheckedMemory.getInt(request + IMMEDIATE));
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void compareAndSwap(long request) {
        try {
            PLAIN_COMPARE_AND_SWAP.invokeExact(
                    compareAndSwap,
                    queuePair,
                    UncheckedMemory.getInt(request + ATOMIC_KEY),
                    UncheckedMemory.getLong(request + ATOMIC_ADDRESS),
                    UncheckedMemory.getLong(request + COMPARE_OR_ADD),
                    UncheckedMemory.getLong(request + SWAP));
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void callRemoteAndLong(MemorySegment function, long request, long last) {
        try {
            PLAIN_REMOTE_AND_LONG.invokeExact(
                    function,
                    queuePair,
                    UncheckedMemory.getInt(request + ATOMIC_KEY),
                    UncheckedMemory.getLong(request + ATOMIC_ADDRESS),
                    last);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void flush(long request) {
        try {
            PLAIN_FLUSH.invokeExact(
                    flush,
                    queuePair,
                    UncheckedMemory.getInt(request + ATOMIC_KEY),
                    UncheckedMemory.getLong(request + ATOMIC_ADDRESS),
                    UncheckedMemory.getLong(request + FLUSHED_LENGTH),
                    (byte) UncheckedMemory.getInt(request + FLUSH_PLACEMENTS),
                    (byte) UncheckedMemory.getInt(request + FLUSH_SELECTIVITY));
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void setDestination(long request) {
        var handle = UncheckedMemory.getLong(request + ADDRESS_HANDLE);
        var number = UncheckedMemory.getInt(request + REMOTE_QUEUE_PAIR);
        var key = UncheckedMemory.getInt(request + REMOTE_QUEUE_KEY);
        try {
            if (isCritical()) {
                Critical.DESTINATION.invokeExact(setDestination, queuePair, handle, number, key);
            } else {
                PLAIN_DESTINATION.invokeExact(setDestination, queuePair, handle, number, key);
            }
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void setElement(long element) {
        var key = UncheckedMemory.getInt(element + ELEMENT_KEY);
        var address = UncheckedMemory.getLong(element + ELEMENT_ADDRESS);
        var length = UncheckedMemory.getInt(element + ELEMENT_LENGTH);
        try {
            if (isCritical()) {
                Critical.ELEMENT.invokeExact(setElement, queuePair, key, address, length);
            } else {
                PLAIN_ELEMENT.invokeExact(setElement, queuePair, key, address, length);
            }
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void callTwoLongs(MemorySegment function, long left, long right) {
        try {
            if (isCritical()) {
                Critical.TWO_LONGS.invokeExact(function, queuePair, left, right);
            } else {
                PLAIN_TWO_LONGS.invokeExact(function, queuePair, left, right);
            }
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** The critical method handles, linked only if a program requests critical calls. */
    private static final class Critical {
        static final MethodHandle BARE = Downcalls.critical(ExtendedPosts.BARE);
        static final MethodHandle COMPLETE = Downcalls.critical(ExtendedPosts.COMPLETE);
        static final MethodHandle REMOTE = Downcalls.critical(ExtendedPosts.REMOTE);
        static final MethodHandle ELEMENT = Downcalls.critical(ExtendedPosts.ELEMENT);
        static final MethodHandle TWO_LONGS = Downcalls.critical(ExtendedPosts.TWO_LONGS);
        static final MethodHandle DESTINATION = Downcalls.critical(ExtendedPosts.DESTINATION);
    }
}
