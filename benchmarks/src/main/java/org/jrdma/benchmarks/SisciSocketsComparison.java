package org.jrdma.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.channels.spi.SelectorProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.FabricSelectorProvider;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.Transports;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/**
 * Compares streams over SISCI on the software fabric with the JDK's streams over TCP loopback. Both
 * kinds of streams connect two processes with blocking channels. They take turns in three
 * workloads: a ping-pong whose receiver is still spinning when a message arrives, a ping-pong whose
 * receiver has parked, and a one-way stream. Also measures the processor time of idle streams.
 */
public final class SisciSocketsComparison {

    private static final int NODE = 4;
    private static final int BYTES = 64;
    private static final int STREAM_BYTES = 256 * 1024 * 1024;
    private static final int TURNS = 61;
    private static final int TURNS_TO_WARM_UP = 60;
    private static final int STREAM_TURNS = 11;
    private static final int STREAM_TURNS_TO_WARM_UP = 5;
    private static final int ROUNDS = 500;
    private static final int SLOW_ROUNDS = 50;
    private static final int IDLE_STREAMS = 1_000;

    /** The time before the measurement of idle streams, in which the JIT compiler becomes idle. */
    private static final Duration SETTLING = Duration.ofSeconds(8);

    /** Long, because the kernel reports processor time in steps of 10 ms. */
    private static final Duration IDLE = Duration.ofSeconds(20);

    /** The pause before a message to a parked receiver. It is longer than a receiver spins. */
    private static final long PAUSE_NANOS = 1_000_000;

    private SisciSocketsComparison() {}

