package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that an error contains the output of the child process that has failed. */
class ChildJvmFailureOutputTest {

    /** A program that prints a line and then fails. */
    static final class Failing {

        private Failing() {}

        static void main() {
            IO.println("to be read");
            throw new IllegalStateException("the reason");
        }
    }

    private static ChildJvm startFailing() throws Exception {
        return ChildJvm.start(List.of(), Failing.class);
    }

    @Test
    void shouldReportTheOutputOfAFailedProcessWhenReadingALine() throws Exception {
        try (var child = startFailing()) {
            assertThat(child.line()).isEqualTo("to be read");
            assertThatThrownBy(
                            () -> {
                                while (true) {
                                    child.line();
                                }
                            })
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("has ended", "code is 1", "to be read", "the reason");
        }
    }

    @Test
    void shouldReportTheOutputOfAFailedProcessWhenReadingALineWithAPrefix() throws Exception {
        try (var child = startFailing()) {
            assertThatThrownBy(() -> child.line("hello"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("\"hello\"", "to be read", "the reason");
        }
    }

    @Test
    void shouldReportTheOutputOfAFailedProcessWhenWritingALine() throws Exception {
        try (var child = startFailing()) {
            assertThatThrownBy(
                            () -> {
                                while (true) { // The loop ends when the process has ended.
                                    child.writeLine("hello");
                                }
                            })
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("does not read", "to be read", "the reason");
        }
    }

    @Test
    void shouldReportTheOutputOfAFailedProcessWhenWaitingForItsEnd() throws Exception {
        try (var child = startFailing()) {
            assertThatThrownBy(child::end)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("has failed", "to be read", "the reason");
        }
    }
}
