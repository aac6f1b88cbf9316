package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.soft.roce.abi.Exported;
import org.jrdma.soft.roce.abi.Failure;

/** The functions that C finds in an extended queue pair. */
final class ExtendedSendFunctions {

    private ExtendedSendFunctions() {}

    private static ExtendedSends sends(long queuePair) {
        return QueuePairObject.of(queuePair).extendedSends();
    }

    @Exported(value = "wr_start", failure = Failure.NONE)
    static void start(long queuePair) {
        sends(queuePair).start();
    }

    @Exported(value = "wr_complete", failure = Failure.ERRNO)
    static int complete(long queuePair) {
        return sends(queuePair).complete();
    }

    @Exported(value = "wr_abort", failure = Failure.NONE)
    static void abort(long queuePair) {
        sends(queuePair).abort();
    }

    @Exported(value = "wr_send", failure = Failure.NONE)
    static void send(long queuePair) {
        sends(queuePair).send();
    }

    @Exported(value = "wr_send_imm", failure = Failure.NONE)
    static void sendImmediate(long queuePair, int immediate) {
        sends(queuePair).sendImmediate(immediate);
    }

    @Exported(value = "wr_rdma_write", failure = Failure.NONE)
    static void write(long queuePair, int key, long address) {
        sends(queuePair).write(key, address);
    }

    @Exported(value = "wr_rdma_write_imm", failure = Failure.NONE)
    static void writeImmediate(long queuePair, int key, long address, int immediate) {
        sends(queuePair).writeImmediate(key, address, immediate);
    }

    @Exported(value = "wr_rdma_read", failure = Failure.NONE)
    static void read(long queuePair, int key, long address) {
        sends(queuePair).read(key, address);
    }

    @Exported(value = "wr_atomic_cmp_swp", failure = Failure.NONE)
    static void compareAndSwap(long queuePair, int key, long address, long compare, long swap) {
        sends(queuePair).compareAndSwap(key, address, compare, swap);
    }

    @Exported(value = "wr_atomic_fetch_add", failure = Failure.NONE)
    static void fetchAndAdd(long queuePair, int key, long address, long delta) {
        sends(queuePair).fetchAndAdd(key, address, delta);
    }

    @Exported(value = "wr_atomic_write", failure = Failure.NONE)
    static void atomicWrite(long queuePair, int key, long address, long value) {
        sends(queuePair).atomicWrite(key, address, value);
    }

    @Exported(value = "wr_flush", failure = Failure.NONE)
    static void flush(
            long queuePair, int key, long address, long length, byte placement, byte selectivity) {
        sends(queuePair).flush(key, address, length, placement, selectivity);
    }

    @Exported(value = "wr_send_inv", failure = Failure.NONE)
    static void sendInvalidate(long queuePair, int key) {
        sends(queuePair).sendInvalidate(key);
    }

    @Exported(value = "wr_local_inv", failure = Failure.NONE)
    static void invalidate(long queuePair, int key) {
        sends(queuePair).invalidate(key);
    }

    @Exported(value = "wr_bind_mw", failure = Failure.NONE)
    static void bind(long queuePair, long window, int key, long binding) {
        sends(queuePair).bind(window, key, binding);
    }

    @Exported(value = "wr_set_sge", failure = Failure.NONE)
    static void setPiece(long queuePair, int key, long address, int length) {
        sends(queuePair).setPiece(key, address, length);
    }

    @Exported(value = "wr_set_sge_list", failure = Failure.NONE)
    static void setPieces(long queuePair, long count, long list) {
        sends(queuePair).setPieces(count, list);
    }

    @Exported(value = "wr_set_inline_data", failure = Failure.NONE)
    static void setInline(long queuePair, long address, long length) {
        sends(queuePair).setInline(address, length);
    }

    @Exported(value = "wr_set_inline_data_list", failure = Failure.NONE)
    static void setInlines(long queuePair, long count, long list) {
        sends(queuePair).setInlines(count, list);
    }

    @Exported(value = "wr_set_xrc_srqn", failure = Failure.NONE)
    static void setReceiveQueue(long queuePair, int number) {
        sends(queuePair).setReceiveQueue(number);
    }

    @Exported(value = "wr_set_ud_addr", failure = Failure.NONE)
    static void setDestination(long queuePair, long handle, int number, int key) {
        sends(queuePair).setDestination(handle, number, key);
    }
}
