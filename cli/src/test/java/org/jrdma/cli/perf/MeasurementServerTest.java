package org.jrdma.cli.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class MeasurementServerTest {

    private static final Path PATH =
            new Path(
                    "idle", "nothing", 1, 64, false, Optional.empty(), (_, _, _) -> new NoOpLink());

    private final TestPeer server;
    private final Deque<ControlChannel> callers = new ArrayDeque<>();

    MeasurementServerTest() throws IOException {
        server = new TestPeer(PATH);
    }

    @AfterEach
    void disconnect() throws Exception {
        for (var caller : callers) {
            caller.close();
        }
        server.close();
    }

    private ControlChannel call(String from) throws IOException {
        var socket = new Socket();
        socket.bind(new InetSocketAddress(from, 0));
        socket.connect(server.socketAddress());
        callers.add(new ControlChannel(socket));
        return callers.getLast();
    }

    private ControlChannel open(String from) throws IOException {
        var caller = call(from);
        assertThat(caller.exchange("open idle 8")).isEqualTo(MeasuringSide.DONE);
        return caller;
    }

    @Test
    void shouldServeACallerWhileAnotherOneKeepsItsPathOpen() throws Exception {
        open("127.0.0.1");

        open("127.0.0.2");
    }

    @Test
    void shouldRefuseFurtherCallersOfAnAddressUntilOneDisconnects() throws Exception {
        open("127.0.0.1");
        var second = open("127.0.0.1");

        assertThatIOException()
                .isThrownBy(() -> call("127.0.0.1").receive())
                .withMessageContaining("8 callers at a time, 2 of each address");
        open("127.0.0.2");

        assertThat(second.exchange(MeasuringSide.CLOSE)).isEqualTo(MeasuringSide.DONE);
        second.close();
        openAfterRefusals("127.0.0.1");
    }

    /** Calls until the server has noticed that an earlier caller has disconnected. */
    private void openAfterRefusals(String from) {
        for (var isOpen = false; !isOpen; ) {
            try {
                open(from);
                isOpen = true;
            } catch (IOException _) {
                Thread.onSpinWait();
            }
        }
    }

    @Test
    void shouldRefuseTheNinthCaller() throws Exception {
        for (var host = 1; host <= MeasurementServer.MAX_CALLERS; host++) {
            open("127.0.0." + host);
        }

        assertThatIOException()
                .isThrownBy(() -> call("127.0.0.9").receive())
                .withMessageContaining("The server is busy");
    }

    @Test
    void shouldEndWhenTheListenerIsClosed() throws Exception {
        var listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        listener.close();
        var idle = new MeasurementServer(List.of(PATH), new PrintWriter(Writer.nullWriter()));

        assertThatIOException().isThrownBy(() -> idle.serve(listener));
    }
}
