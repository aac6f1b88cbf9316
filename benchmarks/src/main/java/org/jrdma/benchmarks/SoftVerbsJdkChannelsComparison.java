package org.jrdma.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jrdma.soft.roce.SoftRoce;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.VerbsException;

/**
 * Compares the software fabric on loopback with the JDK's channels in the same process. Each result
 * is the median of several rounds. The software fabric and its baseline take turns.
 */
public final class SoftVerbsJdkChannelsComparison {

    private static final int ROUNDS = 7;
    private static final int SMALL_BYTES = 64;
    private static final int LARGE_BYTES = 1 << 20;
    private static final int PAGE_BYTES = 4096;

    private static volatile boolean over;

    private SoftVerbsJdkChannelsComparison() {}

    /** Prints a table. */
    public static void main(String... arguments) throws Exception {
        System.out.println("| workload | software fabric | baseline | ratio | bound |");
        System.out.println("|---|---|---|---|---|");
        compare(
                "SEND of 64 bytes, round trip, us; blocking DatagramChannel",
                SoftVerbsJdkChannelsComparison::sendPingPong,
                () -> datagramPingPong(true),
                "at most 1.5");
        compare(
                "SEND of 64 bytes, round trip, us; spinning DatagramChannel",
                SoftVerbsJdkChannelsComparison::sendPingPong,
                () -> datagramPingPong(false),
                "");
        compare(
                "WRITE of 1 MiB, MB/s; SocketChannel",
                SoftVerbsJdkChannelsComparison::writeStream,
                SoftVerbsJdkChannelsComparison::socketStream,
                "at least 0.3");
        compare(
                "WRITEs of 4 KiB a second, 1,000 queue pairs; 10 queue pairs",
                () -> writesOfMany(1_000),
                () -> writesOfMany(10),
                "at least 0.7");
    }

    private interface Measurement {
        double take() throws Exception;
    }

    private static void compare(String what, Measurement fabric, Measurement other, String bound)
            throws Exception {
        var own = new double[ROUNDS];
        var others = new double[ROUNDS];
        for (var round = 0; round < ROUNDS; round++) {
            own[round] = fabric.take();
            others[round] = other.take();
        }
        var ratio = Median.of(own) / Median.of(others);
        System.out.printf(
                Locale.ROOT,
                "| %s | %,.1f | %,.1f | %.2f | %s |%n",
                what,
                Median.of(own),
                Median.of(others),
                ratio,
                bound);
    }

    /** A device with its memory, completion queue and queue pairs. */
    private static final class Side {
        final Device device;
        final MemoryRegion region;
        final CompletionQueue completions;
        final List<PolledQueuePair> queuePairs = new ArrayList<>();

        Side(Verbs verbs, String name, int count, int depth) throws VerbsException {
            device = verbs.open(name);
            var domain = device.newProtectionDomain();
            region =
                    domain.newArena(Access.LOCAL_WRITE, Access.REMOTE_WRITE)
                            .region(4 * LARGE_BYTES);
            completions = device.newCompletionQueue(2 * count * depth);
            for (var i = 0; i < count; i++) {
                queuePairs.add(
                        domain.newQueuePair(
                                QueuePairOptions.reliable(completions)
                                        .sends(depth)
                                        .receives(depth)));
            }
        }

        static void connect(Side one, Side other) throws VerbsException {
            for (var i = 0; i < one.queuePairs.size(); i++) {
                one.queuePairs.get(i).connect(other.queuePairs.get(i).endpoint());
                other.queuePairs.get(i).connect(one.queuePairs.get(i).endpoint());
            }
        }

        /** Polls until a message has been received. */
        static void awaitReceive(CompletionCursor cursor) {
            while (true) {
                while (cursor.next()) {
                    checkSuccess(cursor);
                    if (cursor.kind() == CompletionKind.RECEIVE) {
                        return;
                    }
                }
                cursor.poll();
            }
        }

        static void checkSuccess(CompletionCursor cursor) {
            if (!cursor.isSuccess()) {
                throw new IllegalStateException("A request completed with " + cursor.status());
            }
        }
    }

    /** Measures two connected sides. */
    private interface Between {
        double run(Side one, Side other) throws Exception;
    }

    private static double between(int count, int depth, Between action) throws Exception {
        var verbs = Verbs.from(SoftRoce.onLoopback(2));
        var one = new Side(verbs, "soft0", count, depth);
        var other = new Side(verbs, "soft1", count, depth);
        try {
            Side.connect(one, other);
            return action.run(one, other);
        } finally {
            one.device.close();
            other.device.close();
        }
    }

    private static double sendPingPong() throws Exception {
        return between(
                1,
                64,
                (one, other) -> {
                    over = false;
                    var echo = Thread.ofPlatform().start(() -> echo(other));
                    var cursor = one.completions.newCursor(32);
                    var receive = one.queuePairs.getFirst().prepareReceive(one.region.slice(0, 64));
                    var send = one.queuePairs.getFirst().prepareSend(one.region.slice(64, 64));
                    receive.tryPost();
                    Thread.sleep(50); // Waits until the echo thread listens.
                    var micros = 0.0;
                    for (var part = 0; part < 2; part++) { // The first part is a warm-up.
                        var turns = 20_000;
                        var start = System.nanoTime();
                        for (var turn = 0; turn < turns; turn++) {
                            send.signaled(turn % 16 == 0).tryPost();
                            Side.awaitReceive(cursor);
                            receive.tryPost();
                        }
                        micros = (System.nanoTime() - start) / 1e3 / turns;
                    }
                    over = true;
                    send.tryPost();
                    echo.join();
                    return micros;
                });
    }

