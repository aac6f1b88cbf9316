package org.jrdma.stress;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.stress.SharedSoakObjects.Objects;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;

/**
 * One thread of the soak test: makes random calls on the shared objects, and counts the results.
 */
final class RandomUseSoakWorker implements Runnable {

    static final Duration SHORT = Duration.ofMillis(2);

    private final SharedSoakObjects shared;
    private final RandomGenerator random;
    private final long end;
    private final Map<String, Long> counts = new TreeMap<>();
    private Throwable unexpected;

    RandomUseSoakWorker(SharedSoakObjects shared, long seed, long end) {
        this.shared = shared;
        this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        this.end = end;
    }

    /** Returns the number of calls and exceptions of each kind. */
    Map<String, Long> counts() {
        return counts;
    }

    /** Returns the undocumented exception that ended the thread, or null if there is none. */
    Throwable unexpected() {
        return unexpected;
    }

    @Override
    public void run() {
        try {
            while (System.nanoTime() < end) {
                step();
            }
        } catch (Throwable e) {
            unexpected = e;
        }
    }

    private void step() throws Exception {
        try {
            var objects = shared.objects(random);
            switch (random.nextInt(20)) {
                case 0, 1, 2, 3, 4 -> poll(objects);
                case 5, 6, 7, 8 -> post(objects);
                case 9 -> drain(objects);
                case 10, 11, 12 -> transfer(objects);
                case 13 -> queryOrChange(objects);
                case 14 -> useOwnArena(objects);
                case 15 -> waitForEvent(objects);
                default -> close(objects);
            }
        } catch (IllegalStateException e) {
            if (e.getMessage() == null || !e.getMessage().contains("closed")) {
                throw e;
            }
            count("IllegalStateException: closed");
        } catch (WrongThreadException e) {
            count("WrongThreadException");
        } catch (FabricTimeoutException e) {
            count("FabricTimeoutException");
        } catch (InterruptedIOException e) {
            Thread.interrupted();
            count("InterruptedIOException");
        } catch (VerbsException e) {
            count("VerbsException of " + e.function());
        }
    }

    /**
     * Posts to the shared queue pair. The first thread that prepares requests for it becomes its
     * owner. Other threads get a WrongThreadException.
     */
    private void post(Objects objects) throws IOException {
        use(objects, objects.polled, objects.region, 1 + random.nextInt(200));
    }

    /** Creates a queue pair for this thread, posts to it and polls its completions. */
    private void poll(Objects objects) throws IOException {
        try (var ownPair =
                SharedSoakObjects.Objects.connected(objects.domain, objects.completions)) {
            use(objects, ownPair, objects.region, 1 + random.nextInt(2_000));
        }
    }

    private void use(Objects objects, PolledQueuePair pair, MemoryRegion region, int rounds)
            throws IOException {
        var slice = region.slice(0, 64);
        var write =
                pair.prepareWrite(slice, region.remote())
                        .signaled(random.nextBoolean())
                        .inline(random.nextBoolean());
        var receive = pair.prepareReceive(random.nextInt(10) == 0 ? List.of() : List.of(slice));
        var chain =
                pair.prepareChain(pair.prepareSend(slice), pair.prepareSend(slice).signaled(false));
        try (var cursor = objects.completions.newCursor(1 + random.nextInt(16))) {
            for (var round = 0; round < rounds; round++) {
                if (chainOrRequest(write, receive, chain::tryPost)) {
                    count("post");
                }
                take(cursor);
            }
            if (random.nextInt(4) == 0) {
                interruptSometimes();
                cursor.await(SHORT);
                count("cursor await");
            }
        }
    }

    @FunctionalInterface
    private interface Post {
        boolean run() throws VerbsException;
    }

    private boolean chainOrRequest(PreparedRequest<?> write, PreparedRequest<?> receive, Post chain)
            throws VerbsException {
        return switch (random.nextInt(4)) {
            case 0 -> counted("chain", chain.run());
            case 1 -> counted("receive", receive.tryPost());
            default -> write.tryPost();
        };
    }

    private void take(CompletionCursor cursor) {
        cursor.poll();
        count("poll");
        while (cursor.next()) {
            count(cursor.isSuccess() ? "success" : cursor.status().name());
        }
    }

    private void drain(Objects objects) throws IOException {
        var completions = objects.completions; // Other threads may replace the field.
        try (var ownPair = SharedSoakObjects.Objects.connected(objects.domain, completions);
                var cursor = completions.newCursor(8)) {
            var slice = objects.region.slice(0, 64);
            var write = ownPair.prepareWrite(slice, objects.region.remote()).signaled(false);
            var receive = ownPair.prepareReceive(List.of());
            for (var posts = random.nextInt(8); posts > 0; posts--) {
                write.tryPost();
                receive.tryPost();
            }
            interruptSometimes();
            ownPair.drain(cursor, SHORT, _ -> count("drained"));
            count("drain");
        }
    }

    private void transfer(Objects objects) throws IOException {
        var pair = objects.dispatched;
        var slice = objects.region.slice(0, random.nextBoolean() ? 64 : 128);
        interruptSometimes();
        switch (random.nextInt(6)) {
            case 0 -> pair.receive(List.of()).awaitCompletion(SHORT); // never completes
            case 1 -> pair.receive(slice).awaitCompletion(SHORT);
            case 2 -> pair.send(slice); // no thread waits for this transfer
            case 3 -> pair.drain(SHORT);
            default -> pair.write(slice, objects.region.remote()).awaitCompletion(SHORT);
        }
        count("transfer await");
    }

    private void queryOrChange(Objects objects) throws IOException {
        switch (random.nextInt(5)) {
            case 0 -> objects.device.port(1);
            case 1 -> objects.polled.query();
            case 2 -> objects.dispatched.query();
            case 3 -> resize(objects.completions);
            default -> objects.polled.modify(QueuePairChange.to(QueuePairState.ERROR));
        }
        count("query or change");
    }

    private void resize(CompletionQueue completions) throws IOException {
        try {
            completions.resize(64 + random.nextInt(64));
        } catch (IllegalArgumentException e) {
            count("IllegalArgumentException: resize");
        }
    }

    /** Creates an arena for this thread, receives into its memory and closes it. */
    private void useOwnArena(Objects objects) throws IOException {
        try (var arena = objects.domain.newArena(Access.LOCAL_WRITE)) {
            var piece = arena.allocate(64);
            objects.dispatched.receive(arena.slice(piece)).awaitCompletion(SHORT);
            count("arena of this thread");
        }
    }

    private void waitForEvent(Objects objects) throws IOException {
        interruptSometimes();
        objects.device.nextEvent(SHORT);
    }

    private void close(Objects objects) {
        var object = objects.any(random);
        object.close();
        if (object.isOpen()) {
            throw new AssertionError(object + " is open after its close");
        }
        count("close a " + NAMES.get(object.getClass().getSimpleName()));
    }

    private static final Map<String, String> NAMES =
            Map.of(
                    "Device", "device",
                    "ProtectionDomain", "domain",
                    "RegisteredArena", "arena",
                    "MemoryRegion", "region",
                    "CompletionQueue", "completion queue",
                    "CompletionDispatcher", "dispatcher",
                    "PolledQueuePair", "queue pair",
                    "AsyncQueuePair", "queue pair");

    /** Sometimes interrupts this thread, so that its next wait ends immediately. */
    private void interruptSometimes() {
        if (random.nextInt(50) == 0) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean counted(String operation, boolean succeeded) {
        if (succeeded) {
            count(operation);
        }
        return succeeded;
    }

    private void count(String operation) {
        counts.merge(operation, 1L, Long::sum);
    }
}
