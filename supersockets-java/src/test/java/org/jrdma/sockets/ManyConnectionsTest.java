package org.jrdma.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests thousands of connections. A single thread with one selector serves the channels of both
 * sides.
 */
@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(180)
class ManyConnectionsTest {

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");
    private static final int CONNECTIONS = QUICK ? 1_000 : 10_000;
    private static final int CONCURRENT_CONNECTIONS = QUICK ? 250 : 1_000;

    /**
     * The number of rsockets. It is smaller, because the device must register buffers for each
     * rsocket.
     */
    private static final int RSOCKETS = QUICK ? 200 : 1_000;

    private static final int CONCURRENT_RSOCKETS = 200;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int EXTRA_DESCRIPTORS = 2;

    @Parameter private Implementation implementation;

    private boolean isRsocket() {
        return implementation == Implementation.RSOCKET;
    }

    @Tag("slow")
    @Test
    void shouldOpenAndCloseManyConnectionsWithinTwoMinutes() throws Exception {
        exchange(50, 64, 50); // Creates the objects that remain after the first connection.
        var before = descriptors();
        var start = System.nanoTime();

        exchange(isRsocket() ? RSOCKETS : CONNECTIONS, 64, 50);

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
        awaitDescriptors(before + EXTRA_DESCRIPTORS);
    }

    @Test
    void shouldKeepTheBytesOfManyOpenConnectionsApart() throws Exception {
        exchange(50, 64, 50);
        var before = descriptors();

        var count = isRsocket() ? CONCURRENT_RSOCKETS : CONCURRENT_CONNECTIONS;
        var maximum = exchange(count, 4096, count);

        assertThat(maximum).isEqualTo(count);
        awaitDescriptors(before + EXTRA_DESCRIPTORS);
    }

    /**
     * Opens {@code count} connections, at most {@code concurrent} of them at a time. Each client
     * sends its own bytes, receives and checks the echo, and closes the connection. If all
     * connections are concurrent, the clients send only after all connections are open.
     *
     * @return the maximum number of open connections
     */
    private int exchange(int count, int bytes, int concurrent) throws Exception {
        var result = new CompletableFuture<Integer>();
        var thread =
                Thread.ofPlatform()
                        .name("the-selector")
                        .start(() -> {
                            try (var exchange =
                                    new Exchange(implementation, count, bytes, concurrent)) {
                                result.complete(exchange.run());
                            } catch (Throwable e) {
                                result.completeExceptionally(e);
                            }
                        });
        var maximum = result.get(LIMIT.toSeconds() + 30, TimeUnit.SECONDS);
        thread.join();
        return maximum;
    }

    /**
     * Waits until descriptors have been released. The close of an rsocket takes time, because it
     * waits until the peer has received all bytes.
     */
    private static void awaitDescriptors(long maximum) throws Exception {
        var deadline = Deadline.after(Duration.ofSeconds(20));
        while (descriptors() > maximum && !deadline.hasPassed()) {
            Thread.sleep(10);
        }
        assertThat(descriptors()).isLessThanOrEqualTo(maximum);
    }

