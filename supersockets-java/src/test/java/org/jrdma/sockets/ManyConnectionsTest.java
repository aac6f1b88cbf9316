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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** Thousands of connections, both ends of which are on one selector and its thread. */
@ParameterizedClass
@MethodSource("org.jrdma.sockets.Implementation#offered")
@Timeout(180)
class ManyConnectionsTest {

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");
    private static final int CHURNED = QUICK ? 1_000 : 10_000;
    private static final int AT_ONCE = QUICK ? 250 : 1_000;

    /** Fewer for rsockets, each of which has buffers that the device must register. */
    private static final int CHURNED_RSOCKETS = QUICK ? 200 : 1_000;

    private static final int RSOCKETS_AT_ONCE = 200;
    private static final Duration LIMIT = Duration.ofMinutes(2);
    private static final int MORE_DESCRIPTORS = 2;

    @Parameter private Implementation implementation;

    private boolean isRsocket() {
        return implementation == Implementation.RSOCKET;
    }

    @Test
    void shouldOpenAndCloseManyConnectionsWithinTwoMinutes() throws Exception {
        exchange(50, 64, 50); // the first connection creates objects that remain
        var before = descriptors();
        var start = System.nanoTime();

        exchange(isRsocket() ? CHURNED_RSOCKETS : CHURNED, 64, 50);

        assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LIMIT);
        awaitDescriptors(before + MORE_DESCRIPTORS);
    }

    @Test
    void shouldKeepTheBytesOfManyOpenConnectionsApart() throws Exception {
        exchange(50, 64, 50);
        var before = descriptors();

        var count = isRsocket() ? RSOCKETS_AT_ONCE : AT_ONCE;
        var most = exchange(count, 4096, count);

        assertThat(most).isEqualTo(count);
        awaitDescriptors(before + MORE_DESCRIPTORS);
    }

    /**
     * Opens {@code count} connections. When {@code atOnce} of them are open, each sends its own
     * bytes, receives them back, checks them, and is closed.
     *
     * @return the maximum number of open connections
     */
    private int exchange(int count, int bytes, int atOnce) throws Exception {
        var done = new CompletableFuture<Integer>();
        var thread =
                Thread.ofPlatform()
                        .name("the-selector")
                        .start(() -> {
                            try (var exchange =
                                    new Exchange(implementation, count, bytes, atOnce)) {
                                done.complete(exchange.run());
                            } catch (Throwable e) {
                                done.completeExceptionally(e);
                            }
                        });
        var most = done.get(LIMIT.toSeconds() + 30, TimeUnit.SECONDS);
        thread.join();
        return most;
    }

    /**
     * Waits until descriptors are released. Some closes take time: an rsocket's, until the peer has
     * received what was sent.
     */
    private static void awaitDescriptors(long most) throws Exception {
        var deadline = Deadline.after(Duration.ofSeconds(20));
        while (descriptors() > most && !deadline.hasPassed()) {
            Thread.sleep(10);
        }
        assertThat(descriptors()).isLessThanOrEqualTo(most);
    }

    private static long descriptors() throws IOException {
        try (var open = Files.list(Path.of("/proc/self/fd"))) {
            return open.count();
        }
    }

    /**
     * One end of a connection.
     *
     * @param isClient true for the client's end
     * @param number the number of the connection
     * @param buffer the bytes that a client has sent and received back, or that a server's end
     *     still has to send back
     */
    private record End(boolean isClient, int number, ByteBuffer buffer) {}

    private static final class Exchange implements AutoCloseable {

        private final Implementation implementation;
        private final SelectorProvider provider;
        private final int count;
        private final int bytes;
        private final int atOnce;
        private final Selector selector;
        private final ServerSocketChannel listener;
        private final SocketAddress address;
        private final byte[] expected;

        private int opened;
        private int connected;
        private int finished;
        private int serverEnds;
        private int most;

        Exchange(Implementation implementation, int count, int bytes, int atOnce)
                throws IOException {
            this.implementation = implementation;
            provider = implementation.provider();
            this.count = count;
            this.bytes = bytes;
            this.atOnce = atOnce;
            expected = new byte[bytes];
            selector = provider.openSelector();
            listener = provider.openServerSocketChannel().bind(ChannelPair.ANY_PORT, atOnce);
            address = listener.getLocalAddress();
            listener.configureBlocking(false);
            listener.register(selector, SelectionKey.OP_ACCEPT);
        }

        /** Runs until both ends of the last connection are closed. */
        int run() throws IOException {
            while (finished < count || serverEnds > 0) {
                while (opened < count && opened - finished < atOnce) {
                    connect();
                }
                selector.select(this::serve);
            }
            return most;
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

        /** Sends when all connections that are to be open at once are established. */
        private void established(SelectionKey key) throws IOException {
            implementation.assertTransport((SocketChannel) key.channel());
            key.interestOps(0);
            connected++;
            most = Math.max(most, connected - finished);
            if (atOnce < count) {
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
            assertThat(sent).isEqualTo(bytes); // the send buffer of a socket holds these few bytes
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
