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
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Exports;

/**
 * The poll functions of an extended completion queue ({@code ibv_cq_ex}). A poll consists of
 * several calls by one thread, from {@code start_poll} to {@code end_poll}. As in C, other threads
 * that start a poll wait until the poll ends. The completions that a poll reads remain in the queue
 * until {@code end_poll} removes them.
 */
final class ExtendedPoll {

    /**
     * The names of the functions that return optional fields of a completion, with the {@code
     * IBV_WC_EX_WITH_} flags by which the creator of the queue requests these fields.
     */
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

    /** A copy of the completion that the poll has read last: an {@code ibv_wc}. */
    private final MemorySegment current = ibv_wc.allocate(Arena.ofAuto());

    /**
     * The time when the current completion was added to the queue, on {@link DeviceLimits#clock}.
     */
    private long timestamp;

    /** The number of completions that this poll has read so far. */
    private int completionsRead;

    /**
     * Creates the poll functions of a queue.
     *
     * @param structure the {@code ibv_cq_ex} whose function pointers this constructor sets
     * @param fields the {@code IBV_WC_EX_WITH_} flags of the requested fields. The functions of the
     *     other optional fields remain NULL
     */
    ExtendedPoll(CompletionQueueObject queue, MemorySegment structure, int fields) {
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

    /**
     * Checks the flags of the requested fields.
     *
     * @throws ErrnoException with {@code EOPNOTSUPP} if a field is not supported
     */
    static void requireSupported(long fields) {
        ErrnoException.throwIf((fields & ~FIELDS) != 0, Errno.EOPNOTSUPP);
    }

    /**
     * Returns true if {@code fields} includes a timestamp. The queue must then record the time when
     * it adds a completion.
     */
    static boolean needsTime(int fields) {
        return (fields
                        & (rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()
                                | rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK()))
                != 0;
    }

    /**
     * Acquires the lock that a poll holds, so that no poll reads completions while the caller
     * removes or moves them. Waits until a poll by another thread ends.
     *
     * @return the lock, which the caller must unlock
     * @throws ErrnoException with {@code EINVAL} if the current thread has started a poll that has
     *     not ended
     */
    ReentrantLock lock() {
        if (lock.isHeldByCurrentThread()) {
            // In C, the thread would wait forever for a lock that it holds itself.
            throw new ErrnoException(Errno.EINVAL);
        }
        lock.lock();
        return lock;
    }

    /**
     * Starts a poll and reads the oldest completion. If the queue is empty, this function returns
     * {@code ENOENT} and the poll has not started.
     */
    @Exported(value = "start_poll", failure = ErrorConvention.ERRNO)
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

    /** Reads the next completion. Returns {@code ENOENT} if the queue has no further completion. */
    @Exported(value = "next_poll", failure = ErrorConvention.ERRNO)
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

    @Exported(value = "end_poll", failure = ErrorConvention.NONE)
    void end() {
        requireStarted();
        queue.drop(completionsRead);
        lock.unlock();
    }

    /** Checks that the current thread has started a poll. */
    private void requireStarted() {
        ErrnoException.throwIf(!lock.isHeldByCurrentThread(), Errno.EINVAL);
    }

    @Exported(value = "read_opcode", failure = ErrorConvention.NONE)
    int opcode() {
        return ibv_wc.opcode(current);
    }

    @Exported(value = "read_vendor_err", failure = ErrorConvention.NONE)
    int vendorError() {
        return ibv_wc.vendor_err(current);
    }

    @Exported(value = "read_byte_len", failure = ErrorConvention.NONE)
    int bytes() {
        return ibv_wc.byte_len(current);
    }

    @Exported(value = "read_imm_data", failure = ErrorConvention.NONE)
    int immediate() {
        return ibv_wc.imm_data(current);
    }

    @Exported(value = "read_qp_num", failure = ErrorConvention.NONE)
    int queuePair() {
        return ibv_wc.qp_num(current);
    }

    @Exported(value = "read_src_qp", failure = ErrorConvention.NONE)
    int sourceQueuePair() {
        return ibv_wc.src_qp(current);
    }

    @Exported(value = "read_wc_flags", failure = ErrorConvention.NONE)
    int flags() {
        return ibv_wc.wc_flags(current);
    }

    /** Returns 0, because a RoCE port has no LID. */
    @Exported(value = "read_slid", failure = ErrorConvention.NONE)
    int sourceLid() {
        return 0;
    }

    @Exported(value = "read_sl", failure = ErrorConvention.NONE)
    byte serviceLevel() {
        return 0;
    }

    @Exported(value = "read_dlid_path_bits", failure = ErrorConvention.NONE)
    byte pathBits() {
        return 0;
    }

    @Exported(value = "read_completion_ts", failure = ErrorConvention.NONE)
    long timestamp() {
        return timestamp;
    }

    @Exported(value = "read_completion_wallclock_ns", failure = ErrorConvention.NONE)
    long wallClock() {
        var now = Instant.now();
        return now.getEpochSecond() * NANOS_PER_SECOND
                + now.getNano()
                - (DeviceLimits.clock() - timestamp);
    }
}
