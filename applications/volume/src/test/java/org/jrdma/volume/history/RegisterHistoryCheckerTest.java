package org.jrdma.volume.history;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** Tests that the checker finds each violation. */
class RegisterHistoryCheckerTest {

    private final RegisterHistoryChecker registers = new RegisterHistoryChecker();

    private long time;

    private long next() {
        time++;
        return time;
    }

    private void write(long value) {
        registers.wrote(1, value, next(), next());
    }

    private void writeWithUnknownResult(long value) {
        registers.mayHaveWritten(1, value, next(), RegisterHistoryChecker.NEVER);
    }

    /** A write during which the client is killed or loses its session. */
    private void writeOfLostClient(long value) {
        registers.mayHaveWritten(1, value, next(), next());
    }

    private void read(long value) {
        read(Set.of(value));
    }

    private void read(Set<Long> values) {
        registers.read(1, values, next(), next());
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
        writeWithUnknownResult(2);
        read(1);
        read(2);

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldFindAReadThatIsOlderThanAnEarlierRead() {
        write(1);
        writeWithUnknownResult(2);
        read(2);
        read(1);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("older value");
    }

    @Test
    void shouldFindAReadFromTheFuture() {
        registers.read(1, Set.of(1L), 1, 2);
        registers.wrote(1, 1, 3, 4);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("future");
    }

    @Test
    void shouldExplainBothValuesOfConcurrentWrites() {
        registers.wrote(1, 1, 1, 5);
        registers.wrote(1, 2, 2, 4);
        registers.read(1, Set.of(1L), 6, 7);
        registers.wrote(2, 3, 1, 5);
        registers.wrote(2, 4, 2, 4);
        registers.read(2, Set.of(4L), 6, 7);

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldExplainAPartOfAnUnknownWrite() {
        write(1);
        writeWithUnknownResult(2);
        read(Set.of(1L, 2L));

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldFindPartsOfAcknowledgedWrites() {
        registers.wrote(1, 1, 1, 3);
        registers.wrote(1, 2, 2, 4);
        registers.read(1, Set.of(1L, 2L), 5, 6);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("several");
    }

    @Test
    void shouldFindAPartThatIsOlderThanAnAcknowledgedWrite() {
        write(1);
        write(2);
        writeWithUnknownResult(3);
        read(Set.of(1L, 3L));

        assertThat(registers.violations()).hasSize(1).first().asString().contains("old value");
    }

    @Test
    void shouldExplainBothResultsOfAWriteOfALostClient() {
        write(1);
        writeOfLostClient(2);
        read(1);
        write(3);
        writeOfLostClient(4);
        read(4);
        read(4);
        write(5);
        read(5);

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldFindAWriteOfALostClientThatTookEffectAfterALaterWrite() {
        writeOfLostClient(1);
        write(2);
        read(1);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("old value");
    }

    @Test
    void shouldFindAPartOfAWriteOfALostClientThatTookEffectAfterALaterWrite() {
        writeOfLostClient(1);
        write(2);
        read(Set.of(1L, 2L));

        assertThat(registers.violations()).hasSize(1).first().asString().contains("old value");
    }

    @Test
    void shouldFindAWriteOfALostClientThatTookEffectAfterALaterRead() {
        write(1);
        writeOfLostClient(2);
        read(1);
        read(2);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("older value");
    }

    @Test
    void shouldFindAWriteOfALostClientThatTookEffectAfterAReadOfALaterUnknownWrite() {
        writeOfLostClient(1);
        registers.read(1, Set.of(2L), next(), time + 3);
        writeWithUnknownResult(2);
        time += 3;
        read(1);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("older value");
    }

    @Test
    void shouldExplainAWriteOfAClientThatWasLostDuringOtherAccesses() {
        registers.wrote(1, 1, 1, 2);
        registers.mayHaveWritten(1, 2, 3, 6);
        registers.wrote(1, 3, 4, 7); // before the client had the lease
        registers.read(1, Set.of(3L), 5, 8);
        registers.read(1, Set.of(2L), 9, 10);

        assertThat(registers.violations()).isEmpty();
    }

    @Test
    void shouldFindAWriteThatReturnsAfterItWasReplaced() {
        registers.wrote(1, 1, 1, 4);
        registers.wrote(1, 2, 2, 3);
        registers.read(1, Set.of(2L), 5, 6);
        registers.read(1, Set.of(1L), 7, 8);

        assertThat(registers.violations()).hasSize(1).first().asString().contains("older value");
    }
}
