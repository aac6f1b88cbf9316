package org.jrdma.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.util.List;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.Transports;

/**
 * Compares channels of the SDK over TCP with channels of the JDK, in one process over loopback. The
 * SDK and the JDK take short turns in alternating order, and the medians are compared.
 */
public final class SdkAndJdkTcpComparison {

    private static final int ROUNDS = 41;
    private static final int ROUNDS_TO_WARM_UP = 6;
    private static final int SMALL_BYTES = 64;
    private static final int LARGE_BYTES = 64 * 1024;
    private static final int TURNS = 2_000;
    private static final long STREAM_BYTES = 256L << 20;

    private static final SelectorProvider JDK = SelectorProvider.provider();
    private static final SelectorProvider SDK =
            new FabricSelectorProvider(List.of(Transports.tcp()));

    private SdkAndJdkTcpComparison() {}

    /**
     * Sets the mode of a channel (blocking or not), and opens an object that waits until the
     * channel is ready.
     */
    private interface Mode {
        Ready open(SocketChannel channel, int operation) throws IOException;
    }

    /** Waits until a channel is ready, after a read or a write has transferred 0 bytes. */
    private interface Ready extends AutoCloseable {
        void await() throws IOException;

        @Override
        default void close() throws IOException {}
    }

    private static Ready blocking(SocketChannel channel, int operation) {
        return () -> {
            throw new IllegalStateException("A blocking channel did not block.");
        };
    }

    private static Ready selecting(SocketChannel channel, int operation) throws IOException {
        channel.configureBlocking(false);
        var selector = channel.provider().openSelector();
        channel.register(selector, operation);
        return new Selecting(selector);
    }

    private record Selecting(Selector selector) implements Ready {
        @Override
        public void await() throws IOException {
            selector.select();
            selector.selectedKeys().clear();
        }

        @Override
        public void close() throws IOException {
            selector.close();
        }
    }

    /** Prints a table. */
    public static void main(String... arguments) throws Exception {
        System.out.println("| workload | SDK | JDK | ratio | bound |");
        System.out.println("|---|---|---|---|---|");
        var platform = Thread.ofPlatform();
        var virtual = Thread.ofVirtual();
        compare(
                "round trip of 64 bytes, us; blocking, platform threads",
                provider -> pingPong(provider, platform, SdkAndJdkTcpComparison::blocking),
                Runtime.getRuntime().availableProcessors() == 1 ? "at most 1.05" : "at most 1.1");
        compare(
                "round trip of 64 bytes, us; selectors",
                provider -> pingPong(provider, platform, SdkAndJdkTcpComparison::selecting),
                "at most 1.1");
        compare(
                "round trip of 64 bytes, us; blocking, virtual threads",
                provider -> pingPong(provider, virtual, SdkAndJdkTcpComparison::blocking),
                "at most 1.2");
        compare(
                "64 KiB at a time, MB/s; blocking, platform threads",
                provider -> stream(provider, SdkAndJdkTcpComparison::blocking),
                "at least 0.95");
        compare(
                "64 KiB at a time, MB/s; selectors",
                provider -> stream(provider, SdkAndJdkTcpComparison::selecting),
                "at least 0.95");
    }

    private interface Measurement {
        double take(SelectorProvider provider) throws Exception;
    }

    private static void compare(String what, Measurement measurement, String bound)
            throws Exception {
        for (var round = 0; round < ROUNDS_TO_WARM_UP; round++) {
            measurement.take(SDK);
            measurement.take(JDK);
        }
        var own = new double[ROUNDS];
        var baseline = new double[ROUNDS];
        for (var round = 0; round < ROUNDS; round++) {
            if (round % 2 == 0) {
                own[round] = measurement.take(SDK);
                baseline[round] = measurement.take(JDK);
            } else {
                baseline[round] = measurement.take(JDK);
                own[round] = measurement.take(SDK);
            }
        }
        ComparisonRowPrinter.print(what, own, baseline, bound);
    }

    /** The code that runs at one end of a connection and returns a measurement. */
    private interface End {
        double run(SocketChannel channel) throws Exception;
    }

    /**
     * Connects two channels to each other, and runs {@code first} and {@code second} at their ends,
     * each on its own thread. Returns the value that {@code first} measured.
     */
    private static double between(
            SelectorProvider provider, Thread.Builder threads, End first, End second)
            throws Exception {
        try (var listener = provider.openServerSocketChannel();
                var one = provider.openSocketChannel()) {
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            one.connect(listener.getLocalAddress());
            try (var other = listener.accept()) {
                var result = new double[1];
                var thread =
                        threads.start(() -> {
                            try {
                                result[0] = first.run(one);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        });
                var echo =
                        threads.start(() -> {
                            try {
                                second.run(other);
                            } catch (Exception e) {
                                throw new IllegalStateException(e);
                            }
                        });
                thread.join();
                echo.join();
                return result[0];
            }
        }
    }

    private static double pingPong(SelectorProvider provider, Thread.Builder threads, Mode mode)
            throws Exception {
        return between(
                provider,
                threads,
                channel -> {
                    try (var ready = mode.open(channel, SelectionKey.OP_READ)) {
                        var buffer = ByteBuffer.allocateDirect(SMALL_BYTES);
                        var micros = 0.0;
                        for (var part = 0; part < 2; part++) { // the first part is a warm-up
                            var start = System.nanoTime();
                            for (var turn = 0; turn < TURNS; turn++) {
                                channel.write(buffer.clear());
                                fill(channel, buffer.clear(), ready);
                            }
                            micros = (System.nanoTime() - start) / 1e3 / TURNS;
                        }
                        channel.shutdownOutput();
                        return micros;
                    }
                },
                channel -> {
                    try (var ready = mode.open(channel, SelectionKey.OP_READ)) {
                        var buffer = ByteBuffer.allocateDirect(SMALL_BYTES);
                        while (fill(channel, buffer.clear(), ready)) {
                            channel.write(buffer.flip());
                        }
                        return 0;
                    }
                });
    }

    /** Reads until the buffer is full. Returns false at the end of the stream. */
    private static boolean fill(SocketChannel channel, ByteBuffer buffer, Ready ready)
            throws IOException {
        while (buffer.hasRemaining()) {
            var count = channel.read(buffer);
            if (count < 0) {
                return false;
            }
            if (count == 0) {
                ready.await();
            }
        }
        return true;
    }

    private static double stream(SelectorProvider provider, Mode mode) throws Exception {
        return between(
                provider,
                Thread.ofPlatform(),
                channel -> {
                    try (var ready = mode.open(channel, SelectionKey.OP_READ)) {
                        var buffer = ByteBuffer.allocateDirect(LARGE_BYTES);
                        var received = 0L;
                        var start = System.nanoTime();
                        while (fill(channel, buffer.clear(), ready)) {
                            received += LARGE_BYTES;
                        }
                        return received / 1e6 / ((System.nanoTime() - start) / 1e9);
                    }
                },
                channel -> {
                    try (var ready = mode.open(channel, SelectionKey.OP_WRITE)) {
                        var buffer = ByteBuffer.allocateDirect(LARGE_BYTES);
                        for (var sent = 0L; sent < STREAM_BYTES; sent += LARGE_BYTES) {
                            buffer.clear();
                            while (buffer.hasRemaining()) {
                                if (channel.write(buffer) == 0) {
                                    ready.await();
                                }
                            }
                        }
                        channel.shutdownOutput();
                        return 0;
                    }
                });
    }
}
