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
import org.jrdma.stress.World.Objects;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;

/** One thread of the soak: makes random calls on the shared objects, and counts the results. */
final class Soaker implements Runnable {

    static final Duration SHORT = Duration.ofMillis(2);

    private final World world;
    private final RandomGenerator random;
    private final long end;
    private final Map<String, Long> counts = new TreeMap<>();
    private Throwable unexpected;

    Soaker(World world, long seed, long end) {
        this.world = world;
        this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
        this.end = end;
    }

    /** The number of calls and exceptions of each kind. */
    Map<String, Long> counts() {
        return counts;
    }

    /** The exceptions that are not documented. */
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
            var objects = world.objects(random);
            switch (random.nextInt(20)) {
                case 0, 1, 2, 3, 4 -> poll(objects);
                case 5, 6, 7, 8 -> post(objects);
                case 9 -> drain(objects);
                case 10, 11, 12 -> transfer(objects);
                case 13 -> ask(objects);
                case 14 -> closeWhatIsMine(objects);
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

    /** Posts to the shared queue pair, which belongs to the first thread and rejects the others. */
    private void post(Objects objects) throws IOException {
        use(objects, objects.polled, objects.region, 1 + random.nextInt(200));
    }

    /** Posts and polls with a queue pair of this thread. */
    private void poll(Objects objects) throws IOException {
        try (var mine = World.Objects.connected(objects.domain, objects.completions)) {
            use(objects, mine, objects.region, 1 + random.nextInt(2_000));
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
        var completions = objects.completions; // other threads replace it
        try (var mine = World.Objects.connected(objects.domain, completions);
                var cursor = completions.newCursor(8)) {
            var slice = objects.region.slice(0, 64);
            var write = mine.prepareWrite(slice, objects.region.remote()).signaled(false);
            var receive = mine.prepareReceive(List.of());
            for (var posts = random.nextInt(8); posts > 0; posts--) {
                write.tryPost();
                receive.tryPost();
            }
            interruptSometimes();
            mine.drain(cursor, SHORT, shown -> count("drained"));
            count("drain");
        }
    }

    private void transfer(Objects objects) throws IOException {
        var pair = objects.dispatched;
        var slice = objects.region.slice(0, random.nextBoolean() ? 64 : 128);
        interruptSometimes();
        switch (random.nextInt(6)) {
            case 0 -> pair.receive(List.of()).awaitCompletion(SHORT); // would never complete
            case 1 -> pair.receive(slice).awaitCompletion(SHORT);
            case 2 -> pair.send(slice); // no thread waits for it
            case 3 -> pair.drain(SHORT);
            default -> pair.write(slice, objects.region.remote()).awaitCompletion(SHORT);
        }
        count("transfer await");
    }

    private void ask(Objects objects) throws IOException {
        switch (random.nextInt(5)) {
            case 0 -> objects.device.port(1);
            case 1 -> objects.polled.query();
            case 2 -> objects.dispatched.query();
            case 3 -> resize(objects.completions);
            default -> objects.polled.modify(QueuePairChange.to(QueuePairState.ERROR));
        }
        count("ask or change");
    }

    private void resize(CompletionQueue completions) throws IOException {
        try {
            completions.resize(64 + random.nextInt(64));
        } catch (IllegalArgumentException e) {
            count("IllegalArgumentException: resize");
        }
    }

    /** Makes, uses and closes slices of an arena and a region of a buffer. */
    private void closeWhatIsMine(Objects objects) throws IOException {
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
        var victim = objects.any(random);
        victim.close();
        if (victim.isOpen()) {
            throw new AssertionError(victim + " is open after its close");
        }
        count("close a " + NAMES.get(victim.getClass().getSimpleName()));
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

    /** Sometimes interrupts this thread, so that the next wait ends at once. */
    private void interruptSometimes() {
        if (random.nextInt(50) == 0) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean counted(String what, boolean done) {
        if (done) {
            count(what);
        }
        return done;
    }

    private void count(String what) {
        counts.merge(what, 1L, Long::sum);
    }
}
