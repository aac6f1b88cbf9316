package org.jrdma.sockets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests rsockets against rstream, a C program of rdmacm-utils that sends consecutive byte values.
 */
@Tag("real-kernel")
@Timeout(60)
class RstreamTest {

    private static final InetAddress ADDRESS = InetAddress.ofLiteral("10.77.0.1");
    private static final List<Transport> RSOCKET = List.of(Transports.rsocket());

    /** The number of bytes that each side sends before the transfers. */
    private static final int FIRST_MESSAGE = 16;

    private static final int TRANSFER = 40_000;
    private static final int TRANSFERS = 50;
    private static final int ITERATIONS = 2;

    private static Process rstream(int port, String... options) throws IOException {
        var command = new ArrayList<>(List.of("rstream", "-p", Integer.toString(port)));
        command.addAll(
                List.of(
                        "-S",
                        Integer.toString(TRANSFER),
                        "-C",
                        Integer.toString(TRANSFERS),
                        "-I",
                        Integer.toString(ITERATIONS),
                        "-T",
                        "verify",
                        "-T",
                        "blocking"));
        command.addAll(List.of(options));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    /**
     * Sends and checks consecutive byte values like rstream. The values continue from one transfer
     * to the next, separately for each direction.
     */
    private static final class Counting {

        private final SocketChannel channel;
        private byte sent;
        private byte received;

        Counting(SocketChannel channel) {
            this.channel = channel;
        }

        void send(int bytes) throws IOException {
            var buffer = ByteBuffer.allocateDirect(bytes);
            while (buffer.hasRemaining()) {
                buffer.put(sent++);
            }
            channel.write(buffer.flip());
        }

        void receive(int bytes) throws IOException {
            var buffer = ByteBuffer.allocate(bytes);
            while (buffer.hasRemaining()) {
                assertThat(channel.read(buffer)).isPositive();
            }
            for (var value : buffer.array()) {
                assertThat(value).isEqualTo(received++);
            }
        }
    }

    private static void assertSucceeded(Process rstream) throws Exception {
        var output = new String(rstream.getInputStream().readAllBytes(), UTF_8);
        assertThat(rstream.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(output).doesNotContain("failed").contains("Gb/sec");
        assertThat(rstream.exitValue()).as(output).isZero();
    }

    @Test
    void shouldServeAnRstreamClient() throws Exception {
        try (var listener = FabricSockets.listen(new InetSocketAddress(ADDRESS, 0), RSOCKET)) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            var client = rstream(port, "-s", ADDRESS.getHostAddress());
            try (var channel = listener.accept()) {
                assertThat(OpenConnections.of(channel).transport()).isEqualTo("rsocket");
                var stream = new Counting(channel);
                stream.receive(FIRST_MESSAGE);
                stream.send(FIRST_MESSAGE);
                for (var i = 0; i < ITERATIONS; i++) {
                    stream.receive(TRANSFERS * TRANSFER);
                    stream.send(TRANSFERS * TRANSFER);
                }
                assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
                assertSucceeded(client);
            } finally {
                client.destroyForcibly();
            }
        }
    }

    @Test
    void shouldConnectToAnRstreamServer() throws Exception {
        var port = freePort();
        var server = rstream(port, "-b", ADDRESS.getHostAddress());
        try (var channel = connectWhenItListens(port)) {
            var stream = new Counting(channel);
            stream.send(FIRST_MESSAGE);
            stream.receive(FIRST_MESSAGE);
            for (var i = 0; i < ITERATIONS; i++) {
                stream.send(TRANSFERS * TRANSFER);
                stream.receive(TRANSFERS * TRANSFER);
            }
            assertThat(channel.read(ByteBuffer.allocate(1))).isEqualTo(-1);
            assertSucceeded(server);
        } finally {
            server.destroyForcibly();
        }
    }

    private static FabricSocketChannel connectWhenItListens(int port) throws Exception {
        var deadline = Deadline.after(ofSeconds(20));
        while (true) {
            try {
                return FabricSockets.connect(ADDRESS.getHostAddress(), port, RSOCKET, ofSeconds(5));
            } catch (FabricException e) {
                if (deadline.hasPassed()) {
                    throw e;
                }
                Thread.sleep(50);
            }
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0, 1, ADDRESS)) {
            return socket.getLocalPort();
        }
    }
}
