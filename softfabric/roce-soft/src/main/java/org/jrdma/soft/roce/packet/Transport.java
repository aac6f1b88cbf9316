package org.jrdma.soft.roce.packet;

/** The service of a queue pair: the top three bits of an opcode. */
public enum Transport {
    /** Reliable connection (RC). */
    RELIABLE(0x00),
    /** Unreliable connection (UC). */
    UNRELIABLE(0x20),
    /** Unreliable datagram (UD). */
    DATAGRAM(0x60);

    private final int bits;

    Transport(int bits) {
        this.bits = bits;
    }

    int bits() {
        return bits;
    }
}
