package org.jrdma.interop.pingpong;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedRequest;

/**
 * The loop of a ping-pong over any transport. It repeatedly posts one prepared receive, and one
 * prepared send for each queue pair.
 */
final class PingPongLoop {

    // Request IDs, to distinguish completions.
    private static final int RECEIVE = 1;
    private static final int SEND = 2;

    private static final int PAGE_BYTES = 4096;

    private final AbstractPingPongLoopProgram options;
    private final CompletionCursor cursor;
    private final PreparedReceive receive;
    private final MemorySegment message;

    /**
     * Creates a loop and fills the message.
     *
     * @param message the memory of the message, which is sent and received
     */
    PingPongLoop(
            AbstractPingPongLoopProgram options,
            CompletionCursor cursor,
            PreparedReceive receive,
            MemorySegment message) {
        this.options = options;
        this.cursor = cursor;
        this.receive = receive.id(RECEIVE);
        this.message = message;
        fill();
    }

    /** Posts the receive as many times as the receive queue has free slots. */
    void postReceives() throws IOException {
        while (receive.tryPost()) {
            // The loop fills the receive queue.
        }
    }

    /** The state of one queue pair. */
    private static final class Side {
        final PreparedRequest<?> send;
        boolean hasReceived;
        boolean isSent = true;

        Side(PreparedRequest<?> send, boolean hasReceived) {
            this.send = send.id(SEND);
            this.hasReceived = hasReceived;
        }

        /** Sends if it is this side's turn. */
        void sendIfDue() throws IOException {
            if (hasReceived && isSent) {
                hasReceived = false;
                isSent = false;
                send.tryPost();
            }
        }
    }

    /**
     * Sends and receives the number of messages that the options specify, and prints the duration.
     * On each queue pair the client sends first, and then the sides take turns.
     *
     * @param sends the send request of each queue pair, by its number
     */
    void run(Map<Integer, ? extends PreparedRequest<?>> sends) throws IOException {
        var sides = new HashMap<Integer, Side>();
        sends.forEach((number, send) -> sides.put(number, new Side(send, !options.isServer())));
        var start = System.nanoTime();
        exchange(sides);
        report(System.nanoTime() - start);
        check();
    }

    private void exchange(Map<Integer, Side> sides) throws IOException {
        var sent = 0;
        var received = 0;
        var receivesLeft = options.receives;
        for (var side : sides.values()) {
            side.sendIfDue();
        }
        while (sent < options.iterations || received < options.iterations) {
            options.await(cursor, options.isReliable() ? "" : ", or was a message lost");
            while (cursor.next()) {
                PingPongProgram.checkSuccess(cursor, cursor.id() == SEND);
                var side = sides.get(cursor.queuePairNumber());
                if (cursor.id() == SEND) {
                    side.isSent = true;
                    sent++;
                } else {
                    side.hasReceived = true;
                    received++;
                    receivesLeft--;
                }
                if (sent < options.iterations) {
                    side.sendIfDue();
                }
            }
            if (receivesLeft <= sides.size()) { // One message per queue pair can be in flight.
                postReceives();
                receivesLeft = options.receives;
            }
        }
    }

    private void report(long nanos) {
        var bytes = 2L * options.size * options.iterations;
        var micros = nanos / 1e3;
        IO.println(
                "%d bytes in %.2f seconds = %.2f Mbit/sec"
                        .formatted(bytes, micros / 1e6, bytes * 8 / micros));
        IO.println(
                "%d iters in %.2f seconds = %.2f usec/iter"
                        .formatted(options.iterations, micros / 1e6, micros / options.iterations));
    }

    /**
     * Fills the message. With {@code -c}, the message of the client has a 0 at the start of each
     * page.
     */
    private void fill() {
        message.fill((byte) 0x7b);
        if (options.check && !options.isServer()) {
            for (var offset = 0L; offset < options.size; offset += PAGE_BYTES) {
                message.set(JAVA_BYTE, offset, (byte) 0);
            }
        }
    }

    /** Checks the message. With {@code -c}, the server expects a 0 at the start of each page. */
    private void check() throws IOException {
        if (options.check && options.isServer()) {
            for (var offset = 0L; offset < options.size; offset += PAGE_BYTES) {
                if (message.get(JAVA_BYTE, offset) != 0) {
                    throw new IOException("invalid data in page " + offset / PAGE_BYTES);
                }
            }
        }
    }
}
