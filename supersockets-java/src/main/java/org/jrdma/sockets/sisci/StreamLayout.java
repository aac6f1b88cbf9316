package org.jrdma.sockets.sisci;

import org.jrdma.ffi.linkage.Linux;

/**
 * The layout of the segments of a stream. Each end has one segment: a header, in which each word
 * that the peer stores has a cache line of its own, and the ring of the bytes that the peer sends.
 * Each end stores into the segment of the other, and loads from its own alone.
 *
 * <p>One stream follows another over the same two segments. Nothing is reset between them: counters
 * continue, and each flag contains the number of its stream.
 */
final class StreamLayout {

    /** By the owner, before the segment is offered: the kind and version of the layout. */
    static final long KIND = 0;

    /** By the owner, before the segment is offered: the length of the ring. */
    static final long CAPACITY = 8;

    /** By the peer: the number of bytes that it has stored into the ring. */
    static final long PRODUCED = 64;

    /** By the peer: the number of bytes that it has taken out of its own ring. */
    static final long CONSUMED = 128;

    /** By the peer: how often it has gone to sleep until there are bytes. */
    static final long READER_SLEEPS = 192;

    /** By the peer: how often it has gone to sleep until there is room. */
    static final long WRITER_SLEEPS = 256;

    /** A flag, by the peer: 1 when no more bytes follow. */
    static final long ENDED = 320;

    /** By the peer, before {@link #ENDED}: the value of {@link #PRODUCED} at the end. */
    static final long TOTAL = 328;

    /**
     * A flag, by the peer: {@link #CLOSED} or {@link #RESET} when it has closed its end. The last
     * word that it stores for a stream.
     */
    static final long CLOSE = 384;

    /** A flag, by the accepting peer: a {@link ConnectReply}, after the two words that follow. */
    static final long REPLY = 448;

    /** The node and the segment of the accepting end, in the upper and the lower half. */
    static final long SEGMENT = 512;

    /** The number of the interrupt that wakes up the accepting process. */
    static final long WAKE_UP = 520;

    /**
     * A flag, by the connecting peer when the stream before has ended at both ends: the length of
     * the {@link ConnectRequest} for the next stream.
     */
    static final long REQUEST_LENGTH = 576;

    static final long REQUEST = 640;
    static final long RING = REQUEST + ConnectRequest.MOST_BYTES;

    static final long THIS_KIND = 0x6a72646d_62000002L;
    static final long CLOSED = 1;
    static final long RESET = 2;

    private static final int FLAG_BITS = 8;

    private StreamLayout() {}

    /** The flag of a stream with a value. */
    static long flag(long stream, long value) {
        return stream << FLAG_BITS | value;
    }

    /** The value of a flag for a stream: 0 if the flag is of another stream. */
    static long flagOf(long stream, long word) {
        return word >>> FLAG_BITS == stream ? word & (1 << FLAG_BITS) - 1 : 0;
    }

    static long word(int upper, int lower) {
        return (long) upper << 32 | Integer.toUnsignedLong(lower);
    }

    static int upper(long word) {
        return (int) (word >>> 32);
    }

    static int lower(long word) {
        return (int) word;
    }

    /** The smallest power of two that is not smaller: the capacity of a ring. */
    static int powerOfTwo(int bytes) {
        return bytes <= 1 ? 1 : Integer.highestOneBit(bytes - 1) << 1;
    }

    static long inPages(long bytes) {
        var page = Linux.pageBytes();
        return Math.ceilDiv(bytes, page) * page;
    }
}
