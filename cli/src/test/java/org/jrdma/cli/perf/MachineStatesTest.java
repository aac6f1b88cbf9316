package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MachineStatesTest {

    private final MachineStates states = new MachineStates();

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

    @Test
    void shouldCompareStatesOfAMachineWithOneProcessor() {
        states.add(new MachineState(0, 4_000));

        assertThat(states.isFast(new MachineState(0, 4_000))).isTrue();
    }
}
