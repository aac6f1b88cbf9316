package org.jrdma.verbs.model;

import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * A maximum sending rate to a destination. Address vectors can contain only these rates. In C:
 * {@code enum ibv_rate}.
 */
public enum StaticRate {
    /** No limit below the speed of the port. */
    UNLIMITED,
    /** 2.5 Gbit/s. */
    GIGABITS_2_5(2_500, 1),
    /** 5 Gbit/s. */
    GIGABITS_5(5_000, 2),
    /** 10 Gbit/s. */
    GIGABITS_10(10_000, 4),
    /** 20 Gbit/s. */
    GIGABITS_20(20_000, 8),
    /** 30 Gbit/s. */
    GIGABITS_30(30_000, 12),
    /** 40 Gbit/s. */
    GIGABITS_40(40_000, 16),
    /** 60 Gbit/s. */
    GIGABITS_60(60_000, 24),
    /** 80 Gbit/s. */
    GIGABITS_80(80_000, 32),
    /** 120 Gbit/s. */
    GIGABITS_120(120_000, 48),
    /** 14.062 Gbit/s. */
    GIGABITS_14(14_062),
    /** 56.25 Gbit/s. */
    GIGABITS_56(56_250),
    /** 112.5 Gbit/s. */
    GIGABITS_112(112_500),
    /** 168.75 Gbit/s. */
    GIGABITS_168(168_750),
    /** 25.781 Gbit/s. */
    GIGABITS_25(25_781),
    /** 103.125 Gbit/s. */
    GIGABITS_100(103_125),
    /** 206.25 Gbit/s. */
    GIGABITS_200(206_250),
    /** 309.375 Gbit/s. */
    GIGABITS_300(309_375),
    /** 28.125 Gbit/s. */
    GIGABITS_28(28_125, 11),
    /** 53.125 Gbit/s. */
    GIGABITS_50(53_125, 20),
    /** 425 Gbit/s. */
    GIGABITS_400(425_000, 160),
    /** 637.5 Gbit/s. */
    GIGABITS_600(637_500, 240),
    /** 850 Gbit/s. */
    GIGABITS_800(850_000, 320),
    /** 1275 Gbit/s. */
    GIGABITS_1200(1_275_000, 480),
    /**
     * A rate that this version of the SDK does not know. In an address vector that the program
     * passes to the SDK, it has the same effect as {@link #UNLIMITED}.
     */
    UNKNOWN;

    private final int megabits;
    private final int multiple;

    StaticRate() {
        this(-1, -1);
    }

    StaticRate(int megabits) {
        this(megabits, -1);
    }

    StaticRate(int megabits, int multiple) {
        this.megabits = megabits;
        this.multiple = multiple;
    }

    /** The rate in Mbit/s; empty if there is no limit. In C: {@code ibv_rate_to_mbps}. */
    public OptionalInt megabits() {
        return megabits < 0 ? OptionalInt.empty() : OptionalInt.of(megabits);
    }

    /**
     * The rate as a multiple of 2.5 Gbit/s, rounded for some newer rates; empty if C defines no
     * multiple for the rate. In C: {@code ibv_rate_to_mult}.
     */
    public OptionalInt multiple() {
        return multiple < 0 ? OptionalInt.empty() : OptionalInt.of(multiple);
    }

    /**
     * Returns the rate of exactly the given number of Mbit/s; empty if there is no such rate. In C:
     * {@code mbps_to_ibv_rate}.
     */
    public static Optional<StaticRate> ofMegabits(int megabits) {
        return Arrays.stream(values())
                .filter(rate -> megabits >= 0 && rate.megabits == megabits)
                .findFirst();
    }

    /**
     * Returns the rate whose {@link #multiple()} is the given number; empty if there is no such
     * rate. In C: {@code mult_to_ibv_rate}.
     */
    public static Optional<StaticRate> ofMultiple(int multiple) {
        return Arrays.stream(values())
                .filter(rate -> multiple >= 0 && rate.multiple == multiple)
                .findFirst();
    }
}
