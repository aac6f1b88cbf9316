package org.jrdma.benchmarks;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * Compares the software fabric between two processes with the JDK's channels between the same
 * processes. They take turns. With {@code -Djrdma.soft.sharedmemory=off}, the packets of the
 * software fabric use UDP, otherwise shared memory.
 */
public final class SoftVerbsProcessesComparison {

    private static final int SMALL_BYTES = 64;
    private static final int LARGE_BYTES = 1 << 20;
    private static final int DEPTH = 64;
    private static final int ROUND_TRIPS = 10_000;
    private static final int WRITES = 256;
    private static final int TURNS = 15;
    private static final int TURNS_TO_WARM_UP = 10;
    private static final String PROPERTY = "jrdma.soft.sharedmemory";

    private final CompletionQueue completions;
    private final CompletionCursor cursor;
    private final PolledQueuePair queuePair;
    private final MemoryRegion region;
    private final DatagramChannel datagrams;
    private final SocketChannel stream;
    private RemoteMemory remote;

    private SoftVerbsProcessesComparison(SocketChannel stream, DatagramChannel datagrams)
            throws IOException {
        this.stream = stream;
        this.datagrams = datagrams;
        var device = Verbs.from(SoftRoce.onLoopback(1)).openFirst();
        var domain = device.newProtectionDomain();
        region = domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE).region(2 * LARGE_BYTES);
        completions = device.newCompletionQueue(4 * DEPTH);
        cursor = completions.newCursor(32);
        queuePair =
                domain.newQueuePair(
                        QueuePairOptions.reliable(completions).sends(DEPTH).receives(DEPTH));
    }

    /** Prints a table. With a port as an argument, runs as the second process. */
    public static void main(String... arguments) throws Exception {
        if (arguments.length > 0) {
            answer(Integer.parseInt(arguments[0]));
            return;
        }
        try (var listener = ServerSocketChannel.open().bind(anyPort())) {
            var child =
                    ChildProcess.start(
                            SoftVerbsProcessesComparison.class,
                            ((InetSocketAddress) listener.getLocalAddress()).getPort(),
                            "-D%s=%s".formatted(PROPERTY, System.getProperty(PROPERTY, "on")));
            try (var stream = listener.accept();
                    var datagrams = DatagramChannel.open().bind(anyPort())) {
                new SoftVerbsProcessesComparison(stream, datagrams).connect().compare();
            } finally {
                child.destroyForcibly().waitFor();
            }
        }
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    /** Exchanges the addresses with the other process, and connects. */
    private SoftVerbsProcessesComparison connect() throws IOException {
        stream.setOption(StandardSocketOptions.TCP_NODELAY, true);
        var port = ((InetSocketAddress) datagrams.getLocalAddress()).getPort();
        var line = "%s %s %d".formatted(queuePair.endpoint(), region.remote(), port);
        var bytes = ByteBuffer.allocate(512).put(line.getBytes(StandardCharsets.US_ASCII));
        stream.write(bytes.clear());
        fill(stream, bytes.clear());
        var peer = new String(bytes.array(), StandardCharsets.US_ASCII).trim().split(" ", -1);
        queuePair.connect(Endpoint.parse(peer[0]));
        remote = RemoteMemory.parse(peer[1]);
        datagrams.connect(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), Integer.parseInt(peer[2])));
        datagrams.configureBlocking(false);
        return this;
    }

    /** A workload whose other end the second process runs. */
    private interface Measurement {
        double take() throws IOException;
    }

    private void compare() throws IOException {
        System.out.println("| between two processes | software fabric | JDK | ratio | bound |");
        System.out.println("|---|---|---|---|---|");
        var overUdp = "off".equals(System.getProperty("jrdma.soft.sharedmemory"));
        compare(
                "SEND of 64 bytes, round trip, us; spinning DatagramChannel",
                () -> roundTrip('s'),
                () -> roundTrip('d'),
                overUdp ? "at most 1.5" : "at most 0.5");
        compare(
                "WRITE of 1 MiB, MB/s; TCP",
                this::writeRate,
                this::streamRate,
                overUdp ? "" : "at least 2");
    }

    private static void compare(String what, Measurement fabric, Measurement jdk, String bound)
            throws IOException {
        var own = new double[TURNS];
        var baseline = new double[TURNS];
        for (var turn = -TURNS_TO_WARM_UP; turn < TURNS; turn++) {
            var value = fabric.take();
            var baselineValue = jdk.take();
            if (turn >= 0) {
                own[turn] = value;
                baseline[turn] = baselineValue;
            }
        }
        ComparisonRowPrinter.print(what, own, baseline, bound);
    }

    /** Names the next workload to the second process, and waits until it has prepared it. */
    private void start(char workload) throws IOException {
        var word = ByteBuffer.allocate(1).put((byte) workload);
        stream.write(word.flip());
        fill(stream, word.clear());
    }

    private double roundTrip(char workload) throws IOException {
        if (workload == 's') {
            queuePair.prepareReceive(region.slice(0, SMALL_BYTES)).tryPost();
        }
        start(workload);
        var begin = System.nanoTime();
        if (workload == 's') {
            sendAndReceive(true);
        } else {
            exchangeDatagrams(true);
        }
        var micros = (System.nanoTime() - begin) / 1e3 / ROUND_TRIPS;
        if (workload == 's') {
            drain();
        }
        return micros;
    }

    private void sendAndReceive(boolean first) throws VerbsException {
        var receive = queuePair.prepareReceive(region.slice(0, SMALL_BYTES));
        var send = queuePair.prepareSend(region.slice(SMALL_BYTES, SMALL_BYTES));
        for (var turn = 0; turn < ROUND_TRIPS; turn++) {
            var last = turn == ROUND_TRIPS - 1;
            if (first) {
                send.signaled(turn % 16 == 0).tryPost();
            }
            awaitReceive();
            if (!last) {
                receive.tryPost();
            }
            if (!first) {
                send.signaled(turn % 16 == 0).tryPost();
            }
        }
    }

    /** Polls until the last message that this program has sent has been acknowledged. */
    private void drain() {
        for (var end = System.nanoTime() + 1_000_000; System.nanoTime() < end; ) {
            cursor.poll();
            while (cursor.next()) {
                checkSuccess();
            }
        }
    }

    private void awaitReceive() {
        while (true) {
            while (cursor.next()) {
                checkSuccess();
                if (cursor.kind() == CompletionKind.RECEIVE) {
                    return;
                }
            }
            cursor.poll();
        }
    }

    private void checkSuccess() {
        if (!cursor.isSuccess()) {
            throw new IllegalStateException("A request completed with " + cursor.status());
        }
    }

    private void exchangeDatagrams(boolean first) throws IOException {
        var buffer = ByteBuffer.allocateDirect(SMALL_BYTES);
        for (var turn = 0; turn < ROUND_TRIPS; turn++) {
            if (first) {
                datagrams.write(buffer.clear());
            }
            while (datagrams.read(buffer.clear()) == 0) {
                Thread.onSpinWait();
            }
            if (!first) {
                datagrams.write(buffer.clear());
            }
        }
    }

    private double writeRate() throws IOException {
        start('w');
        var write = queuePair.prepareWrite(region.slice(0, LARGE_BYTES), remote);
        var begin = System.nanoTime();
        var posted = 0;
        for (var done = 0; done < WRITES; ) {
            while (posted < WRITES && posted - done < 4 && write.tryPost()) {
                posted++;
            }
            cursor.poll();
            while (cursor.next()) {
                checkSuccess();
                done++;
            }
        }
        return megabytesPerSecond(begin);
    }

    private double streamRate() throws IOException {
        start('t');
        var buffer = ByteBuffer.allocateDirect(LARGE_BYTES);
        var begin = System.nanoTime();
        for (var i = 0; i < WRITES; i++) {
            buffer.clear();
            while (buffer.hasRemaining()) {
                stream.write(buffer);
            }
        }
        fill(stream, buffer.clear().limit(1));
        return megabytesPerSecond(begin);
    }

    private static double megabytesPerSecond(long begin) {
        return (double) WRITES * LARGE_BYTES / 1e6 / ((System.nanoTime() - begin) / 1e9);
    }

    private static boolean fill(SocketChannel channel, ByteBuffer buffer) throws IOException {
        while (buffer.hasRemaining()) {
            if (channel.read(buffer) < 0) {
                return false;
            }
        }
        return true;
    }

    private static void answer(int port) throws IOException {
        try (var stream =
                        SocketChannel.open(
                                new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                var datagrams = DatagramChannel.open().bind(anyPort())) {
            new SoftVerbsProcessesComparison(stream, datagrams).connect().answer();
        }
    }

    private void answer() throws IOException {
        var word = ByteBuffer.allocate(1);
        var buffer = ByteBuffer.allocateDirect(LARGE_BYTES);
        while (fill(stream, word.clear())) {
            var workload = (char) word.get(0);
            if (workload == 's') {
                queuePair.prepareReceive(region.slice(0, SMALL_BYTES)).tryPost();
            }
            stream.write(word.flip());
            switch (workload) {
                case 's' -> {
                    sendAndReceive(false);
                    drain();
                }
                case 'd' -> exchangeDatagrams(false);
                case 't' -> {
                    for (var i = 0; i < WRITES; i++) {
                        fill(stream, buffer.clear());
                    }
                    stream.write(word.clear());
                }
                default -> {} // The other process writes into the memory of this process.
            }
        }
    }
}
