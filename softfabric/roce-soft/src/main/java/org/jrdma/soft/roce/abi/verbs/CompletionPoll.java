package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.abi.rdma.ibv_cq_ex;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Exports;
import org.jrdma.soft.roce.abi.Failure;

/**
 * A poll of an extended completion queue, which consists of several calls by one thread. As in C,
 * other polling threads wait until it ends. A poll reads completions in place, and removes them
 * when it ends.
 */
final class CompletionPoll {

    /** The functions that return optional fields, with the flags that request them. */
    private static final Map<String, Integer> OPTIONAL_FIELDS =
            Map.of(
                    "read_byte_len", rdma_h.IBV_WC_EX_WITH_BYTE_LEN(),
                    "read_imm_data", rdma_h.IBV_WC_EX_WITH_IMM(),
                    "read_qp_num", rdma_h.IBV_WC_EX_WITH_QP_NUM(),
                    "read_src_qp", rdma_h.IBV_WC_EX_WITH_SRC_QP(),
                    "read_slid", rdma_h.IBV_WC_EX_WITH_SLID(),
                    "read_sl", rdma_h.IBV_WC_EX_WITH_SL(),
                    "read_dlid_path_bits", rdma_h.IBV_WC_EX_WITH_DLID_PATH_BITS(),
                    "read_completion_ts", rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP(),
                    "read_completion_wallclock_ns",
                            rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK());

    private static final int FIELDS = OPTIONAL_FIELDS.values().stream().reduce(0, (a, b) -> a | b);

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final CompletionQueueObject queue;
    private final MemorySegment structure;
    private final ReentrantLock lock = new ReentrantLock();

    /** The current completion: an {@code ibv_wc}. */
    private final MemorySegment current = ibv_wc.allocate(Arena.ofAuto());

    private long timestamp;

    /** The number of completions read in this poll. */
    private int completionsRead;

    /**
     * @param structure an {@code ibv_cq_ex}, which receives its function pointers
     */
    CompletionPoll(CompletionQueueObject queue, MemorySegment structure, int fields) {
        this.queue = queue;
        this.structure = structure;
        var functions = queue.context().functions();
        Exports.install(
                name ->
                        (OPTIONAL_FIELDS.getOrDefault(name, 0) & ~fields) == 0
                                ? functions.find(name)
                                : Optional.empty(),
                structure,
                ibv_cq_ex.layout());
    }

    static void requireSupported(long fields) {
        ErrnoException.throwIf((fields & ~FIELDS) != 0, Errno.EOPNOTSUPP);
    }

    /** Whether completions need timestamps. */
    static boolean needsTime(int fields) {
        return (fields
                        & (rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()
                                | rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK()))
                != 0;
    }

    /**
     * Locks out other polls, for callers that remove or move completions in another way.
     *
     * @return the lock, which the caller unlocks
     * @throws ErrnoException if this thread has started a poll and not ended it
     */
    ReentrantLock lock() {
        if (lock.isHeldByCurrentThread()) {
            throw new ErrnoException(Errno.EINVAL); // in C, the thread would deadlock
        }
        lock.lock();
        return lock;
    }

    /** Returns ENOENT if there is no completion. */
    @Exported(value = "start_poll", failure = Failure.ERRNO)
    int start(long attributes) {
        lock();
        completionsRead = 0;
        var result = Errno.ENOENT;
        try {
            queue.progressIfEmpty();
            result = next();
            return result;
        } finally {
            if (result != 0) {
                lock.unlock();
            }
        }
    }

    /** Returns ENOENT if there is no further completion. */
    @Exported(value = "next_poll", failure = Failure.ERRNO)
    int next() {
        requireStarted();
        if (!queue.peek(completionsRead, current)) {
            return Errno.ENOENT;
        }
        timestamp = queue.timestamp(completionsRead);
        completionsRead++;
        ibv_cq_ex.wr_id(structure, ibv_wc.wr_id(current));
        ibv_cq_ex.status(structure, ibv_wc.status(current));
        return 0;
    }

    @Exported(value = "end_poll", failure = Failure.NONE)
    void end() {
        requireStarted();
        queue.drop(completionsRead);
        lock.unlock();
    }

    private void requireStarted() {
        ErrnoException.throwIf(!lock.isHeldByCurrentThread(), Errno.EINVAL);
    }

    @Exported(value = "read_opcode", failure = Failure.NONE)
    int opcode() {
        return ibv_wc.opcode(current);
    }

    @Exported(value = "read_vendor_err", failure = Failure.NONE)
    int vendorError() {
        return ibv_wc.vendor_err(current);
    }

    @Exported(value = "read_byte_len", failure = Failure.NONE)
    int bytes() {
        return ibv_wc.byte_len(current);
    }

    @Exported(value = "read_imm_data", failure = Failure.NONE)
    int immediate() {
        return ibv_wc.imm_data(current);
    }

    @Exported(value = "read_qp_num", failure = Failure.NONE)
    int queuePair() {
        return ibv_wc.qp_num(current);
    }

    @Exported(value = "read_src_qp", failure = Failure.NONE)
    int sourceQueuePair() {
        return ibv_wc.src_qp(current);
    }

    @Exported(value = "read_wc_flags", failure = Failure.NONE)
    int flags() {
        return ibv_wc.wc_flags(current);
    }

    /** Returns 0, because a RoCE port has no LID. */
    @Exported(value = "read_slid", failure = Failure.NONE)
    int sourceLid() {
        return 0;
    }

    @Exported(value = "read_sl", failure = Failure.NONE)
    byte serviceLevel() {
        return 0;
    }

    @Exported(value = "read_dlid_path_bits", failure = Failure.NONE)
    byte pathBits() {
        return 0;
    }

    @Exported(value = "read_completion_ts", failure = Failure.NONE)
    long timestamp() {
        return timestamp;
    }

    @Exported(value = "read_completion_wallclock_ns", failure = Failure.NONE)
    long wallClock() {
        var now = Instant.now();
        return now.getEpochSecond() * NANOS_PER_SECOND
                + now.getNano()
                - (DeviceLimits.clock() - timestamp);
    }
}
