package org.jrdma.soft.roce.packet;

/** The 32 times for which a requester can be told to stay away (RNR NAK timer). */
public final class ReceiverNotReadyTimer {

    /** In units of 10 microseconds, by code. */
    private static final int[] UNITS = {
        65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024,
        1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152
    };

    private ReceiverNotReadyTimer() {}

    /** The time of code 0 to 31. */
    public static long nanos(int code) {
        return UNITS[code] * 10_000L;
    }
}
