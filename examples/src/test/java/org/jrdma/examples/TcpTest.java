package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;

/** What is said where two sides do not find each other. */
class TcpTest {

    @Test
    void shouldNameAHostThatThereIsNot() {
        assertThatThrownBy(() -> Tcp.call("nowhere.invalid", 1))
                .isInstanceOf(IOException.class)
                .hasMessage("There is no host named nowhere.invalid.");
    }

    @Test
    void shouldSayWhoMustBeStartedFirstWhereNobodyListens() throws IOException {
        int free;
        try (var socket = new ServerSocket(0)) {
            free = socket.getLocalPort();
        }
        assertThatThrownBy(() -> Tcp.call("localhost", free))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("Nobody answers on port " + free + " of localhost")
                .hasMessageContaining("must be started first");
    }

    @Test
    void shouldSayHowToChooseAnotherPortWhereOneIsTaken() throws IOException {
        try (var taken = new ServerSocket(0)) {
            var port = taken.getLocalPort();
            assertThatThrownBy(() -> Tcp.listen(port))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("port " + port)
                    .hasMessageContaining("-p");
        }
    }
}
