package org.jrdma.soft.roce.sharedmemory;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/**
 * The message with which a port passes the descriptor of a ring to a peer.
 *
 * @param sender the address of the port, from which all packets in the ring come
 */
record RingAnnouncement(RoceGid sender) {

    static final long BYTES = 3 * Long.BYTES;

    private static final long MAGIC = 0x6a72_646d_612d_3031L;

    /**
     * Returns the name of the socket on which the port at an address accepts rings. The name begins
     * with a character of code 0, so it is in the abstract name space, and contains the version of
     * the layout of the ring.
     */
    static String socketName(RoceGid address) {
        return "\0jrdma-roce-soft/1/%016x%016x".formatted(address.high(), address.low());
    }

    void encode(MemorySegment target) {
        target.set(JAVA_LONG, 0, MAGIC);
        target.set(JAVA_LONG, Long.BYTES, sender.high());
        target.set(JAVA_LONG, 2L * Long.BYTES, sender.low());
    }

    /** Decodes a message. Returns null if the message is not an announcement. */
    static @Nullable RingAnnouncement decode(MemorySegment source, long length) {
        return length != BYTES || source.get(JAVA_LONG, 0) != MAGIC
                ? null
                : new RingAnnouncement(
                        new RoceGid(
                                source.get(JAVA_LONG, Long.BYTES),
                                source.get(JAVA_LONG, 2L * Long.BYTES)));
    }
}
