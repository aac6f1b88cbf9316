package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.linkage.Linux;

/**
 * How a message queue lies in memory. The receiver's segment begins with a head, in cache lines of
 * their own: what it is, how many bytes the sender has produced so far, and where the sender's
 * segment is. Then comes the ring. The sender's segment has one number, how many bytes the receiver
 * has consumed so far. Each side stores only into the segment of the other, and loads only from its
 * own.
 *
 * <p>A message begins at a multiple of eight bytes, with a word that has its number in the upper
 * half and its length in the lower. One that does not fit into the rest of the ring begins at its
 * start, and a word with the length {@link #SKIP} stands in its place.
 */
final class MessageRing {

    /** Of the receiver's segment; tells that one is there, and of this layout. */
    static final long KIND = 0;

    /** Of the receiver's segment: the length of the ring. */
    static final long CAPACITY = 8;

    static final long PRODUCED = 64;

    /** The node and the segment of the sender, in the upper and the lower half. */
    static final long SENDER = 128;

    /** Not 0 when the sender has closed, and all that it sent is there. */
    static final long LEFT = 136;

    static final long RING = 192;

    /** Of the sender's segment; {@link #CLOSED} when the receiver has. */
    static final long CONSUMED = 0;

    static final long CLOSED = -1;

    static final long THIS_KIND = 0x6a72646d_61000001L;
    static final int SKIP = -1;
    static final int WORD = 8;

    /** About 30 microseconds: a peer on the same core needs the core after that. */
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
            throw new InterruptedIOException("interrupted while waiting for " + awaited);
        }
    }

    static boolean isCapacity(long bytes) {
        return bytes >= 64 && bytes % WORD == 0;
    }

    static int maxMessageBytes(int capacity) {
        return capacity / 2 - WORD; // then it fits into an empty ring, wherever that begins
    }

    static long word(int number, int length) {
        return (long) number << 32 | Integer.toUnsignedLong(length);
    }

    static long space(long length) {
        return WORD + (length + WORD - 1 & -WORD);
    }

    static long inPages(long bytes) {
        var page = Linux.pageBytes();
        return Math.ceilDiv(bytes, page) * page;
    }
}
