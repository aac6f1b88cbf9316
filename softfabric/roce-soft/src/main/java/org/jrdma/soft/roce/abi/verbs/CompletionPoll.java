package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Instant;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.abi.rdma.ibv_cq_ex;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;

/**
 * The poll of an extended completion queue, which takes several calls of one thread; others that
 * poll wait for its end, as in C. It looks at completions where they are, and takes them away at
 * its end.
 */
final class CompletionPoll {

    /** What completions can tell. */
    private static final int FIELDS =
            rdma_h.IBV_WC_EX_WITH_BYTE_LEN()
                    | rdma_h.IBV_WC_EX_WITH_IMM()
                    | rdma_h.IBV_WC_EX_WITH_QP_NUM()
                    | rdma_h.IBV_WC_EX_WITH_SRC_QP()
                    | rdma_h.IBV_WC_EX_WITH_SLID()
                    | rdma_h.IBV_WC_EX_WITH_SL()
                    | rdma_h.IBV_WC_EX_WITH_DLID_PATH_BITS()
                    | rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()
                    | rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK();

    private static final long NANOS_PER_SECOND = 1_000_000_000;

    private final CompletionQueueObject queue;
    private final MemorySegment structure;
    private final ReentrantLock lock = new ReentrantLock();

    /** The completion that is looked at: an {@code ibv_wc}. */
    private final MemorySegment current = ibv_wc.allocate(Arena.ofAuto());

    private long timestamp;

    /** How many were looked at. */
    private int seen;

    /**
     * @param structure an {@code ibv_cq_ex}, which is told its functions
     */
    CompletionPoll(CompletionQueueObject queue, MemorySegment structure, int fields) {
        this.queue = queue;
        this.structure = structure;
        var functions = queue.context().functions();
        ibv_cq_ex.start_poll(structure, functions.findOrThrow("start_poll"));
        ibv_cq_ex.next_poll(structure, functions.findOrThrow("next_poll"));
        ibv_cq_ex.end_poll(structure, functions.findOrThrow("end_poll"));
        ibv_cq_ex.read_opcode(structure, functions.findOrThrow("read_opcode"));
        ibv_cq_ex.read_vendor_err(structure, functions.findOrThrow("read_vendor_err"));
        ibv_cq_ex.read_wc_flags(structure, functions.findOrThrow("read_wc_flags"));
        if ((fields & rdma_h.IBV_WC_EX_WITH_BYTE_LEN()) != 0) {
            ibv_cq_ex.read_byte_len(structure, functions.findOrThrow("read_byte_len"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_IMM()) != 0) {
            ibv_cq_ex.read_imm_data(structure, functions.findOrThrow("read_imm_data"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_QP_NUM()) != 0) {
            ibv_cq_ex.read_qp_num(structure, functions.findOrThrow("read_qp_num"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_SRC_QP()) != 0) {
            ibv_cq_ex.read_src_qp(structure, functions.findOrThrow("read_src_qp"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_SLID()) != 0) {
            ibv_cq_ex.read_slid(structure, functions.findOrThrow("read_slid"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_SL()) != 0) {
            ibv_cq_ex.read_sl(structure, functions.findOrThrow("read_sl"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_DLID_PATH_BITS()) != 0) {
            ibv_cq_ex.read_dlid_path_bits(structure, functions.findOrThrow("read_dlid_path_bits"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()) != 0) {
            ibv_cq_ex.read_completion_ts(structure, functions.findOrThrow("read_completion_ts"));
        }
        if ((fields & rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK()) != 0) {
            ibv_cq_ex.read_completion_wallclock_ns(
                    structure, functions.findOrThrow("read_completion_wallclock_ns"));
        }
    }

    static void refuseUnlessPossible(long fields) {
        if ((fields & ~FIELDS) != 0) {
            throw new ErrnoException(Errno.EOPNOTSUPP);
        }
    }

    /** Whether completions must be stamped. */
    static boolean needsTime(int fields) {
        return (fields
                        & (rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP()
                                | rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK()))
                != 0;
    }

    /**
     * For who takes completions in another way, and for who moves them: waits until no other thread
     * is in between.
     *
     * @throws ErrnoException if this thread is
     */
    ReentrantLock lock() {
        if (lock.isHeldByCurrentThread()) {
            throw new ErrnoException(Errno.EINVAL); // in C it would wait for itself
        }
        lock.lock();
        return lock;
    }

    /** Begins; false where there is nothing. */
    boolean start() {
        lock();
        seen = 0;
        var found = false;
        try {
            queue.progressIfEmpty();
            found = next();
            return found;
        } finally {
            if (!found) {
                lock.unlock();
            }
        }
    }

    /** Goes to the next; false where there is none. */
    boolean next() {
        refuseUnlessStarted();
        if (!queue.look(seen, current)) {
            return false;
        }
        timestamp = queue.timestamp(seen);
        seen++;
        ibv_cq_ex.wr_id(structure, ibv_wc.wr_id(current));
        ibv_cq_ex.status(structure, ibv_wc.status(current));
        return true;
    }

    void end() {
        refuseUnlessStarted();
        queue.drop(seen);
        lock.unlock();
    }

    private void refuseUnlessStarted() {
        if (!lock.isHeldByCurrentThread()) {
            throw new ErrnoException(Errno.EINVAL);
        }
    }

    int opcode() {
        return ibv_wc.opcode(current);
    }

    int vendorError() {
        return ibv_wc.vendor_err(current);
    }

    int bytes() {
        return ibv_wc.byte_len(current);
    }

    /** In the byte order of the wire. */
    int immediate() {
        return ibv_wc.imm_data(current);
    }

    int queuePair() {
        return ibv_wc.qp_num(current);
    }

    int sourceQueuePair() {
        return ibv_wc.src_qp(current);
    }

    int flags() {
        return ibv_wc.wc_flags(current);
    }

    long timestamp() {
        return timestamp;
    }

    long wallClock() {
        var now = Instant.now();
        return now.getEpochSecond() * NANOS_PER_SECOND
                + now.getNano()
                - (DeviceLimits.clock() - timestamp);
    }
}
