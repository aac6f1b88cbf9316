package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * The memory layout of a message queue.
 *
 * <p>The receiver's segment begins with a header, whose parts are in separate cache lines: the
 * magic number and capacity, the number of bytes that the sender has produced, and the address of
 * the sender's segment. The ring buffer follows. The sender's segment has a single field, the
 * number of bytes that the receiver has consumed. Each side stores only into the segment of the
 * other side, and loads only from its own.
 *
 * <p>A message begins at a multiple of eight bytes, with a word that has the sequence number in the
 * upper half and the length in the lower half. If a message does not fit at the end of the ring
 * buffer, it is stored at the start, and a word with the length {@link #SKIP} marks the unused
 * rest.
 */
final class MessageRing {

    /** The magic number, at the start of the receiver's segment. */
    static final long MAGIC = 0;

    /** The size of the ring buffer, in the receiver's segment. */
    static final long CAPACITY = 8;

    /** The number of bytes that the sender has produced, in the receiver's segment. */
    static final long PRODUCED = 64;

    /** The node id of the sender in the upper half, and the id of its segment in the lower half. */
    static final long SENDER = 128;

    /** Not 0 if the sender has closed and all its messages have arrived. */
    static final long SENDER_CLOSED = 136;

    static final long RING = 192;

    /**
     * The number of bytes that the receiver has consumed, in the sender's segment; {@link
     * #RECEIVER_CLOSED} if the receiver has closed.
     */
    static final long CONSUMED = 0;

    static final long RECEIVER_CLOSED = -1;

    static final long MAGIC_NUMBER = 0x6a72646d_61000001L;
    static final int SKIP = -1;
    static final int WORD = 8;

    /** About 30 microseconds. Longer spins would delay a peer that shares the core. */
    private static final int SPINS = 1_000;

    private static final long PAUSE_NANOS = 50_000;

    private MessageRing() {}

    /** Pauses between two attempts: spins at first, then parks. */
    static void pause(int attempts, Object awaited) throws InterruptedIOException {
        if (attempts < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("Interrupted while waiting for " + awaited);
        }
    }

    static boolean isCapacity(long bytes) {
        return bytes >= 64 && bytes % WORD == 0;
    }

    static int maxMessageBytes(int capacity) {
        return capacity / 2 - WORD; // fits into an empty ring at any index
    }

    static long word(int number, int length) {
        return (long) number << 32 | Integer.toUnsignedLong(length);
    }

    static long space(long length) {
        return WORD + (length + WORD - 1 & -WORD);
    }

    static long roundUpToPages(long bytes) {
        var page = LinuxCalls.pageBytes();
        return Math.ceilDiv(bytes, page) * page;
    }
}
