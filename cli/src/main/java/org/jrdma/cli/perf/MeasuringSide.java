package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;

/** The measuring side: opens a path together with the peer's {@link Responder} and measures it. */
final class MeasuringSide implements AutoCloseable {

    /** The first words of the requests to the peer. Arguments follow, separated by spaces. */
    static final String OPEN = "open";

    static final String EXCHANGE = "exchange";
    static final String STREAM = "stream";
    static final String CLOSE = "close";

    /** The peer's answer to each request. */
    static final String DONE = "done";

    private static final int MAX_SAMPLES = 1_000_000;

    private static final int FIRST_BATCH = 8;

    /** The intended duration of a batch. Both sides synchronize before each batch. */
    private static final long BATCH_NANOS = Duration.ofMillis(20).toNanos();

    private final ControlChannel peer;
    private final Path path;
    private final LinkEnd link;
    private final Samples samples = new Samples();

    /** The number of exchanges in the next batch. */
    private int exchanges = FIRST_BATCH;

    /** The number of streamed messages in the next batch. */
    private int streamed = FIRST_BATCH;

    private MeasuringSide(ControlChannel peer, Path path, LinkEnd link) {
        this.peer = peer;
        this.path = path;
        this.link = link;
    }

    static MeasuringSide open(ControlChannel peer, Path path, int largest) throws IOException {
        peer.send(OPEN + " " + path.name() + " " + largest);
        var link = path.opener().open(peer, largest, true);
        try {
            expectDone(peer);
            return new MeasuringSide(peer, path, link);
        } catch (IOException e) {
            link.close();
            throw e;
        }
    }

    Optional<String> connection() {
        return link.connection();
    }

    /** Exchanges messages until the JVMs of both sides have compiled the code. */
    void warmUp(int bytes, Duration time) throws IOException {
        startBatches();
        RepeatedMeasurement.warmUp(
                time,
                slice -> {
                    exchange(bytes, slice);
                    return new MeasurementSlice(samples.copy(), 0, 0);
                });
    }

    /**
     * Measures the latency and the bandwidth once, each for {@code time}. Before that, exchanges
     * messages of this size for as long without measuring them. The result is not stable, because
     * nothing confirms it.
     */
    Result measureOnce(int bytes, Duration time) throws IOException {
        startBatches();
        var _ = slice(bytes, time);
        var before = MachineState.now();
        var measured = RepeatedMeasurement.once(bytes, messagesPerExchange(), slice(bytes, time));
        return result(bytes, measured, before.slowerOf(MachineState.now()));
    }

    /**
     * Measures the latency and the bandwidth, each for {@code time}, in slices that are repeated
     * until they agree.
     */
    Result measureUntilStable(int bytes, Duration time) throws IOException {
        startBatches();
        var _ = slice(bytes, time);
        var before = MachineState.now();
        var measured =
                RepeatedMeasurement.repeat(
                        time, bytes, messagesPerExchange(), slice -> slice(bytes, slice));
        return result(bytes, measured, before.slowerOf(MachineState.now()));
    }

    private Result result(int bytes, RepeatedMeasurement measured, MachineState machine) {
        return new Result(
                path.name(),
                path.provider().fabric(),
                path.provider().device(),
                bytes,
                measured.latency(),
                measured.bandwidth(),
                measured.stable(),
                machine,
                connection());
    }

    private MeasurementSlice slice(int bytes, Duration time) throws IOException {
        exchange(bytes, time);
        var sent = stream(bytes, time);
        return new MeasurementSlice(samples.copy(), sent.messages(), sent.nanos());
    }

    /** Lets the next batches be small, because messages of another size may take much longer. */
    private void startBatches() {
        exchanges = FIRST_BATCH;
        streamed = FIRST_BATCH;
    }

    private int messagesPerExchange() {
        return path.isRoundTrip() ? 2 : 1;
    }

    /** Measures the latency without a warm-up. */
    LatencyStatistics latency(int bytes, Duration time) throws IOException {
        exchange(bytes, time);
        return LatencyStatistics.of(samples.toArray(), messagesPerExchange());
    }

    private void exchange(int bytes, Duration time) throws IOException {
        samples.clear();
        var end = System.nanoTime() + time.toNanos();
        do {
            var start = System.nanoTime();
            exchange(bytes);
            exchanges = next(exchanges, System.nanoTime() - start);
        } while (System.nanoTime() - end < 0 && samples.count() < MAX_SAMPLES);
    }

    private void exchange(int bytes) throws IOException {
        var count = exchanges;
        start(EXCHANGE, bytes, count + 1);
        withPeerFailure(() -> {
            // The first batch is not measured, because the peer may not have started yet.
            link.exchange(bytes);
            for (var exchange = 0; exchange < count; exchange++) {
                var start = System.nanoTime();
                link.exchange(bytes);
                samples.add(System.nanoTime() - start);
            }
        });
        expectDone(peer);
    }

    @FunctionalInterface
    private interface Action {
        void run() throws IOException;
    }

    /**
     * Runs an action. If the action fails and the peer has reported a failure, throws the peer's
     * failure, which is the cause.
     */
    private void withPeerFailure(Action action) throws IOException {
        try {
            action.run();
        } catch (IOException | RuntimeException e) {
            peer.throwPeerFailure(e);
            throw e;
        }
    }

    private record Streamed(long messages, long nanos) {}

    private Streamed stream(int bytes, Duration time) throws IOException {
        var sent = 0L;
        var nanos = 0L;
        while (nanos < time.toNanos()) {
            var messages = streamed;
            start(STREAM, bytes, messages);
            var start = System.nanoTime();
            withPeerFailure(() -> link.stream(bytes, messages));
            var elapsed = System.nanoTime() - start;
            expectDone(peer);
            sent += messages;
            nanos += elapsed;
            // A batch of streamed messages takes twice as long as a batch of exchanges, because the
            // link is not full at its start and end.
            streamed = next(messages, elapsed / 2);
        }
        return new Streamed(sent, nanos);
    }

    /** Returns the size of the next batch, which changes at most by a factor of four. */
    private static int next(int batch, long nanos) {
        var max = Math.min(4 * batch, MAX_SAMPLES);
        return Math.clamp(batch * BATCH_NANOS / Math.max(nanos, 1), Math.max(1, batch / 4), max);
    }

    private void start(String request, int bytes, int count) throws IOException {
        link.prepare(bytes);
        peer.send(request + " " + bytes + " " + count);
        expectDone(peer);
    }

    private static void expectDone(ControlChannel peer) throws IOException {
        var answer = peer.receive();
        if (!answer.equals(DONE)) {
            throw new IOException(
                    "Unknown answer \"%s\". Are both sides jrdma of the same version?"
                            .formatted(answer));
        }
    }

    @Override
    public void close() throws IOException {
        try (link) {
            // Both sides close at the same time, because closing a SISCI segment waits until the
            // peer has disconnected from it.
            peer.send(CLOSE);
        }
        expectDone(peer);
    }
}