    private static long descriptors() throws IOException {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    /**
     * One side of a connection.
     *
     * @param isClient true for the side of the client
     * @param number the number of the connection
     * @param buffer the bytes that the client has received back, or that the server has received
     *     and sends back
     */
    private record End(boolean isClient, int number, ByteBuffer buffer) {}

    private static final class Exchange implements AutoCloseable {

        private final Implementation implementation;
        private final SelectorProvider provider;
        private final int count;
        private final int bytes;
        private final int concurrent;
        private final Selector selector;
        private final ServerSocketChannel listener;
        private final SocketAddress address;
        private final byte[] expected;

        private int opened;
        private int connected;
        private int finished;
        private int serverEnds;
        private int maximum;

        Exchange(Implementation implementation, int count, int bytes, int concurrent)
                throws IOException {
            this.implementation = implementation;
            provider = implementation.provider();
            this.count = count;
            this.bytes = bytes;
            this.concurrent = concurrent;
            expected = new byte[bytes];
            selector = provider.openSelector();
            listener = provider.openServerSocketChannel().bind(ChannelPair.ANY_PORT, concurrent);
            address = listener.getLocalAddress();
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
        }

        /** Runs until both sides of the last connection are closed. */
        int run() throws IOException {
            while (finished < count || serverEnds > 0) {
                while (opened < count && opened - finished < concurrent) {
                    connect();
                }
                selector.select(this::serve);
            }
            return maximum;
        }

        private void connect() throws IOException {
            var client = provider.openSocketChannel();
            client.configureBlocking(false);
            var number = opened++;
            client.register(
                    selector,
                    SelectionKey.OP_CONNECT,
                    new End(true, number, ByteBuffer.allocate(bytes)));
            if (client.connect(address)) {
                established(client.keyFor(selector));
            }
        }

        private void serve(SelectionKey key) {
            try {
                if (key.isAcceptable()) {
                    accept();
                } else if (key.isConnectable()) {
                    ((SocketChannel) key.channel()).finishConnect();
                    established(key);
                } else if (((End) key.attachment()).isClient()) {
                    receive(key);
                } else {
                    echo(key);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private void accept() throws IOException {
            for (var end = listener.accept(); end != null; end = listener.accept()) {
                implementation.assertTransport(end);
                end.configureBlocking(false);
                end.register(
                        selector,
                        SelectionKey.OP_READ,
                        new End(false, 0, ByteBuffer.allocate(bytes)));
                serverEnds++;
            }
        }

        /**
         * Sends the bytes of an established connection. If all connections are concurrent, no
         * client sends before all connections are established.
         */
        private void established(SelectionKey key) throws IOException {
            implementation.assertTransport((SocketChannel) key.channel());
            key.interestOps(0);
            connected++;
            maximum = Math.max(maximum, connected - finished);
            if (concurrent < count) {
                send(key);
            } else if (connected == count) {
                for (var each : selector.keys()) {
                    if (each.attachment() instanceof End end && end.isClient()) {
                        send(each);
                    }
                }
            }
        }

        private void send(SelectionKey key) throws IOException {
            var end = (End) key.attachment();
            var sent = ((SocketChannel) key.channel()).write(ByteBuffer.wrap(bytesOf(end.number)));
            // The few bytes fit into the send buffer of a socket.
            assertThat(sent).isEqualTo(bytes);
            key.interestOps(SelectionKey.OP_READ);
        }

        private byte[] bytesOf(int number) {
            for (var i = 0; i < bytes; i++) {
                expected[i] = (byte) (number * 31 + (number >>> 8) + i * 7 + (i >>> 8));
            }
            return expected;
        }

        private void receive(SelectionKey key) throws IOException {
            var end = (End) key.attachment();
            var read = ((SocketChannel) key.channel()).read(end.buffer);
            assertThat(read).as("connection %d", end.number).isNotNegative();
            if (!end.buffer.hasRemaining()) {
                assertThat(end.buffer.flip())
                        .as("connection %d", end.number)
                        .isEqualTo(ByteBuffer.wrap(bytesOf(end.number)));
                key.channel().close();
                finished++;
            }
        }

        private void echo(SelectionKey key) throws IOException {
            var channel = (SocketChannel) key.channel();
            var buffer = ((End) Objects.requireNonNull(key.attachment())).buffer;
            if (channel.read(buffer) < 0) {
                channel.close();
                serverEnds--;
                return;
            }
            buffer.flip();
            channel.write(buffer);
            assertThat(buffer.hasRemaining()).isFalse();
            buffer.clear();
        }

        @Override
        public void close() throws IOException {
            for (var key : selector.keys()) {
                key.channel().close();
            }
            selector.close();
        }
    }
}
