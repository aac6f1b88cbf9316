package org.jrdma.examples.pingpong;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedRequest;

/**
 * The game itself, whatever carries the balls: a receive and a send for each queue pair, prepared
 * once and posted again and again, and a completion queue that is polled; or, with {@code -e},
 * waited for, which takes longer and leaves the processor to others.
 */
final class Game {

    // The numbers by which completions are told apart.
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int PAGE_BYTES = 4096;

    private final PingPongOptions options;
    private final CompletionCursor cursor;
    private final PreparedReceive receive;
    private final MemorySegment message;

    /**
     * A game that the other side has not begun yet.
     *
     * @param message where a message arrives, and is sent from
     */
    Game(
            PingPongOptions options,
            CompletionCursor cursor,
            PreparedReceive receive,
            MemorySegment message) {
        this.options = options;
        this.cursor = cursor;
        this.receive = receive.id(RECEIVE);
        this.message = message;
        fill();
    }

    /** The same receive, as often as there is room for. */
    void postReceives() throws IOException {
        while (receive.tryPost()) {
            // again
        }
    }

    /** One queue pair's ball: who has it. */
    private static final class Ball {
        final PreparedRequest<?> send;
        boolean arrived;
        boolean isSent = true;

        Ball(PreparedRequest<?> send, boolean isHere) {
            this.send = send.id(SEND);
            this.arrived = isHere;
        }
    }

    /**
     * Sends and receives so many messages in all, on each queue pair the client first and each side
     * in its turn. Shows how long it took.
     *
     * @param sends the message, for each queue pair's number
     */
    void play(Map<Integer, ? extends PreparedRequest<?>> sends) throws IOException {
        var balls = new HashMap<Integer, Ball>();
        sends.forEach((number, send) -> balls.put(number, new Ball(send, !options.isServer())));
        var start = System.nanoTime();
        rally(balls);
        report(System.nanoTime() - start);
        check();
    }

    private void rally(Map<Integer, Ball> balls) throws IOException {
        var sent = 0;
        var received = 0;
        var receivesLeft = options.receives;
        for (var ball : balls.values()) {
            sendBack(ball);
        }
        while (sent < options.iterations || received < options.iterations) {
            await();
            while (cursor.next()) {
                if (!cursor.isSuccess()) {
                    throw new IOException(
                            "A %s failed: %s, that is, %s."
                                    .formatted(
                                            cursor.id() == SEND ? "send" : "receive",
                                            cursor.status(),
                                            cursor.status().meaning()));
                }
                var ball = balls.get(cursor.queuePairNumber());
                if (cursor.id() == SEND) {
                    ball.isSent = true;
                    sent++;
                } else {
                    ball.arrived = true;
                    received++;
                    receivesLeft--;
                }
                if (sent < options.iterations) {
                    sendBack(ball);
                }
            }
            if (receivesLeft <= balls.size()) { // as many as may come at a time
                postReceives();
                receivesLeft = options.receives;
            }
        }
    }

    /** If it is here. */
    private static void sendBack(Ball ball) throws IOException {
        if (ball.arrived && ball.isSent) {
            ball.arrived = false;
            ball.isSent = false;
            ball.send.tryPost();
        }
    }

    private void await() throws IOException {
        if (options.events) {
            if (cursor.await(PATIENCE) > 0) {
                return;
            }
        } else {
            var deadline = System.nanoTime() + PATIENCE.toNanos();
            do {
                if (cursor.poll() > 0) {
                    return;
                }
            } while (System.nanoTime() - deadline < 0);
        }
        throw new IOException(
                "Nothing has come for %d s. Has the other side ended%s?"
                        .formatted(
                                PATIENCE.toSeconds(),
                                options.isReliable() ? "" : ", or was a message lost"));
    }

    private void report(long nanos) {
        var bytes = 2L * options.size * options.iterations;
        var micros = nanos / 1e3;
        IO.println(
                String.format(
                        Locale.ROOT,
                        "%d bytes in %.2f seconds = %.2f Mbit/sec%n%d iters in %.2f seconds = %.2f usec/iter",
                        bytes,
                        micros / 1e6,
                        bytes * 8 / micros,
                        options.iterations,
                        micros / 1e6,
                        micros / options.iterations));
    }

    /** As the C program: with -c, the client puts a 0 at the start of each page. */
    private void fill() {
        message.fill((byte) 0x7b);
        if (options.check && !options.isServer()) {
            for (var offset = 0L; offset < options.size; offset += PAGE_BYTES) {
                message.set(ValueLayout.JAVA_BYTE, offset, (byte) 0);
            }
        }
    }

    /** And the server looks for it. */
    private void check() throws IOException {
        if (options.check && options.isServer()) {
            for (var offset = 0L; offset < options.size; offset += PAGE_BYTES) {
                if (message.get(ValueLayout.JAVA_BYTE, offset) != 0) {
                    throw new IOException("invalid data in page " + offset / PAGE_BYTES);
                }
            }
        }
    }
}
