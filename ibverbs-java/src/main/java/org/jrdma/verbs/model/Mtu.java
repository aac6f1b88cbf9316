package org.jrdma.verbs.model;

/** An MTU: the maximum payload of a packet. In C: {@code enum ibv_mtu}. */
public enum Mtu {
    /** 256 bytes. */
    BYTES_256(256),
    /** 512 bytes. */
    BYTES_512(512),
    /** 1,024 bytes: the largest value that fits into an Ethernet frame of 1,500 bytes. */
    BYTES_1024(1024),
    /** 2,048 bytes. */
    BYTES_2048(2048),
    /** 4,096 bytes. */
    BYTES_4096(4096);

    private final int bytes;

    Mtu(int bytes) {
        this.bytes = bytes;
    }

    /** The MTU in bytes. */
    public int bytes() {
        return bytes;
    }

    /**
     * Returns the MTU with the given number of bytes.
     *
     * @throws IllegalArgumentException if no such MTU exists
     */
    public static Mtu ofBytes(int bytes) {
        for (var mtu : values()) {
            if (mtu.bytes == bytes) {
                return mtu;
            }
        }
        throw new IllegalArgumentException(
                "The MTU must be 256, 512, 1024, 2048 or 4096 bytes: " + bytes);
    }
}
