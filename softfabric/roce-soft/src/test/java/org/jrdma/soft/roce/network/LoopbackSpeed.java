package org.jrdma.soft.roce.network;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Arrays;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.SendOperation;
import org.jrdma.soft.roce.packet.Transport;

/** Measures two ports against the JDK's channels over loopback. Not a test: run its main. */
final class LoopbackSpeed {

    /** What an unprivileged user gets on most machines. */
    private static final int BUFFER = Integer.getInteger("buffer", 212_992);

    private static final int SMALL = 64;
    private static final int LARGE = 1 << 20;

    private LoopbackSpeed() {}

    private static volatile boolean stop;

    public static void main(String[] arguments) throws Exception {
        var what = arguments.length == 0 ? "all" : arguments[0];
        var repeats = arguments.length < 2 ? 3 : Integer.parseInt(arguments[1]);
        for (var i = 0; i < repeats; i++) {
            if (what.equals("all") || what.equals("cost")) {
                cost();
            }
            if (what.equals("all") || what.equals("pingpong")) {
                var datagrams = datagramPingPong(true);
                var spinning = datagramPingPong(false);
                var sends = sendPingPong();
                System.out.printf(
                        "ping-pong 64 B: DatagramChannel %.2f us (blocking), %.2f us (spinning);"
                                + " SEND %.2f us; ratio %.2f (blocking) %.2f (spinning)%n",
                        datagrams, spinning, sends, sends / datagrams, sends / spinning);
            }
            if (what.equals("all") || what.equals("write")) {
                var stream = socketStream();
                var writes = writeStream(SendOperation.WRITE);
                var reads = writeStream(SendOperation.READ);
                System.out.printf(
                        "1 MiB: SocketChannel %.0f MB/s; WRITE %.0f MB/s, ratio %.2f; READ %.0f MB/s%n",
                        stream, writes, writes / stream, reads);
            }
            if (what.equals("all") || what.equals("many")) {
                for (var bytes : new int[] {SMALL, 4096, 65_536}) {
                    var ten = many(10, bytes);
                    var thousand = many(1000, bytes);
                    System.out.printf(
                            "WRITEs of %d B: 10 queue pairs %.0f/s, 1000 %.0f/s, ratio %.2f%n",
                            bytes, ten, thousand, thousand / ten);
                }
            }
        }
    }

    /** What a round trip, and a large WRITE, cost of one thread's time that drives both sides. */
    private static void cost() throws Exception {
        try (var left = Station.anywhere(BUFFER);
                var right = Station.anywhere(BUFFER);
                var one =
                        DatagramChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                var other =
                        DatagramChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            left.keeping = false;
            right.keeping = false;
            var pair = Station.connected(left, right, 4096);
            right.receive(pair[1], 0, 0, SMALL);
            left.receive(pair[0], 0, 0, SMALL);
            one.connect(other.getLocalAddress());
            other.connect(one.getLocalAddress());
            one.configureBlocking(false);
            other.configureBlocking(false);
            var buffer = ByteBuffer.allocateDirect(SMALL);
            var roundTrip = Double.MAX_VALUE;
            var plain = Double.MAX_VALUE;
            var write = Double.MAX_VALUE;
            var read = Double.MAX_VALUE;
            for (var round = 0; round < 6; round++) {
                var count = 30_000;
                var start = ThreadMeter.cpuNanos();
                for (var i = 0; i < count; i++) {
                    var there = right.received();
                    var here = left.received();
                    left.send(pair[0], 0, 0, SMALL);
                    while (right.received() == there) {
                        right.port.progress();
                    }
                    right.receive(pair[1], 0, 0, SMALL);
                    right.send(pair[1], 0, 0, SMALL);
                    while (left.received() == here) {
                        left.port.progress();
                    }
                    left.receive(pair[0], 0, 0, SMALL);
                }
                roundTrip = Math.min(roundTrip, (ThreadMeter.cpuNanos() - start) / 1e3 / count);
                start = ThreadMeter.cpuNanos();
                for (var i = 0; i < count; i++) {
                    one.write(buffer.clear());
                    while (other.read(buffer.clear()) <= 0) {}
                    other.write(buffer.clear());
                    while (one.read(buffer.clear()) <= 0) {}
                }
                plain = Math.min(plain, (ThreadMeter.cpuNanos() - start) / 1e3 / count);
                write = Math.min(write, large(left, right, pair[0], SendOperation.WRITE));
                read = Math.min(read, large(left, right, pair[0], SendOperation.READ));
            }
            System.out.printf(
                    "CPU: DatagramChannel round trip %.2f us, SEND %.2f us, ratio %.2f; 1 MiB WRITE"
                            + " %.0f us = %.2f us a packet, READ %.0f us%n",
                    plain, roundTrip, roundTrip / plain, write, write / 256, read);
            check(left);
        }
    }

