package org.jrdma.tck.software;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that the failure of a test contains the output of its failed child process. */
class ChildJvmTest {

    /** A program that prints a line, then fails. */
    static final class Failing {

        private Failing() {}

        static void main() {
            IO.println("to be read");
            throw new IllegalStateException("the reason");
        }
    }

    private static ChildJvm failing() throws Exception {
        return ChildJvm.start(List.of(), Failing.class);
    }

    @Test
    void shouldReportTheOutputOfADeadProcessInAWaitForALine() throws Exception {
        try (var child = failing()) {
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
    void shouldReportThemInAWaitForAnotherLine() throws Exception {
        try (var child = failing()) {
            assertThatThrownBy(() -> child.line("hello"))
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("\"hello\"", "to be read", "the reason");
        }
    }

    @Test
    void shouldReportThemInACallToIt() throws Exception {
        try (var child = failing()) {
            assertThatThrownBy(
                            () -> {
                                while (true) { // until the process has ended
                                    child.tell("hello");
                                }
                            })
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("does not hear", "to be read", "the reason");
        }
    }

    @Test
    void shouldReportThemInAWaitForItsEnd() throws Exception {
        try (var child = failing()) {
            assertThatThrownBy(child::end)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageContainingAll("has failed", "to be read", "the reason");
        }
    }
}
