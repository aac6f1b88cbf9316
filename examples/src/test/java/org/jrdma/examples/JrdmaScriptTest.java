package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.processes.Programs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the commands and errors of the script {@code jrdma}. */
class JrdmaScriptTest {

    @Test
    void shouldPrintItsCommands() throws Exception {
        try (var launcher = Programs.launch("--help")) {
            assertThat(launcher.await()).isZero();
            assertThat(launcher.output()).startsWith("Usage: ./jrdma COMMAND").contains("example");
            assertThat(launcher.output().lines()).allMatch(line -> line.length() <= 80);
        }
    }

    @Test
    void shouldListTheExamples() throws Exception {
        try (var launcher = Programs.launch("example")) {
            assertThat(launcher.await()).isZero();
            assertThat(launcher.output().lines())
                    .anyMatch(line -> line.matches("simple-rdma-write +One process writes .*"))
                    .anyMatch(line -> line.matches("rc-pingpong +Measures a message.*"))
                    .anyMatch(line -> line.matches("uc-pingpong +Measures a message .*"))
                    .anyMatch(line -> line.matches("ud-pingpong +Measures a datagram .*"))
                    .anyMatch(line -> line.matches("srq-pingpong +Measures messages over .*"))
                    .anyMatch(line -> line.matches("xsrq-pingpong +Measures messages over .*"))
                    .anyMatch(line -> line.matches("ud-multicast +A datagram to all .*"))
                    .anyMatch(line -> line.matches("atomics +Two processes count .*"))
                    .anyMatch(line -> line.matches("shared-segment +A node stores .*"))
                    .anyMatch(line -> line.matches("borrow-device +Uses a device .*"))
                    .anyMatch(line -> line.matches("message-queue +Messages through .*"))
                    .anyMatch(line -> line.matches("devinfo +The RDMA devices .*"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"rc", "rc.pingpong"})
    void shouldRejectAnUnknownExample(String name) throws Exception {
        try (var launcher = Programs.launch("example", name)) {
            assertThat(launcher.await()).isEqualTo(2);
            assertThat(launcher.output())
                    .startsWith("jrdma: There is no example named %s.".formatted(name));
        }
    }

    @Test
    void shouldRejectAnUnknownCommand() throws Exception {
        try (var launcher = Programs.launch("devises")) {
            assertThat(launcher.await()).isEqualTo(2);
            assertThat(launcher.output())
                    .startsWith(
                            "jrdma: There is no command named devises. Did you mean devices or ")
                    .hasLineCount(1);
        }
    }
}
