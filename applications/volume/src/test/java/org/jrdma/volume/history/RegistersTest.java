package org.jrdma.volume.history;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Tests that the checker finds what it must find. */
class RegistersTest {

    private final Registers registers = new Registers();

    private void write(long value) {
        registers.wrote(1, value, System.nanoTime(), true);
    }

    private void read(long value) {
        registers.read(1, value, System.nanoTime());
    }

    @Test
    void shouldExplainReadsOfTheLastValue() {
        read(0);
        write(1);
        read(1);
        write(2);
        read(2);

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldFindLostWrites() {
        write(1);
        write(2);
        read(1);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("old value");
    }

    @Test
    void shouldFindALostFirstWrite() {
        write(1);
        read(0);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("old value");
    }

    @Test
    void shouldFindUnknownValues() {
        write(1);
        read(3);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("no client");
    }

    @Test
    void shouldExplainBothResultsOfAnUnknownWrite() {
        write(1);
        registers.wrote(1, 2, System.nanoTime(), false);
        read(1);
        read(2);

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldFindAReadThatIsOlderThanAnEarlierRead() {
        var started = System.nanoTime();
        write(1);
        registers.wrote(1, 2, System.nanoTime(), false);
        read(2);
        read(1);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("older value");
        assertThat(started).isPositive();
    }
}
