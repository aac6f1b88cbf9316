package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MachineStatesTest {

    private final MachineStates states = new MachineStates(2);

    @ParameterizedTest
    @CsvSource({
        "92, 4000, true",
        "184, 4600, true",
        "185, 4000, false",
        "92, 4601, false",
        "40, 9000, false"
    })
    void shouldFindStatesThatAreAboutAsFastAsTheFastest(long line, long loop, boolean fast) {
        states.add(new MachineState(400, 4_000));
        states.add(new MachineState(92, 4_500));
        states.add(new MachineState(40, 9_000)); // two virtual processors share a core

        assertThat(states.isFast(new MachineState(line, loop))).isEqualTo(fast);
    }

    /** The measured threads may run on other processors, or share one with those of the state. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shouldNotCompareStatesUnlessThereAreTwoProcessors(int processors) {
        var states = new MachineStates(processors);
        states.add(new MachineState(92, 4_000));

        assertThat(states.isFast(new MachineState(2_000, 9_000))).isTrue();
        assertThat(states.isFast(new MachineState(2_001, 4_000))).isFalse();
    }

    @Test
    void shouldReturnTheSlowerOfBothTimes() {
        assertThat(new MachineState(92, 6_000).slowerOf(new MachineState(400, 4_000)))
                .isEqualTo(new MachineState(400, 6_000));
    }
}
