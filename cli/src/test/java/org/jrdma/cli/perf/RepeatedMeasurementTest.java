package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.junit.jupiter.api.Test;

class RepeatedMeasurementTest {

    private static final Duration TIME = Duration.ofMillis(400);
    private static final long MICRO = 1_000;
    private static final int MAX_SLICES = 20;
    private static final Stability STABLE = new Stability(true, true);

    private final List<Duration> durations = new ArrayList<>();

    /** Measures slices whose samples and whose number of messages depend on the slice. */
    private RepeatedMeasurement repeat(IntToLongFunction micros, IntToLongFunction messages)
            throws IOException {
        return RepeatedMeasurement.repeat(
                TIME,
                1_000,
                1,
                duration -> {
                    var slice = durations.size();
                    durations.add(duration);
                    return new MeasurementSlice(
                            samples(1, micros.applyAsLong(slice) * MICRO),
                            messages.applyAsLong(slice),
                            duration.toNanos());
                });
    }

    private static Samples samples(int count, long nanos) {
        var samples = new Samples();
        for (var i = 0; i < count; i++) {
            samples.add(nanos);
        }
        return samples;
    }

    @Test
    void shouldMeasureForTheRequestedTimeIfTheSlicesAgree() throws Exception {
        var measured = repeat(slice -> 100 + 4 * slice, _ -> 100);

        assertThat(measured.stable()).isEqualTo(STABLE);
        assertThat(durations).containsOnly(TIME.dividedBy(4)).hasSize(4);
        assertThat(measured.latency().samples()).isEqualTo(4);
        assertThat(measured.latency().median()).isEqualTo(104);
        assertThat(measured.bandwidth()).isEqualTo(new MeasuredBandwidth(1, 1_000));
    }

    /** The figures are those of the first controller over RDMA before its code was compiled. */
    @Test
    void shouldDiscardSlicesThatWereMeasuredBeforeTheCodeWasCompiled() throws Exception {
        var cold = new long[] {781, 300, 40, 20};

        var measured = repeat(slice -> slice < cold.length ? cold[slice] : 17, _ -> 100);

        assertThat(measured.stable()).isEqualTo(STABLE);
        assertThat(measured.latency().maximum()).isEqualTo(17);
        assertThat(durations).hasSize(cold.length + RepeatedMeasurement.SLICES);
    }

    @Test
    void shouldRepeatUntilTheBandwidthIsStable() throws Exception {
        var measured = repeat(_ -> 17, slice -> slice < 2 ? 50 : 100);

        assertThat(measured.stable()).isEqualTo(STABLE);
        assertThat(measured.bandwidth().messagesPerSecond()).isEqualTo(1_000);
    }

    @Test
    void shouldMarkAFigureThatNeverBecomesStable() throws Exception {
        assertThat(repeat(slice -> 100 + slice % 2 * 16, _ -> 100).stable())
                .isEqualTo(new Stability(false, true));
        assertThat(durations).hasSize(MAX_SLICES);
        assertThat(repeat(_ -> 100, slice -> 100 + slice % 2 * 16).stable())
                .isEqualTo(new Stability(true, false));
    }

    @Test
    void shouldMeasureInTurnsUntilAllFiguresAreStable() throws Exception {
        var turns = new ArrayList<String>();

        var measured =
                RepeatedMeasurement.repeatInTurns(
                        TIME,
                        1_000,
                        1,
                        List.of(
                                _ -> turn(turns, "constant", 100),
                                _ -> turn(turns, "falling", turns.size() < 4 ? 300 : 200)));

        assertThat(measured).extracting(RepeatedMeasurement::stable).containsOnly(STABLE);
        assertThat(measured)
                .extracting(each -> each.latency().median())
                .containsExactly(100., 200.);
        assertThat(turns).startsWith("constant", "falling", "constant", "falling").hasSize(12);
    }

    private static MeasurementSlice turn(List<String> turns, String name, long micros) {
        turns.add(name);
        return new MeasurementSlice(samples(1, micros * MICRO), 1, MICRO);
    }

    @Test
    void shouldWarmUpUntilTheCodeIsCompiled() throws Exception {
        RepeatedMeasurement.warmUp(
                TIME,
                duration -> {
                    durations.add(duration);
                    return new MeasurementSlice(samples(8_000, MICRO), 0, 0);
                });

        assertThat(durations).containsExactly(TIME, TIME, TIME);
    }

    @Test
    void shouldNotWarmUpForeverIfExchangesAreSlow() throws Exception {
        RepeatedMeasurement.warmUp(
                TIME,
                duration -> {
                    durations.add(duration);
                    return new MeasurementSlice(samples(1, MICRO), 0, 0);
                });

        assertThat(durations).containsOnly(TIME).hasSize(10);
    }

    /** Messages may be so large, and a network so slow, that each slice takes minutes. */
    @Test
    void shouldStopAfterTheMinimumNumberOfSlicesIfTheyTakeTooLong() throws Exception {
        var time = Duration.ofMillis(1);
        var unstable =
                RepeatedMeasurement.repeat(
                        time,
                        1,
                        1,
                        duration -> {
                            durations.add(duration);
                            sleep(time.multipliedBy(10));
                            return new MeasurementSlice(samples(1, durations.size() * MICRO), 1, 1);
                        });

        assertThat(unstable.stable().latency()).isFalse();
        assertThat(durations).hasSize(RepeatedMeasurement.SLICES);
    }

    private static void sleep(Duration time) {
        try {
            Thread.sleep(time);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldReportABandwidthOfZeroAsUnstable() throws Exception {
        assertThat(repeat(_ -> 100, slice -> slice % 2).stable())
                .isEqualTo(new Stability(true, false));
    }
}
