package org.jrdma.soft.roce.packet;

/** The service of a queue pair: the top three bits of an opcode. */
public enum Transport {
    /** Reliable connection (RC). */
    RELIABLE(0x00),
    /** Unreliable connection (UC). */
    UNRELIABLE(0x20),
    /** Unreliable datagram (UD). */
    DATAGRAM(0x60),
    /** Extended reliable connection (XRC): requests name the receive queue that they are for. */
    EXTENDED(0xa0);

    private final int bits;

    Transport(int bits) {
        this.bits = bits;
    }

    int bits() {
        return bits;
    }

    /** Whether everything arrives once, in order, or the connection fails. */
    public boolean isReliable() {
        return this == RELIABLE || this == EXTENDED;
    }
}
