package org.jrdma.soft.roce.network;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.PacketBuffer;

/** Converts GIDs to and from the C structures {@code sockaddr_in} and {@code sockaddr_in6}. */
final class SocketAddress {

    static final int IPV4_FAMILY = 2;
    static final int IPV6_FAMILY = 10;
    static final int IPV4_BYTES = 16;
    static final int IPV6_BYTES = 28;

    private static final long MAPPED = 0xffffL << 32;

    private SocketAddress() {}

    /**
     * Writes the socket address that consists of a GID and the RoCE UDP port. It has at most {@link
     * #IPV6_BYTES} bytes.
     *
     * @param label the flow label of packets to the address, used only for IPv6
     * @param scope the index of the network interface, used only if the GID is link-local
     * @return the length of the socket address in bytes
     */
    static int write(MemorySegment memory, long offset, long high, long low, int label, int scope) {
        BigEndian.putShort(memory, offset + 2, PacketBuffer.UDP_PORT);
        if (high == 0 && low >>> 32 == 0xffff) {
            memory.set(ValueLayout.JAVA_SHORT, offset, (short) IPV4_FAMILY);
            BigEndian.putInteger(memory, offset + 4, (int) low);
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, offset + 8, 0);
            return IPV4_BYTES;
        }
        memory.set(ValueLayout.JAVA_SHORT, offset, (short) IPV6_FAMILY);
        BigEndian.putInteger(memory, offset + 4, label);
        BigEndian.putLongInteger(memory, offset + 8, high);
        BigEndian.putLongInteger(memory, offset + 16, low);
        memory.set(ValueLayout.JAVA_INT, offset + 24, RoceGid.isLinkLocal(high) ? scope : 0);
        return IPV6_BYTES;
    }

    /** Returns the first half of the GID for the socket address at {@code offset}. */
    static long high(MemorySegment memory, long offset) {
        return isIpv4(memory, offset) ? 0 : BigEndian.longInteger(memory, offset + 8);
    }

    /** Returns the second half of the GID for the socket address at {@code offset}. */
    static long low(MemorySegment memory, long offset) {
        return isIpv4(memory, offset)
                ? MAPPED | Integer.toUnsignedLong(BigEndian.integer(memory, offset + 4))
                : BigEndian.longInteger(memory, offset + 16);
    }

    static int port(MemorySegment memory, long offset) {
        return BigEndian.unsignedShort(memory, offset + 2);
    }

    private static boolean isIpv4(MemorySegment memory, long offset) {
        return memory.get(ValueLayout.JAVA_SHORT, offset) == IPV4_FAMILY;
    }
}
