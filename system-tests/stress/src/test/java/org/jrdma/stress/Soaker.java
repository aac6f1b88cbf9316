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
import org.jrdma.stress.World.Country;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;

/** One thread of the soak: does this and that to what all share, and notes what comes of it. */
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

    /** How often what was done, and what was thrown. */
    Map<String, Long> counts() {
        return counts;
    }

    /** What no documentation speaks of. */
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
            var country = world.country(random);
            switch (random.nextInt(20)) {
                case 0, 1, 2, 3, 4 -> poll(country);
                case 5, 6, 7, 8 -> post(country);
                case 9 -> drain(country);
                case 10, 11, 12 -> transfer(country);
                case 13 -> ask(country);
                case 14 -> closeWhatIsMine(country);
                case 15 -> waitForEvent(country);
                default -> close(country);
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

    /** Posts to the queue pair that all share: the first thread has it, the others are refused. */
    private void post(Country country) throws IOException {
        use(country, country.polled, country.region, 1 + random.nextInt(200));
    }

    /** Posts and polls with a queue pair that no other thread prepares requests for. */
    private void poll(Country country) throws IOException {
        try (var mine = World.Country.connected(country.domain, country.completions)) {
            use(country, mine, country.region, 1 + random.nextInt(2_000));
        }
    }

    private void use(Country country, PolledQueuePair pair, MemoryRegion region, int rounds)
            throws IOException {
        var slice = region.slice(0, 64);
        var write =
                pair.prepareWrite(slice, region.remote())
                        .signalled(random.nextBoolean())
                        .inline(random.nextBoolean());
        var receive = pair.prepareReceive(random.nextInt(10) == 0 ? List.of() : List.of(slice));
        var chain =
                pair.prepareChain(
                        pair.prepareSend(slice), pair.prepareSend(slice).signalled(false));
        try (var cursor = country.completions.newCursor(1 + random.nextInt(16))) {
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

    private void drain(Country country) throws IOException {
        var completions = country.completions; // others replace it
        try (var mine = World.Country.connected(country.domain, completions);
                var cursor = completions.newCursor(8)) {
            var slice = country.region.slice(0, 64);
            var write = mine.prepareWrite(slice, country.region.remote()).signalled(false);
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

    private void transfer(Country country) throws IOException {
        var pair = country.dispatched;
        var slice = country.region.slice(0, random.nextBoolean() ? 64 : 128);
        interruptSometimes();
        switch (random.nextInt(6)) {
            case 0 -> pair.receive(List.of()).awaitCompletion(SHORT); // never comes by itself
            case 1 -> pair.receive(slice).awaitCompletion(SHORT);
            case 2 -> pair.send(slice); // nobody waits for it
            case 3 -> pair.drain(SHORT);
            default -> pair.write(slice, country.region.remote()).awaitCompletion(SHORT);
        }
        count("transfer await");
    }

    private void ask(Country country) throws IOException {
        switch (random.nextInt(5)) {
            case 0 -> country.device.port(1);
            case 1 -> country.polled.query();
            case 2 -> country.dispatched.query();
            case 3 -> resize(country.completions);
            default -> country.polled.modify(QueuePairChange.to(QueuePairState.ERROR));
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

    /** An arena's pieces, a buffer's region: made, used and closed in one go. */
    private void closeWhatIsMine(Country country) throws IOException {
        try (var arena = country.domain.newArena(Access.LOCAL_WRITE)) {
            var piece = arena.allocate(64);
            country.dispatched.receive(arena.slice(piece)).awaitCompletion(SHORT);
            count("arena of one's own");
        }
    }

    private void waitForEvent(Country country) throws IOException {
        interruptSometimes();
        country.device.nextEvent(SHORT);
    }

    private void close(Country country) {
        var victim = country.any(random);
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

    /** So that the next wait ends at once. */
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
