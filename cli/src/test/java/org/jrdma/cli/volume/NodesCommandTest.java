package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringWriter;
import org.jrdma.cli.JrdmaInProcess;
import org.junit.jupiter.api.Test;

class NodesCommandTest {

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    private int execute(String... words) {
        return JrdmaInProcess.run(output, errors, words);
    }

    @Test
    void shouldReportThatNoCoordinatorResponds() {
        assertThat(execute("volume", "nodes", "-t", "sockets", "-s", "127.0.0.1:1")).isOne();
        assertThat(output)
                .hasToString(
                        """
                        sockets:127.0.0.1:1: unreachable
                          Cannot connect to sockets:127.0.0.1:1: Connection refused
                        No coordinator responds. It can be a server that --servers does not contain.
                        """);
    }

    @Test
    void shouldReportAMissingConfigurationFile() {
        assertThat(execute("volume", "nodes", "-c", "/missing")).isOne();
        assertThat(errors).asString().isEqualTo("The settings file /missing does not exist.\n");
    }
}
