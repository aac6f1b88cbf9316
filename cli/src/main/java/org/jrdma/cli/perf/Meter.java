package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;

/** The side that measures: opens a path together with the other side, and moves bytes over it. */
final class Meter implements AutoCloseable {

    /** What the other side is told: words, with numbers behind them. */
    static final String OPEN = "open";

    static final String EXCHANGE = "exchange";
    static final String STREAM = "stream";
    static final String CLOSE = "close";

    /** What it answers when it has done as it was told. */
    static final String DONE = "done";

    private static final int MOST_SAMPLES = 1_000_000;

    /** The first warm-up, in which the JVM compiles the code, takes this many times as long. */
    private static final int FIRST_WARM_UP = 5;

    private static final Duration LONGEST_FIRST_WARM_UP = Duration.ofSeconds(1);

    private static final int FIRST_BATCH = 8;

    /** Between two looks at the clock and a word with the other side. */
    private static final long BATCH_NANOS = Duration.ofMillis(20).toNanos();

    private final ControlChannel peer;
    private final Path path;
    private final Link link;
    private final Samples samples = new Samples();
    private boolean isWarm;

    /** As many exchanges as took about the time of a batch. */
    private int exchanges = FIRST_BATCH;

    private Meter(ControlChannel peer, Path path, Link link) {
        this.peer = peer;
        this.path = path;
        this.link = link;
    }

    static Meter open(ControlChannel peer, Path path, int largest) throws IOException {
        peer.say(OPEN + " " + path.name() + " " + largest);
        var link = path.opener().open(peer, largest, true);
        try {
            expectDone(peer);
            return new Meter(peer, path, link);
        } catch (IOException e) {
            link.close();
            throw e;
        }
    }

    /** As {@link Link#taken()} has it. */
    Optional<String> taken() {
        return link.taken();
    }

    /** Measures each figure for some time, when it has warmed up for as long. */
    Result measure(int bytes, Duration time) throws IOException {
        warmUp(bytes, time);
        return new Result(
                path.name(),
                path.provider().fabric(),
                path.provider().device(),
                bytes,
                latency(bytes, time),
                bandwidth(bytes, time),
                taken());
    }

    /** Exchanges messages of a size that do not count. The first time of all takes longer. */
    void warmUp(int bytes, Duration time) throws IOException {
        exchanges = FIRST_BATCH;
        exchange(bytes, isWarm ? time : firstWarmUp(time));
        isWarm = true;
    }

    /**
     * Returns one second for the default time, less for a shorter time, and never less than the
     * time.
     */
    private static Duration firstWarmUp(Duration time) {
        var longer = Math.min(FIRST_WARM_UP * time.toNanos(), LONGEST_FIRST_WARM_UP.toNanos());
        return Duration.ofNanos(Math.max(longer, time.toNanos()));
    }

    /** Latency alone, of what has warmed up. */
    Latency latency(int bytes, Duration time) throws IOException {
        exchange(bytes, time);
        return Latency.of(samples.taken(), path.isRoundTrip() ? 2 : 1);
    }

    private void exchange(int bytes, Duration time) throws IOException {
        samples.forget();
        var end = System.nanoTime() + time.toNanos();
        do {
            var start = System.nanoTime();
            exchange(bytes);
            exchanges = next(exchanges, System.nanoTime() - start);
        } while (System.nanoTime() - end < 0 && samples.count < MOST_SAMPLES);
    }

    private void exchange(int bytes) throws IOException {
        var count = exchanges;
        start(EXCHANGE, bytes, count + 1);
        together(() -> {
            link.exchange(bytes); // does not count: the other side may still be about to begin
            for (var exchange = 0; exchange < count; exchange++) {
                var start = System.nanoTime();
                link.exchange(bytes);
                samples.add(System.nanoTime() - start);
            }
        });
        expectDone(peer);
    }

    @FunctionalInterface
    private interface Part {
        void play() throws IOException;
    }

    /** If the other side says why it fails, that is the reason. */
    private void together(Part part) throws IOException {
        try {
            part.play();
        } catch (IOException | RuntimeException e) {
            peer.throwItsFailure(e);
            throw e;
        }
    }

    private Bandwidth bandwidth(int bytes, Duration time) throws IOException {
        var warm = stream(bytes, FIRST_BATCH, time);
        return stream(bytes, warm.lastBatch(), time).toBandwidth(bytes);
    }

    private record Streamed(long messages, long nanos, int lastBatch) {
        Bandwidth toBandwidth(int bytes) {
            return Bandwidth.of(bytes, messages, nanos);
        }
    }

    private Streamed stream(int bytes, int firstBatch, Duration time) throws IOException {
        var batch = firstBatch;
        var sent = 0L;
        var nanos = 0L;
        while (nanos < time.toNanos()) {
            start(STREAM, bytes, batch);
            var start = System.nanoTime();
            var messages = batch;
            together(() -> link.stream(bytes, messages));
            var taken = System.nanoTime() - start;
            expectDone(peer);
            sent += batch;
            nanos += taken;
            batch =
                    next(
                            batch,
                            taken / 2); // longer than exchanges: each has a beginning and an end
        }
        return new Streamed(sent, nanos, batch);
    }

    /** As many as take about the time of a batch, and no leap. */
    private static int next(int batch, long nanos) {
        var most = Math.min(4 * batch, MOST_SAMPLES);
        return Math.clamp(batch * BATCH_NANOS / Math.max(nanos, 1), Math.max(1, batch / 4), most);
    }

    private void start(String what, int bytes, int count) throws IOException {
        link.prepare(bytes);
        peer.say(what + " " + bytes + " " + count);
        expectDone(peer);
    }

    private static void expectDone(ControlChannel peer) throws IOException {
        var answer = peer.hear();
        if (!answer.equals(DONE)) {
            throw new IOException(
                    "The other side says \"%s\": is it a jrdma of this version?".formatted(answer));
        }
    }

    @Override
    public void close() throws IOException {
        try (link) {
            // Both sides close at once: closing a SISCI segment waits until its user has left it.
            peer.say(CLOSE);
        }
        expectDone(peer);
    }

    private static final class Samples {

        private long[] nanos = new long[FIRST_BATCH];
        private int count;

        void add(long sample) {
            if (count == nanos.length) {
                nanos = Arrays.copyOf(nanos, 2 * count);
            }
            nanos[count++] = sample;
        }

        void forget() {
            count = 0;
        }

        long[] taken() {
            return Arrays.copyOf(nanos, count);
        }
    }
}
