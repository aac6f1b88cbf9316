package org.jrdma.soft.roce.packet;

/**
 * The 32 delays that a responder can request in an RNR NAK, when no receive is posted for a
 * message.
 */
public final class ReceiverNotReadyTimer {

    /** The delays in units of 10 microseconds, by timer code. */
    private static final int[] UNITS = {
        65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1_024,
        1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768, 49_152
    };

    private ReceiverNotReadyTimer() {}

    /** Returns the delay in nanoseconds for a timer code from 0 to 31. */
    public static long nanos(int code) {
        return UNITS[code] * 10_000L;
    }
}