    /** Prints a table. With a folder as an argument, runs as the second process. */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            answer(Path.of(arguments[0]));
            return;
        }
        var folder = Files.createTempDirectory(Path.of("/dev/shm"), "sockets-benchmark");
        Files.createFile(hosts(folder));
        var child = ChildProcess.start(SisciSocketsComparison.class, folder);
        try {
            var ports = child.inputReader().readLine().split(" ", -1);
            compare(folder, Integer.parseInt(ports[0]), Integer.parseInt(ports[1]), child);
            child.getOutputStream().close();
            child.waitFor();
        } finally {
            child.destroyForcibly().waitFor();
            Files.delete(hosts(folder));
        }
    }

    /**
     * Returns the path of the host table. The table is empty, because the addresses of this machine
     * belong to its own node.
     */
    static Path hosts(Path folder) {
        return Path.of(folder + ".hosts");
    }

    static SelectorProvider sisci(Path folder) throws IOException {
        var options = SoftSisciOptions.in(folder).node(NODE);
        return new FabricSelectorProvider(
                List.of(Transports.sisci(Sisci.from(new SoftSisci(options)), hosts(folder))));
    }

    private static void compare(Path folder, int sisciPort, int tcpPort, Process child)
            throws Exception {
        var fabric = sisci(folder);
        try (var sisci = connect(fabric, sisciPort);
                var tcp = connect(SelectorProvider.provider(), tcpPort)) {
            var connection = OpenConnections.of(sisci);
            if (!connection.toString().contains("sisci")) {
                throw new IllegalStateException("The connection does not use SISCI: " + connection);
            }
            System.out.println("| between two processes | SISCI | JDK, TCP | ratio | bound |");
            System.out.println("|---|---|---|---|---|");
            compare("round trip of 64 bytes, us", sisci, tcp, ROUNDS, 0, "at most 0.5");
            compare(
                    "round trip of 64 bytes whose receiver has parked, us",
                    sisci,
                    tcp,
                    SLOW_ROUNDS,
                    PAUSE_NANOS,
                    "at most 1.1");
            for (var kibibytes : List.of(64, 1024)) {
                compareStreams(kibibytes, sisci, tcp);
            }
            var idle = new ArrayList<SocketChannel>();
            for (var i = 0; i < IDLE_STREAMS; i++) {
                idle.add(connect(fabric, sisciPort));
            }
            System.out.printf(
                    Locale.ROOT,
                    "| %,d idle streams, of both processes, %% of a processor | %.2f | | | below 1.00 |%n",
                    IDLE_STREAMS,
                    idlePercent(child.toHandle()));
            compare(
                    "round trip of 64 bytes whose receiver has parked, beside the idle streams, us",
                    sisci,
                    tcp,
                    SLOW_ROUNDS,
                    PAUSE_NANOS,
                    "at most 1.1");
            for (var channel : idle) {
                channel.close();
            }
        }
    }

    private static SocketChannel connect(SelectorProvider provider, int port) throws IOException {
        var channel = provider.openSocketChannel();
        channel.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
    }

    private static void compare(
            String what,
            SocketChannel sisci,
            SocketChannel tcp,
            int rounds,
            long pauseNanos,
            String bound)
            throws IOException {
        var own = new double[TURNS];
        var baseline = new double[TURNS];
        for (var turn = -TURNS_TO_WARM_UP; turn < TURNS; turn++) {
            var micros = microsOfOne(sisci, rounds, pauseNanos);
            var baselineMicros = microsOfOne(tcp, rounds, pauseNanos);
            if (turn >= 0) {
                own[turn] = micros;
                baseline[turn] = baselineMicros;
            }
        }
        ComparisonRowPrinter.print(what, own, baseline, bound);
    }

    private static void compareStreams(int kibibytes, SocketChannel sisci, SocketChannel tcp)
            throws IOException {
        var own = new double[STREAM_TURNS];
        var baseline = new double[STREAM_TURNS];
        for (var turn = -STREAM_TURNS_TO_WARM_UP; turn < STREAM_TURNS; turn++) {
            var rate = megabytesPerSecond(sisci, kibibytes * 1024);
            var baselineRate = megabytesPerSecond(tcp, kibibytes * 1024);
            if (turn >= 0) {
                own[turn] = rate;
                baseline[turn] = baselineRate;
            }
        }
        ComparisonRowPrinter.print(
                "%,d KiB at a time, MB/s".formatted(kibibytes), own, baseline, "at least 1.5");
    }

    /** Sends {@link #STREAM_BYTES}, which the other process confirms by one byte. */
    private static double megabytesPerSecond(SocketChannel channel, int length) throws IOException {
        var request = ByteBuffer.allocateDirect(BYTES).putInt(0, length);
        channel.write(request);
        var buffer = ByteBuffer.allocateDirect(length);
        var start = System.nanoTime();
        for (var sent = 0L; sent < STREAM_BYTES; sent += length) {
            channel.write(buffer.clear());
        }
        fill(channel, request.clear().limit(1));
        return STREAM_BYTES / 1e6 / ((System.nanoTime() - start) / 1e9);
    }

    /**
     * Returns the median time of a round trip in microseconds. Before each round trip, this thread
     * spins for {@code pauseNanos}.
     */
    private static double microsOfOne(SocketChannel channel, int rounds, long pauseNanos)
            throws IOException {
        var buffer = ByteBuffer.allocateDirect(BYTES);
        var micros = new double[rounds];
        for (var round = 0; round < rounds; round++) {
            for (var start = System.nanoTime(); System.nanoTime() - start < pauseNanos; ) {
                Thread.onSpinWait();
            }
            var start = System.nanoTime();
            channel.write(buffer.clear());
            fill(channel, buffer.clear());
            micros[round] = (System.nanoTime() - start) / 1e3;
        }
        return Median.of(micros);
    }

    private static boolean fill(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns the processor time that both processes use while their streams are idle, in percent
     * of one processor.
     */
    private static double idlePercent(ProcessHandle child) throws InterruptedException {
        Thread.sleep(SETTLING);
        var used = cpuNanos(ProcessHandle.current()) + cpuNanos(child);
        var start = System.nanoTime();
        Thread.sleep(IDLE);
        used = cpuNanos(ProcessHandle.current()) + cpuNanos(child) - used;
        return 100.0 * used / (System.nanoTime() - start);
    }

    private static long cpuNanos(ProcessHandle process) {
        return process.info().totalCpuDuration().orElseThrow().toNanos();
    }

    /**
     * Runs the second process, which prints its ports. It echoes messages whose first word is 0.
     * The first word of another message is the length of the reads by which it receives a stream.
     */
    private static void answer(Path folder) throws IOException {
        var ports = new ArrayList<String>();
        for (var provider : Arrays.asList(sisci(folder), SelectorProvider.provider())) {
            var listener = provider.openServerSocketChannel();
            listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
            ports.add(Integer.toString(listener.socket().getLocalPort()));
            Thread.ofPlatform().daemon().start(() -> accept(listener));
        }
        System.out.println(String.join(" ", ports));
        var _ = System.in.read(); // Waits until the first process closes this stream.
    }

    private static void accept(ServerSocketChannel listener) {
        try {
            while (true) {
                var channel = listener.accept();
                Thread.ofPlatform().daemon().start(() -> echo(channel));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void echo(SocketChannel channel) {
        try (channel) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            var buffer = ByteBuffer.allocateDirect(BYTES);
            while (fill(channel, buffer.clear())) {
                var length = buffer.getInt(0);
                if (length == 0) {
                    channel.write(buffer.flip());
                } else {
                    receive(channel, length);
                    channel.write(buffer.clear().limit(1));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void receive(SocketChannel channel, int length) throws IOException {
        var buffer = ByteBuffer.allocateDirect(length);
        for (var received = 0L; received < STREAM_BYTES; received += length) {
            fill(channel, buffer.clear());
        }
    }
}