    private static void echo(Side side) {
        try {
            var cursor = side.completions.newCursor(32);
            var receive = side.queuePairs.getFirst().prepareReceive(side.region.slice(0, 64));
            var send = side.queuePairs.getFirst().prepareSend(side.region.slice(64, 64));
            receive.tryPost();
            for (var turn = 0; !over; turn++) {
                Side.awaitReceive(cursor);
                receive.tryPost();
                send.signaled(turn % 16 == 0).tryPost();
            }
        } catch (VerbsException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Returns the duration of a round trip in microseconds. The kernel wakes up the reader of a
     * blocking channel. The reader of a non-blocking channel spins and uses a processor on each
     * side, as polling the fabric does.
     */
    private static double datagramPingPong(boolean blocking) throws Exception {
        try (var one = DatagramChannel.open().bind(anyPort());
                var other = DatagramChannel.open().bind(anyPort())) {
            one.connect(other.getLocalAddress());
            other.connect(one.getLocalAddress());
            one.configureBlocking(blocking);
            other.configureBlocking(blocking);
            over = false;
            var echo =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    var buffer = ByteBuffer.allocateDirect(SMALL_BYTES);
                                    while (!over) {
                                        read(other, buffer);
                                        other.write(buffer.flip());
                                    }
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            var buffer = ByteBuffer.allocateDirect(SMALL_BYTES);
            var micros = 0.0;
            for (var part = 0; part < 2; part++) {
                var turns = 20_000;
                var start = System.nanoTime();
                for (var turn = 0; turn < turns; turn++) {
                    one.write(buffer.clear());
                    read(one, buffer);
                }
                micros = (System.nanoTime() - start) / 1e3 / turns;
            }
            over = true;
            one.write(buffer.clear());
            echo.join();
            return micros;
        }
    }

    private static void read(DatagramChannel channel, ByteBuffer buffer) throws IOException {
        while (channel.read(buffer.clear()) == 0) {
            Thread.onSpinWait();
        }
    }

    private static InetSocketAddress anyPort() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    }

    private static double writeStream() throws Exception {
        return between(
                1,
                4,
                (one, other) -> {
                    var cursor = one.completions.newCursor(32);
                    var write =
                            one.queuePairs
                                    .getFirst()
                                    .prepareWrite(
                                            one.region.slice(0, LARGE_BYTES),
                                            other.region.remote());
                    var rate = 0.0;
                    for (var part = 0; part < 2; part++) {
                        var count = 200;
                        var start = System.nanoTime();
                        var posted = 0;
                        for (var done = 0; done < count; ) {
                            while (posted < count && write.tryPost()) {
                                posted++;
                            }
                            cursor.poll();
                            while (cursor.next()) {
                                Side.checkSuccess(cursor);
                                done++;
                            }
                        }
                        rate = megabytesASecond((long) count * LARGE_BYTES, start);
                    }
                    return rate;
                });
    }

    private static double socketStream() throws Exception {
        try (var server = ServerSocketChannel.open().bind(anyPort());
                var one = SocketChannel.open(server.getLocalAddress());
                var other = server.accept()) {
            var sink =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    var buffer = ByteBuffer.allocateDirect(LARGE_BYTES);
                                    while (other.read(buffer.clear()) >= 0) {
                                        // Discards the data.
                                    }
                                } catch (IOException e) {
                                    throw new UncheckedIOException(e);
                                }
                            });
            var buffer = ByteBuffer.allocateDirect(LARGE_BYTES);
            var rate = 0.0;
            for (var part = 0; part < 2; part++) {
                var count = 400;
                var start = System.nanoTime();
                for (var i = 0; i < count; i++) {
                    buffer.clear();
                    while (buffer.hasRemaining()) {
                        one.write(buffer);
                    }
                }
                rate = megabytesASecond((long) count * LARGE_BYTES, start);
            }
            one.shutdownOutput();
            sink.join();
            return rate;
        }
    }

    private static double megabytesASecond(long bytes, long start) {
        return bytes / 1e6 / ((System.nanoTime() - start) / 1e9);
    }

    /**
     * Returns the number of writes per second of all queue pairs together. Each queue pair has one
     * outstanding write.
     */
    private static double writesOfMany(int queuePairs) throws Exception {
        return between(
                queuePairs,
                2,
                (one, other) -> {
                    var cursor = one.completions.newCursor(32);
                    var writes =
                            one.queuePairs.stream()
                                    .map(queuePair ->
                                            queuePair.prepareWrite(
                                                    one.region.slice(0, PAGE_BYTES),
                                                    other.region.remote()))
                                    .toList();
                    for (var i = 0; i < queuePairs; i++) {
                        writes.get(i).id(i).tryPost();
                    }
                    var rate = 0.0;
                    for (var part = 0; part < 2; part++) {
                        var done = 0;
                        var start = System.nanoTime();
                        while (System.nanoTime() - start < 500_000_000L) {
                            cursor.poll();
                            while (cursor.next()) {
                                Side.checkSuccess(cursor);
                                done++;
                                writes.get((int) cursor.id()).tryPost();
                            }
                        }
                        rate = done / ((System.nanoTime() - start) / 1e9);
                    }
                    return rate;
                });
    }
}
