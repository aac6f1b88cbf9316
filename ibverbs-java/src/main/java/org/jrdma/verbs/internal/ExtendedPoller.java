package org.jrdma.verbs.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.ref.Reference;
import org.jrdma.abi.rdma.ibv_cq_ex;
import org.jrdma.abi.rdma.ibv_poll_cq_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.ffi.linkage.UncheckedMemory;

/**
 * Polls a completion queue that was created by {@code ibv_create_cq_ex}, by calling the functions
 * in its {@code ibv_cq_ex}. Each completion is copied to the batch before the next completion is
 * requested. The native poll ends before the caller sees any completion, because a provider may
 * hold a lock from the start of a poll to its end.
 */
final class ExtendedPoller extends CompletionPoller {

    private static final FunctionDescriptor START =
            FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor TO_INT = FunctionDescriptor.of(JAVA_INT, JAVA_LONG);
    private static final FunctionDescriptor TO_LONG = FunctionDescriptor.of(JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor TO_SHORT = FunctionDescriptor.of(JAVA_SHORT, JAVA_LONG);
    private static final FunctionDescriptor TO_BYTE = FunctionDescriptor.of(JAVA_BYTE, JAVA_LONG);
    private static final FunctionDescriptor END = FunctionDescriptor.ofVoid(JAVA_LONG);

    private static final MethodHandle PLAIN_START = Downcalls.plain(START);
    private static final MethodHandle PLAIN_TO_INT = Downcalls.plain(TO_INT);
    private static final MethodHandle PLAIN_TO_LONG = Downcalls.plain(TO_LONG);
    private static final MethodHandle PLAIN_TO_SHORT = Downcalls.plain(TO_SHORT);
    private static final MethodHandle PLAIN_TO_BYTE = Downcalls.plain(TO_BYTE);
    private static final MethodHandle PLAIN_END = Downcalls.plain(END);

    private static final long NUMBER = ibv_cq_ex.wr_id$offset();
    private static final long STATUS = ibv_cq_ex.status$offset();

    private static final int BYTES = rdma_h.IBV_WC_EX_WITH_BYTE_LEN();
    private static final int IMMEDIATE = rdma_h.IBV_WC_EX_WITH_IMM();
    private static final int QUEUE_PAIR = rdma_h.IBV_WC_EX_WITH_QP_NUM();
    private static final int SOURCE_QUEUE_PAIR = rdma_h.IBV_WC_EX_WITH_SRC_QP();
    private static final int SOURCE_LID = rdma_h.IBV_WC_EX_WITH_SLID();
    private static final int SERVICE_LEVEL = rdma_h.IBV_WC_EX_WITH_SL();
    private static final int PATH_BITS = rdma_h.IBV_WC_EX_WITH_DLID_PATH_BITS();
    private static final int TIMESTAMP = rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP();
    private static final int WALL_CLOCK = rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK();
    private static final int VLAN_TAG = rdma_h.IBV_WC_EX_WITH_CVLAN();
    private static final int FLOW_TAG = rdma_h.IBV_WC_EX_WITH_FLOW_TAG();

    private final PostAndPollFunctions hotPath;
    private final long queue;
    private final int fields;
    private final boolean oneByOne;
    private final MemorySegment attributes = ibv_poll_cq_attr.allocate(Arena.ofAuto());
    private final long attributesAddress = attributes.address();
    private final MemorySegment start;
    private final MemorySegment next;
    private final MemorySegment end;
    private final MemorySegment opcode;
    private final MemorySegment vendorError;
    private final MemorySegment flags;
    private final MemorySegment bytes;
    private final MemorySegment immediate;
    private final MemorySegment queuePair;
    private final MemorySegment sourceQueuePair;
    private final MemorySegment sourceLid;
    private final MemorySegment serviceLevel;
    private final MemorySegment pathBits;
    private final MemorySegment timestamp;
    private final MemorySegment wallClock;
    private final MemorySegment vlanTag;
    private final MemorySegment flowTag;

    /**
     * Creates a poller.
     *
     * @param queue the {@code ibv_cq_ex} to poll
     * @param fields the fields that the completions of the queue report, as C's {@code IBV_WC_EX_}
     *     bits
     * @param oneByOne true if each native poll must end after one completion
     */
    ExtendedPoller(
            PostAndPollFunctions hotPath, MemorySegment queue, int fields, boolean oneByOne) {
        this.hotPath = hotPath;
        this.queue = queue.address();
        this.fields = fields;
        this.oneByOne = oneByOne;
        this.start = queue.get(ADDRESS, ibv_cq_ex.start_poll$offset());
        this.next = queue.get(ADDRESS, ibv_cq_ex.next_poll$offset());
        this.end = queue.get(ADDRESS, ibv_cq_ex.end_poll$offset());
        this.opcode = queue.get(ADDRESS, ibv_cq_ex.read_opcode$offset());
        this.vendorError = queue.get(ADDRESS, ibv_cq_ex.read_vendor_err$offset());
        this.flags = queue.get(ADDRESS, ibv_cq_ex.read_wc_flags$offset());
        this.bytes = queue.get(ADDRESS, ibv_cq_ex.read_byte_len$offset());
        this.immediate = queue.get(ADDRESS, ibv_cq_ex.read_imm_data$offset());
        this.queuePair = queue.get(ADDRESS, ibv_cq_ex.read_qp_num$offset());
        this.sourceQueuePair = queue.get(ADDRESS, ibv_cq_ex.read_src_qp$offset());
        this.sourceLid = queue.get(ADDRESS, ibv_cq_ex.read_slid$offset());
        this.serviceLevel = queue.get(ADDRESS, ibv_cq_ex.read_sl$offset());
        this.pathBits = queue.get(ADDRESS, ibv_cq_ex.read_dlid_path_bits$offset());
        this.timestamp = queue.get(ADDRESS, ibv_cq_ex.read_completion_ts$offset());
        this.wallClock = queue.get(ADDRESS, ibv_cq_ex.read_completion_wallclock_ns$offset());
        this.vlanTag = queue.get(ADDRESS, ibv_cq_ex.read_cvlan$offset());
        this.flowTag = queue.get(ADDRESS, ibv_cq_ex.read_flow_tag$offset());
    }

    @Override
    public int poll(WorkCompletions batch) {
        hotPath.ensureStack();
        var count = 0;
        var errno = 0;
        try {
            do {
                errno = start();
                if (errno != 0) {
                    break;
                }
                do {
                    copy(batch, count++);
                } while (!oneByOne && count < batch.capacity() && toInt(next) == 0);
                end();
            } while (oneByOne && count < batch.capacity());
        } finally {
            Reference.reachabilityFence(attributes);
        }
        if (count == 0) {
            return errno == Errno.ENOENT ? 0 : -errno;
        }
        hotPath.recordWork();
        return count;
    }

    /**
     * Copies the current completion to the batch. Fields that the queue was not created to report
     * keep their initial value 0.
     */
    private void copy(WorkCompletions batch, int index) {
        var status = UncheckedMemory.getInt(queue + STATUS);
        batch.number(index, UncheckedMemory.getLong(queue + NUMBER));
        batch.status(index, status);
        if ((fields & QUEUE_PAIR) != 0) {
            batch.queuePairNumber(index, toInt(queuePair));
        }
        if (status == 0) {
            copySuccess(batch, index);
        } else {
            copyFailure(batch, index);
        }
    }

    /**
     * Copies the vendor error of a failed completion and clears the opcode, the length and the
     * flags, which a provider need not report for a failure.
     */
    private void copyFailure(WorkCompletions batch, int index) {
        batch.vendorError(index, toInt(vendorError));
        batch.opcode(index, 0);
        batch.byteLength(index, 0);
        batch.flags(index, 0);
    }

    private void copySuccess(WorkCompletions batch, int index) {
        batch.vendorError(index, 0);
        batch.opcode(index, toInt(opcode));
        if ((fields & BYTES) != 0) {
            batch.byteLength(index, toInt(bytes));
        }
        if ((fields & (IMMEDIATE | SOURCE_QUEUE_PAIR)) != 0) {
            batch.flags(index, toInt(flags));
        }
        if ((fields & IMMEDIATE) != 0) {
            batch.rawImmediate(index, toInt(immediate));
        }
        if ((fields & SOURCE_QUEUE_PAIR) != 0) {
            batch.sourceQueuePairNumber(index, toInt(sourceQueuePair));
        }
        if ((fields & SOURCE_LID) != 0) {
            // The field slid of ibv_wc has only 16 bits.
            batch.sourceLid(index, (short) toInt(sourceLid));
        }
        if ((fields & SERVICE_LEVEL) != 0) {
            batch.serviceLevel(index, toByte(serviceLevel));
        }
        if ((fields & PATH_BITS) != 0) {
            batch.pathBits(index, toByte(pathBits));
        }
        if ((fields & TIMESTAMP) != 0) {
            batch.timestamp(index, toLong(timestamp));
        }
        if ((fields & WALL_CLOCK) != 0) {
            batch.wallClock(index, toLong(wallClock));
        }
        if ((fields & VLAN_TAG) != 0) {
            batch.vlanTag(index, toShort(vlanTag));
        }
        if ((fields & FLOW_TAG) != 0) {
            batch.flowTag(index, toInt(flowTag));
        }
    }

    private int start() {
        try {
            return hotPath.isCritical()
                    ? (int) Critical.START.invokeExact(start, queue, attributesAddress)
                    : (int) PLAIN_START.invokeExact(start, queue, attributesAddress);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private void end() {
        try {
            if (hotPath.isCritical()) {
                Critical.END.invokeExact(end, queue);
            } else {
                PLAIN_END.invokeExact(end, queue);
            }
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private int toInt(MemorySegment function) {
        try {
            return hotPath.isCritical()
                    ? (int) Critical.TO_INT.invokeExact(function, queue)
                    : (int) PLAIN_TO_INT.invokeExact(function, queue);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private long toLong(MemorySegment function) {
        try {
            return hotPath.isCritical()
                    ? (long) Critical.TO_LONG.invokeExact(function, queue)
                    : (long) PLAIN_TO_LONG.invokeExact(function, queue);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private short toShort(MemorySegment function) {
        try {
            return (short) PLAIN_TO_SHORT.invokeExact(function, queue);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    private byte toByte(MemorySegment function) {
        try {
            return (byte) PLAIN_TO_BYTE.invokeExact(function, queue);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /**
     * The method handles with Linker.Option.critical. They are in a separate class, so that they
     * are linked only if a program requests critical calls.
     */
    private static final class Critical {
        static final MethodHandle START = Downcalls.critical(ExtendedPoller.START);
        static final MethodHandle TO_INT = Downcalls.critical(ExtendedPoller.TO_INT);
        static final MethodHandle TO_LONG = Downcalls.critical(ExtendedPoller.TO_LONG);
        static final MethodHandle END = Downcalls.critical(ExtendedPoller.END);
    }
}
