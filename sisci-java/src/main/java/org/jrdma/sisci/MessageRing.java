package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * The memory layout of a message queue, which consists of a segment of the receiver and a segment
 * of the sender.
 *
 * <p>The receiver's segment begins with a header of three parts in separate cache lines: the magic
 * number and the capacity; the number of bytes that the sender has produced; the address of the
 * sender's segment. The ring buffer follows the header. The sender's segment has a single field,
 * the number of bytes that the receiver has consumed. To transfer messages, each side stores only
 * into the segment of the other side, and loads only from its own segment.
 *
 * <p>A message begins at a multiple of eight bytes. Its first 8 bytes are a word with the sequence
 * number of the message in the upper half and its length in the lower half. If a message does not
 * fit at the end of the ring buffer, it is stored at the start, and a word with the length {@link
 * #SKIP} marks the unused bytes at the end.
 */
final class MessageRing {

    /** The offset of the magic number in the receiver's segment. */
    static final long MAGIC = 0;

    /** The offset of the size of the ring buffer in the receiver's segment. */
    static final long CAPACITY = 8;

    /**
     * The offset of the number of bytes that the sender has produced, in the receiver's segment.
     */
    static final long PRODUCED = 64;

    /**
     * The offset of the sender address in the segment of the receiver: the node id of the sender in
     * the upper half, and the id of its segment in the lower half; 0 before a sender connects.
     */
    static final long SENDER = 128;

    /**
     * The offset in the receiver's segment of a value that is not 0 if the sender has closed and
     * all its messages have arrived.
     */
    static final long SENDER_CLOSED = 136;

    /** The offset of the ring buffer in the receiver's segment. */
    static final long RING = 192;

    /**
     * The offset in the segment of the sender at which the receiver stores the number of bytes that
     * it has consumed. The number is {@link #RECEIVER_CLOSED} if the receiver has closed.
     */
    static final long CONSUMED = 0;

    static final long RECEIVER_CLOSED = -1;

    static final long MAGIC_NUMBER = 0x6a72646d_61000001L;
    static final int SKIP = -1;
    static final int WORD = 8;

    /**
     * The number of attempts before the thread parks, which take about 30 microseconds. If the peer
     * uses the same core, longer spins would delay it.
     */
    private static final int SPINS = 1_000;

    private static final long FIRST_PAUSE_NANOS = 50_000;

    /** A queue without messages for seconds needs less than a thousandth of a processor. */
    private static final long MAX_PAUSE_NANOS = 5_000_000;

    /** The number of pauses after which a pause is longer by {@link #FIRST_PAUSE_NANOS}. */
    private static final int PAUSES_OF_EQUAL_LENGTH = 32;

    /** The lowest id of a segment whose id the library chooses. */
    static final int FIRST_FREE_ID = 0x10000;

    private MessageRing() {}

    /**
     * Pauses between two attempts to send or receive: spins during the first attempts, and then
     * parks. Each park takes a small part of the time that the thread has waited so far.
     */
    static void pause(int attempts, Object awaited) throws InterruptedIOException {
        if (attempts < SPINS) {
            Thread.onSpinWait();
        } else {
            LockSupport.parkNanos(pauseNanos(attempts));
        }
        if (Thread.currentThread().isInterrupted()) {
            throw new InterruptedIOException("Interrupted while waiting for " + awaited);
        }
    }

    /** Returns how long a thread parks after a number of attempts. */
    static long pauseNanos(int attempts) {
        var step = 1L + (attempts - SPINS) / PAUSES_OF_EQUAL_LENGTH;
        return Math.min(MAX_PAUSE_NANOS, step * FIRST_PAUSE_NANOS);
    }

    static boolean isCapacity(long bytes) {
        return bytes >= 64 && bytes % WORD == 0;
    }

    static int maxMessageBytes(int capacity) {
        return capacity / 2 - WORD; // Longer messages do not fit at each index of the ring buffer.
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
