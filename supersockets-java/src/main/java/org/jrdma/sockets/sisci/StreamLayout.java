package org.jrdma.sockets.sisci;

import org.jrdma.ffi.linkage.Linux;

/**
 * How the segments of a stream lie in memory. Each end has one, of this layout: a head, in which
 * each word that the peer stores has a cache line of its own, then the ring of the bytes that the
 * peer sends. Each end stores into the segment of the other and loads from its own alone.
 *
 * <p>One stream follows another over the same two segments, and nothing is set back between them:
 * counters go on, and flags say the number of the stream that they are of.
 */
final class StreamLayout {

    /** By the owner, before it is offered: what it is, and of which layout. */
    static final long KIND = 0;

    /** By the owner, before it is offered: the length of the ring. */
    static final long CAPACITY = 8;

    /** By the peer: how many bytes it has put into the ring, in all. */
    static final long PRODUCED = 64;

    /** By the peer: how many bytes it has taken out of its own ring, in all. */
    static final long CONSUMED = 128;

    /** By the peer: how often it has gone to sleep for want of bytes. */
    static final long READER_SLEEPS = 192;

    /** By the peer: how often it has gone to sleep for want of room. */
    static final long WRITER_SLEEPS = 256;

    /** A flag, by the peer: 1 when it puts no more bytes into the ring. */
    static final long ENDED = 320;

    /** By the peer, before that: how many it has put there in all, which must have come then. */
    static final long TOTAL = 328;

    /**
     * A flag, by the peer: {@link #CLOSED} or {@link #RESET} when it is gone, and wants no more
     * bytes. The last that it stores of a stream.
     */
    static final long LEFT = 384;

    /**
     * A flag, by the peer that accepts: an {@link ConnectReply}, when the two words that follow are
     * there.
     */
    static final long ANSWER = 448;

    /** The node and the segment of who accepts, in the upper and the lower half. */
    static final long SEGMENT = 512;

    /** The number of the interrupt of who accepts. */
    static final long BELL = 520;

    /**
     * A flag, by the peer that connects, when the stream before has ended at both ends: the length
     * of the {@link ConnectRequest} that is there for the next.
     */
    static final long CALL = 576;

    static final long GREETING = 640;
    static final long RING = GREETING + ConnectRequest.MOST_BYTES;

    static final long THIS_KIND = 0x6a72646d_62000002L;
    static final long CLOSED = 1;
    static final long RESET = 2;

    private static final int FLAG_BITS = 8;

    private StreamLayout() {}

    /** A flag of the stream with that number. */
    static long flag(long stream, long value) {
        return stream << FLAG_BITS | value;
    }

    /** What a flag says of the stream with that number: 0 if it is another's. */
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

    static long inPages(long bytes) {
        var page = Linux.pageBytes();
        return Math.ceilDiv(bytes, page) * page;
    }
}
