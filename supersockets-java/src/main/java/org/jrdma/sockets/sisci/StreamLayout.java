package org.jrdma.sockets.sisci;

import org.jrdma.ffi.linkage.LinuxCalls;

/**
 * The layout of the segments of a stream.
 *
 * <p>Each end has one segment: a header, in which each word that the peer stores has a cache line
 * of its own, and the ring buffer for the bytes that the peer sends. Each end stores into the
 * segment of the other end, and loads only from its own.
 *
 * <p>One stream follows another over the same two segments. Nothing is reset between them: counters
 * continue, and each flag contains the number of its stream.
 */
final class StreamLayout {

    /** Stored by the owner before the segment is offered: the kind and version of the layout. */
    static final long KIND = 0;

    /** Stored by the owner before the segment is offered: the length of the ring in bytes. */
    static final long CAPACITY = 8;

    /**
     * Stored by the owner before the segment is offered: the id of the segment with the {@link
     * WakeUpMarks} of its process in the upper half, and the slot of this segment in the lower.
     */
    static final long SLOT = 16;

    /** Stored by the peer: the number of bytes that it has stored into the ring. */
    static final long PRODUCED = 64;

    /**
     * Stored by the peer: the number of bytes that it has consumed from the ring in its own
     * segment.
     */
    static final long CONSUMED = 128;

    /** Stored by the peer: the number of times that its reader has gone to sleep. */
    static final long READER_SLEEPS = 192;

    /** Stored by the peer: the number of times that its writer has gone to sleep. */
    static final long WRITER_SLEEPS = 256;

    /** A flag, stored by the peer: 1 if no more bytes follow. */
    static final long ENDED = 320;

    /** Stored by the peer before {@link #ENDED}: the value of {@link #PRODUCED} at the end. */
    static final long TOTAL = 328;

    /**
     * A flag, stored by the peer when it has closed its end: {@link #CLOSED} or {@link #RESET}. It
     * is the last word that the peer stores for a stream.
     */
    static final long CLOSE = 384;

    /**
     * A flag, stored by the accepting peer after {@link #SEGMENT} and {@link #WAKE_UP}: the code of
     * a {@link ConnectReply}.
     */
    static final long REPLY = 448;

    /**
     * Stored by the accepting peer: its node in the upper half, and the id of its segment in the
     * lower.
     */
    static final long SEGMENT = 512;

    /** Stored by the accepting peer: the number of the interrupt that wakes up its process. */
    static final long WAKE_UP = 520;

    /**
     * A flag, stored by the connecting peer after both ends of the previous stream are closed: the
     * length of the {@link ConnectRequest} for the next stream.
     */
    static final long REQUEST_LENGTH = 576;

    /**
     * Stored by the connecting peer before {@link #REQUEST_LENGTH}: the encoded connect request.
     */
    static final long REQUEST = 640;

    /** The offset of the ring. */
    static final long RING = REQUEST + ConnectRequest.MAX_BYTES;

    /**
     * The value of {@link #KIND} in the segments of this version. If it changes, {@code
     * SisciListener.THIS_KIND} must change too, so that clients of another version fail at once.
     */
    static final long THIS_KIND = 0x6a72646d_62000003L;

    /** The value of {@link #CLOSE} after an orderly close. */
    static final long CLOSED = 1;

    /** The value of {@link #CLOSE} if bytes may be missing. */
    static final long RESET = 2;

    /** The result of a ring operation if the peer has stored an invalid position. */
    static final int INVALID_POSITION = -1;

    private static final int FLAG_BITS = 8;

    private StreamLayout() {}

    /**
     * Encodes a flag.
     *
     * @param stream the number of the stream to which the flag belongs
     * @param value the value of the flag; not 0
     */
    static long flag(long stream, long value) {
        return stream << FLAG_BITS | value;
    }

    /**
     * Decodes a flag; returns 0 if the flag belongs to another stream.
     *
     * @param stream the number of the stream
     * @param word the encoded flag
     */
    static long flagOf(long stream, long word) {
        return word >>> FLAG_BITS == stream ? word & (1 << FLAG_BITS) - 1 : 0;
    }

    /** Returns a word that consists of two numbers. */
    static long word(int upper, int lower) {
        return (long) upper << 32 | Integer.toUnsignedLong(lower);
    }

    static int upper(long word) {
        return (int) (word >>> 32);
    }

    static int lower(long word) {
        return (int) word;
    }

    /** Returns the capacity of a ring: the smallest power of two that is at least {@code bytes}. */
    static int powerOfTwo(int bytes) {
        return bytes <= 1 ? 1 : Integer.highestOneBit(bytes - 1) << 1;
    }

    /** Returns a number of bytes, rounded up to whole pages. */
    static long inPages(long bytes) {
        var page = LinuxCalls.pageBytes();
        return Math.ceilDiv(bytes, page) * page;
    }
}
