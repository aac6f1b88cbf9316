package org.jrdma.cli.perf;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ScheduledThreadPoolExecutor;

/** The responding side of a measurement. */
final class Responder {

    /**
     * The maximum duration of one request. A request of a {@link MeasuringSide} takes far less than
     * a second in most cases, and some minutes with the largest messages over a slow network.
     */
    private static final Duration MAX_REQUEST = Duration.ofMinutes(10);

    private static final ScheduledThreadPoolExecutor WATCHDOG =
            new ScheduledThreadPoolExecutor(
                    1, Thread.ofPlatform().daemon().name("jrdma-perf-watchdog").factory());

    static {
        WATCHDOG.setRemoveOnCancelPolicy(true); // Almost all requests end before the time limit.
    }

    private final ControlChannel peer;
    private final List<Path> paths;
    private final Duration maxRequest;

    Responder(ControlChannel peer, List<Path> paths) {
        this(peer, paths, MAX_REQUEST);
    }

    /**
     * Creates a responder.
     *
     * @param maxRequest the maximum duration of one request, after which the responder ends
     */
    Responder(ControlChannel peer, List<Path> paths, Duration maxRequest) {
        this.peer = peer;
        this.paths = paths;
        this.maxRequest = maxRequest;
    }

    /**
     * Runs the remote side of the measurement of one path. A failure is reported to the peer and
     * thrown.
     */
    void run() throws IOException {
        try {
            var request = peer.receive().split(" ", -1);
            if (!request[0].equals(MeasuringSide.OPEN) || request.length != 3) {
                throw unknownRequest(request[0]);
            }
            serve(find(request[1]), number(request[2]));
        } catch (IOException | RuntimeException e) {
            peer.sendFailure(e);
            throw e;
        }
    }

    private Path find(String name) throws IOException {
        var known = Paths.named(name, paths);
        var path = peer.isRemote() ? known.toRemotePeer() : known;
        if (path.missing().isPresent()) {
            throw new IOException("%s: %s".formatted(name, path.missing().get()));
        }
        return path;
    }

    private void serve(Path path, int largest) throws IOException {
        if (!path.supports(largest)) {
            throw new IOException(
                    "%s does not support messages of %d bytes".formatted(path.name(), largest));
        }
        try (var link = path.opener().open(peer, largest, false)) {
            peer.send(MeasuringSide.DONE);
            while (serve(link, largest)) {
                peer.send(MeasuringSide.DONE);
            }
        }
        peer.send(MeasuringSide.DONE);
    }

    /**
     * Executes one request of the measuring side. Returns false if the request is to close the
     * path.
     */
    private boolean serve(LinkEnd link, int largest) throws IOException {
        var request = peer.receive().split(" ", -1);
        if (request[0].equals(MeasuringSide.CLOSE)) {
            return false;
        }
        if (request.length != 3) {
            throw unknownRequest(request[0]);
        }
        var bytes = number(request[1]);
        var count = number(request[2]);
        if (bytes > largest) {
            throw new IOException(
                    "%d bytes exceed the agreed maximum of %d".formatted(bytes, largest));
        }
        link.prepare(bytes);
        peer.send(MeasuringSide.DONE);
        switch (request[0]) {
            case MeasuringSide.EXCHANGE -> withTimeLimit(() -> link.answer(bytes, count));
            case MeasuringSide.STREAM -> withTimeLimit(() -> link.absorb(bytes, count));
            default -> throw unknownRequest(request[0]);
        }
        return true;
    }

    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }

    /** Runs an action and interrupts its thread if the action takes too long. */
    private void withTimeLimit(Action action) throws IOException {
        var limit = new TimeLimit();
        var interruption = WATCHDOG.schedule(limit, maxRequest.toMillis(), MILLISECONDS);
        try {
            action.run();
        } catch (IOException e) {
            throw limit.end()
                    ? new IOException(
                            "The request was not complete within %d ms."
                                    .formatted(maxRequest.toMillis()),
                            e)
                    : e;
        } finally {
            var _ = limit.end();
            interruption.cancel(false);
        }
    }

    /**
     * Interrupts the thread that has created this object when the time limit expires, unless {@link
     * #end} was called before.
     */
    static final class TimeLimit implements Runnable {

        private final Thread thread = Thread.currentThread();
        private boolean ended;
        private boolean exceeded;

        @Override
        public synchronized void run() {
            if (!ended) {
                exceeded = true;
                thread.interrupt();
            }
        }

        /**
         * Ends the time limit. If the thread was interrupted before, returns true and clears its
         * interrupt status, so that later waits of the thread do not fail.
         */
        synchronized boolean end() {
            if (!ended && exceeded) {
                Thread.interrupted();
            }
            ended = true;
            return exceeded;
        }
    }

    private static int number(String word) throws IOException {
        try {
            var number = Integer.parseInt(word);
            if (number >= 0) {
                return number;
            }
        } catch (NumberFormatException _) {
            // The exception below reports the failure.
        }
        throw unknownRequest(word);
    }

    private static IOException unknownRequest(String word) {
        return new IOException(
                "Unknown request \"%s\". Are both sides jrdma of the same version?"
                        .formatted(word));
    }
}
