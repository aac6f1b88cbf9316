package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.processes.Programs;
import org.junit.jupiter.api.Test;

class LauncherTest {

    @Test
    void shouldSayWhatItCanDo() throws Exception {
        try (var launcher = Programs.launch("--help")) {
            assertThat(launcher.await()).isZero();
            assertThat(launcher.output()).startsWith("usage: ./jrdma COMMAND").contains("example");
        }
    }

    @Test
    void shouldListTheExamples() throws Exception {
        try (var launcher = Programs.launch("example")) {
            assertThat(launcher.await()).isZero();
            assertThat(launcher.output().lines())
                    .anyMatch(line -> line.matches("simple-rdma-write +One process writes .*"))
                    .anyMatch(line -> line.matches("rc-pingpong +A message to and fro.*"))
                    .anyMatch(line -> line.matches("uc-pingpong +The same .*"))
                    .anyMatch(line -> line.matches("ud-pingpong +The same with datagrams.*"))
                    .anyMatch(line -> line.matches("srq-pingpong +The same over several.*"))
                    .anyMatch(line -> line.matches("xsrq-pingpong +To and fro over .*"))
                    .anyMatch(line -> line.matches("ud-multicast +A datagram for all .*"))
                    .anyMatch(line -> line.matches("atomics +Two processes count .*"))
                    .anyMatch(line -> line.matches("shared-segment +A piece of memory .*"))
                    .anyMatch(line -> line.matches("message-queue +Messages through .*"))
                    .anyMatch(line -> line.matches("devinfo +What the RDMA devices .*"));
        }
    }

    @Test
    void shouldRefuseAnExampleThatThereIsNot() throws Exception {
        try (var launcher = Programs.launch("example", "rc")) {
            assertThat(launcher.await()).isEqualTo(2);
            assertThat(launcher.output()).startsWith("jrdma: There is no example named rc.");
        }
    }

    @Test
    void shouldRefuseACommandThatThereIsNot() throws Exception {
        try (var launcher = Programs.launch("rc-pingpong")) {
            assertThat(launcher.await()).isEqualTo(2);
            assertThat(launcher.output()).startsWith("jrdma: There is no command named");
        }
    }
}