    private static double large(
            Station left, Station right, QueuePair queuePair, SendOperation operation)
            throws ReflectiveOperationException {
        var count = 200;
        var start = ThreadMeter.cpuNanos();
        var first = left.completions.get();
        for (var posted = 0; left.completions.getAcquire() - first < count; ) {
            while (posted < count && posted - (left.completions.get() - first) < 4) {
                left.move(queuePair, posted, operation, (long) (posted % 4) * LARGE, LARGE, right);
                posted++;
            }
            right.port.progress();
            left.port.progress();
        }
        return (ThreadMeter.cpuNanos() - start) / 1e3 / count;
    }

    private static double sendPingPong() throws Exception {
        try (var left = Station.anywhere(BUFFER);
                var right = Station.anywhere(BUFFER)) {
            left.keeping = false;
            right.keeping = false;
            var pair = Station.connected(left, right, 4096);
            stop = false;
            var echo =
                    Thread.ofPlatform()
                            .start(() -> {
                                for (var i = 0; i < 64; i++) {
                                    right.receive(pair[1], i, 0, SMALL);
                                }
                                var seen = 0L;
                                while (!stop) {
                                    seen = next(right, seen);
                                }
                            });
            // Each side sees a receive and a send complete for each round trip.
            right.onReceive =
                    () -> {
                        right.receive(pair[1], 0, 0, SMALL);
                        right.send(pair[1], 0, 0, SMALL);
                    };
            for (var i = 0; i < 64; i++) {
                left.receive(pair[0], i, 0, SMALL);
            }
            var best = Double.MAX_VALUE;
            for (var round = 0; round < 6; round++) {
                var count = 50_000;
                var start = System.nanoTime();
                for (var i = 0; i < count; i++) {
                    var before = left.received();
                    left.send(pair[0], 0, 0, SMALL);
                    while (left.received() == before) {
                        left.port.progress();
                    }
                    left.receive(pair[0], 0, 0, SMALL);
                }
                best = Math.min(best, (System.nanoTime() - start) / 1e3 / count);
            }
            stop = true;
            echo.join();
            return best;
        }
    }

    private static long next(Station station, long seen) {
        station.port.progress();
        while (station.received() > seen) {
            seen++;
            station.onReceive.run();
        }
        return seen;
    }

