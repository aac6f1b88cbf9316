package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import org.jrdma.processes.FreePorts;
import org.junit.jupiter.api.Test;

/** Tests the errors of a side that cannot connect to the other side or cannot listen. */
class ExampleErrorMessageTest {

    @Test
    void shouldReportAnUnknownHost() {
        assertThatThrownBy(() -> AbstractExample.connect("nowhere.invalid", 1))
                .isInstanceOf(IOException.class)
                .hasMessage("There is no host named nowhere.invalid.");
    }

    @Test
    void shouldReportThatTheServerMustBeStartedFirst() throws IOException {
        var free = FreePorts.one();
        assertThatThrownBy(() -> AbstractExample.connect("localhost", free))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("No program listens on port " + free + " of localhost")
                .hasMessageContaining("Start the side without a host first");
    }

    @Test
    void shouldReportHowToSelectAnotherPortIfThePortIsInUse() throws IOException {
        try (var usedPort = new ServerSocket(0)) {
            var port = usedPort.getLocalPort();
            assertThatThrownBy(() -> AbstractExample.listen(port))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("port " + port)
                    .hasMessageContaining("-p");
        }
    }
}
