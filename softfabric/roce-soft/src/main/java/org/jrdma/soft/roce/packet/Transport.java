package org.jrdma.soft.roce.packet;

/** The transport type of a queue pair, which the upper three bits of an opcode encode. */
public enum Transport {
    /** Reliable connection (RC). */
    RELIABLE(0x00),
    /** Unreliable connection (UC). */
    UNRELIABLE(0x20),
    /** Unreliable datagram (UD). */
    DATAGRAM(0x60),
    /** Extended reliable connection (XRC), in which each request names a receive queue. */
    EXTENDED(0xa0);

    private final int bits;

    Transport(int bits) {
        this.bits = bits;
    }

    int bits() {
        return bits;
    }

    /** Returns true if messages arrive exactly once and in order, unless the connection fails. */
    public boolean isReliable() {
        return this == RELIABLE || this == EXTENDED;
    }
}