    private static double datagramPingPong(boolean blocking) throws Exception {
        try (var left =
                        DatagramChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                var right =
                        DatagramChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))) {
            left.connect(right.getLocalAddress());
            right.connect(left.getLocalAddress());
            left.configureBlocking(blocking);
            right.configureBlocking(blocking);
            stop = false;
            var echo =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    var buffer = ByteBuffer.allocateDirect(SMALL);
                                    while (!stop) {
                                        buffer.clear();
                                        if (right.read(buffer) > 0) {
                                            right.write(buffer.flip());
                                        }
                                    }
                                } catch (java.io.IOException e) {
                                    throw new java.io.UncheckedIOException(e);
                                }
                            });
            var buffer = ByteBuffer.allocateDirect(SMALL);
            var best = Double.MAX_VALUE;
            for (var round = 0; round < 6; round++) {
                var count = 50_000;
                var start = System.nanoTime();
                for (var i = 0; i < count; i++) {
                    buffer.clear();
                    left.write(buffer);
                    buffer.clear();
                    while (left.read(buffer) <= 0) {
                        Thread.onSpinWait();
                    }
                }
                best = Math.min(best, (System.nanoTime() - start) / 1e3 / count);
            }
            stop = true;
            buffer.clear();
            left.write(buffer);
            echo.join();
            return best;
        }
    }

    private static double writeStream(SendOperation operation) throws Exception {
        try (var left = Station.anywhere(BUFFER);
                var right = Station.anywhere(BUFFER)) {
            left.keeping = false;
            var pair = Station.connected(left, right, 4096);
            stop = false;
            var helper = Thread.ofPlatform().start(() -> poll(right));
            var best = 0.0;
            for (var round = 0; round < 5; round++) {
                var count = 400;
                var start = System.nanoTime();
                var first = left.completions.get();
                for (var posted = 0; left.completions.getAcquire() - first < count; ) {
                    while (posted < count && posted - (left.completions.get() - first) < 4) {
                        left.move(
                                pair[0],
                                posted,
                                operation,
                                (long) (posted % 4) * LARGE,
                                LARGE,
                                right);
                        posted++;
                    }
                    left.port.progress();
                }
                best = Math.max(best, (double) count * LARGE / (System.nanoTime() - start) * 1e3);
            }
            stop = true;
            helper.join();
            check(left);
            return best;
        }
    }

    private static void poll(Station station) {
        while (!stop) {
            station.port.progress();
        }
    }

    private static void check(Station station) {
        if (station.failed != CompletionStatus.SUCCESS) {
            throw new AssertionError(station.failed);
        }
    }

    private static double socketStream() throws Exception {
        try (var server =
                        ServerSocketChannel.open()
                                .bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
                var left = SocketChannel.open(server.getLocalAddress());
                var right = server.accept()) {
            var sink =
                    Thread.ofPlatform()
                            .start(() -> {
                                try {
                                    var buffer = ByteBuffer.allocateDirect(LARGE);
                                    while (right.read(buffer.clear()) >= 0) {}
                                } catch (java.io.IOException e) {
                                    throw new java.io.UncheckedIOException(e);
                                }
                            });
            var buffer = ByteBuffer.allocateDirect(LARGE);
            var best = 0.0;
            for (var round = 0; round < 5; round++) {
                var count = 1000;
                var start = System.nanoTime();
                for (var i = 0; i < count; i++) {
                    buffer.clear();
                    while (buffer.hasRemaining()) {
                        left.write(buffer);
                    }
                }
                best = Math.max(best, (double) count * LARGE / (System.nanoTime() - start) * 1e3);
            }
            left.shutdownOutput();
            sink.join();
            return best;
        }
    }

    /** Operations a second of all queue pairs together. */
    private static double many(int count, int bytes) throws Exception {
        try (var left = Station.anywhere(BUFFER);
                var right = Station.anywhere(BUFFER)) {
            left.keeping = false;
            var pairs = new QueuePair[count];
            var byNumber = new java.util.HashMap<Integer, Integer>();
            for (var i = 0; i < count; i++) {
                pairs[i] = left.newQueuePair(Transport.RELIABLE);
                var other = right.newQueuePair(Transport.RELIABLE);
                left.connect(pairs[i], right, other, 4096, 14);
                right.connect(other, left, pairs[i], 4096, 14);
                byNumber.put(pairs[i].number(), i);
            }
            stop = false;
            var helper = Thread.ofPlatform().start(() -> poll(right));
            var under = new int[count];
            var ready = new ConcurrentLinkedQueue<Integer>();
            left.onSend = number -> ready.add(byNumber.get(number));
            var rates = new double[3];
            for (var i = 0; i < count; i++) {
                ready.add(i);
            }
            for (var round = 0; round < rates.length; round++) {
                var start = System.nanoTime();
                var first = left.completions.get();
                while (System.nanoTime() - start < 1_500_000_000L) {
                    for (var i = ready.poll(); i != null; i = ready.poll()) {
                        under[i]++;
                        left.move(pairs[i], i, SendOperation.WRITE, 0, bytes, right);
                    }
                    left.port.progress();
                    check(left);
                }
                rates[round] = (left.completions.get() - first) * 1e9 / (System.nanoTime() - start);
            }
            stop = true;
            helper.join();
            check(left);
            Arrays.sort(under);
            System.out.printf(
                    "  %d queue pairs: fewest %d, most %d operations each%n",
                    count, under[0], under[count - 1]);
            Arrays.sort(rates);
            return rates[rates.length / 2];
        }
    }
}
