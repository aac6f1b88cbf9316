package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Failure;

/** The functions that C finds in an extended completion queue. */
final class CompletionPollFunctions {

    private CompletionPollFunctions() {}

    private static CompletionPoll poll(long queue) {
        return CompletionQueueObject.of(queue).extendedPoll();
    }

    @Exported(value = "start_poll", failure = Failure.ERRNO)
    static int start(long queue, long attributes) {
        return poll(queue).start() ? 0 : Errno.ENOENT;
    }

    @Exported(value = "next_poll", failure = Failure.ERRNO)
    static int next(long queue) {
        return poll(queue).next() ? 0 : Errno.ENOENT;
    }

    @Exported(value = "end_poll", failure = Failure.NONE)
    static void end(long queue) {
        poll(queue).end();
    }

    @Exported(value = "read_opcode", failure = Failure.NONE)
    static int opcode(long queue) {
        return ibv_wc.opcode(poll(queue).current());
    }

    @Exported(value = "read_vendor_err", failure = Failure.NONE)
    static int vendorError(long queue) {
        return ibv_wc.vendor_err(poll(queue).current());
    }

    @Exported(value = "read_byte_len", failure = Failure.NONE)
    static int bytes(long queue) {
        return ibv_wc.byte_len(poll(queue).current());
    }

    @Exported(value = "read_imm_data", failure = Failure.NONE)
    static int immediate(long queue) {
        return ibv_wc.imm_data(poll(queue).current());
    }

    @Exported(value = "read_qp_num", failure = Failure.NONE)
    static int queuePair(long queue) {
        return ibv_wc.qp_num(poll(queue).current());
    }

    @Exported(value = "read_src_qp", failure = Failure.NONE)
    static int sourceQueuePair(long queue) {
        return ibv_wc.src_qp(poll(queue).current());
    }

    @Exported(value = "read_wc_flags", failure = Failure.NONE)
    static int flags(long queue) {
        return ibv_wc.wc_flags(poll(queue).current());
    }

    /** A RoCE port has no LID. */
    @Exported(value = "read_slid", failure = Failure.NONE)
    static int sourceLid(long queue) {
        return 0;
    }

    @Exported(value = "read_sl", failure = Failure.NONE)
    static byte serviceLevel(long queue) {
        return 0;
    }

    @Exported(value = "read_dlid_path_bits", failure = Failure.NONE)
    static byte pathBits(long queue) {
        return 0;
    }

    @Exported(value = "read_completion_ts", failure = Failure.NONE)
    static long timestamp(long queue) {
        return poll(queue).timestamp();
    }

    @Exported(value = "read_completion_wallclock_ns", failure = Failure.NONE)
    static long wallClock(long queue) {
        return poll(queue).wallClock();
    }
}
