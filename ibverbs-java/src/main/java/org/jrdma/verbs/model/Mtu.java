package org.jrdma.verbs.model;

/** How many bytes of payload a packet may have. In C: {@code enum ibv_mtu}. */
public enum Mtu {
    /** 256 bytes. */
    BYTES_256(256),
    /** 512 bytes. */
    BYTES_512(512),
    /** 1,024 bytes: what fits into an Ethernet frame of 1,500. */
    BYTES_1024(1024),
    /** 2,048 bytes. */
    BYTES_2048(2048),
    /** 4,096 bytes. */
    BYTES_4096(4096);

    private final int bytes;

    Mtu(int bytes) {
        this.bytes = bytes;
    }

    /** The number of bytes. */
    public int bytes() {
        return bytes;
    }

    /**
     * The MTU of so many bytes.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static Mtu ofBytes(int bytes) {
        for (var mtu : values()) {
            if (mtu.bytes == bytes) {
                return mtu;
            }
        }
        throw new IllegalArgumentException(
                "An MTU is 256, 512, 1024, 2048 or 4096 bytes, not " + bytes);
    }
}
