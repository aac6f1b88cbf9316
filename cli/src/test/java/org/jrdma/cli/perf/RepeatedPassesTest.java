package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.NoSuchElementException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RepeatedPassesTest {

    private static final MachineState FAST = new MachineState(92, 4_000);
    private static final MachineState SLOW = new MachineState(92, 6_000);
    private static final Stability STABLE = new Stability(true, true);

    private final MachineStates states = new MachineStates(2);
    private final RepeatedPasses passes = new RepeatedPasses(states);

    private void add(double micros, double rate, MachineState machine) {
        passes.add(
                new Result(
                        "tcp",
                        Optional.empty(),
                        Optional.empty(),
                        8,
                        new LatencyStatistics(
                                100, micros, micros, micros, micros, micros, micros, micros),
                        new MeasuredBandwidth(8 * rate / 1e6, rate),
                        Stability.NONE,
                        machine,
                        Optional.empty()));
    }

    @Test
    void shouldReturnTheBestLatencyAndTheBestBandwidth() {
        add(40, 40, FAST);
        add(40, 40, FAST);
        add(10.5, 110, FAST);
        add(30, 120, FAST);
        add(10, 50, FAST);

        assertThat(passes.best().latency().median()).isEqualTo(10);
        assertThat(passes.best().bandwidth().messagesPerSecond()).isEqualTo(120);
        assertThat(passes.best().stable()).isEqualTo(STABLE);
        assertThat(passes.isComplete()).isTrue();
    }

    @Test
    void shouldMarkFiguresThatNoOtherPassConfirms() {
        add(120, 100, FAST);
        add(120, 100, FAST);
        add(100, 100, FAST);
        add(111, 100, FAST);
        add(111, 111, FAST);

        assertThat(passes.best().stable()).isEqualTo(Stability.NONE);
        assertThat(passes.isComplete()).isFalse();

        add(109, 100, FAST);

        assertThat(passes.best().stable()).isEqualTo(new Stability(true, false));
        assertThat(passes.isComplete()).isFalse();

        add(109, 101, FAST);

        assertThat(passes.best().stable()).isEqualTo(STABLE);
        assertThat(passes.isComplete()).isTrue();
    }

    @Test
    void shouldNotBeCompleteBeforeTheMinimumNumberOfPasses() {
        for (var pass = 1; pass < RepeatedPasses.MIN_PASSES; pass++) {
            add(10, 100, FAST);
        }

        assertThat(passes.best().stable()).isEqualTo(STABLE);
        assertThat(passes.isComplete()).isFalse();

        add(10, 100, FAST);

        assertThat(passes.isComplete()).isTrue();
    }

    /** The fastest state may be that of another path. */
    @Test
    void shouldNotCountPassesDuringWhichTheMachineWasSlower() {
        add(9, 200, SLOW);
        add(9, 200, SLOW);
        add(9, 200, SLOW);

        assertThat(passes.best().stable()).isEqualTo(STABLE);

        states.add(FAST);

        assertThat(passes.best().stable()).isEqualTo(Stability.NONE);
        assertThat(passes.best().latency().median()).isEqualTo(9);
        assertThat(passes.isComplete()).isFalse();

        add(10, 100, FAST);

        assertThat(passes.best().stable()).isEqualTo(Stability.NONE);
        assertThat(passes.best().latency().median()).isEqualTo(10);

        add(10, 100, FAST);

        assertThat(passes.best().stable()).isEqualTo(STABLE);
        assertThat(passes.best().machine()).isEqualTo(FAST);
    }

    @Test
    void shouldHaveNoResultWithoutAPass() {
        assertThat(passes.isEmpty()).isTrue();
        assertThatExceptionOfType(NoSuchElementException.class).isThrownBy(passes::best);
    }
}
