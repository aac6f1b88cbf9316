package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.AsyncQueuePair;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionDispatcher;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.ConnectedQueuePair;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * Runs threads that post, poll, wait and close on shared objects in random order. The JVM must not
 * crash, no thread may hang, and calls may throw only documented exceptions.
 *
 * <p>The system property {@code jrdma.tck.soak.seconds} (default 5) sets the duration. {@code
 * jrdma.tck.soak.seed} repeats the random choices of an earlier run, but not the interleaving of
 * its threads.
 */
class RandomThreadsTest {

    private static final int THREADS = 6;
    private static final int SETS = 3;
    private static final int PAIRS = THREADS / 2;
    private static final int REQUESTS = 16;
    private static final List<String> NEEDED =
            !Fabric.underTest().profile().has(Feature.CONNECTING_BY_MODIFY)
                    ? List.of("create", "poll", "close")
                    : List.of("create", "post", "poll", "close");
    private static final int REGION_BYTES = 4096;

    private final boolean connects = Fabric.underTest().profile().has(Feature.CONNECTING_BY_MODIFY);
    private final boolean events = Fabric.underTest().profile().has(Feature.COMPLETION_EVENTS);
    private final AtomicReferenceArray<@Nullable Shared> sets = new AtomicReferenceArray<>(SETS);
    private final ReentrantLock creating = new ReentrantLock();
    private final ConcurrentLinkedQueue<Throwable> undocumented = new ConcurrentLinkedQueue<>();
    private final Map<String, LongAdder> outcomes = new ConcurrentHashMap<>();

    /**
     * A device and its objects. All threads use them until one of the threads closes the device.
     */
    private record Shared(
            Device device,
            ProtectionDomain domain,
            RegisteredArena arena,
            MemoryRegion region,
            CompletionQueue completions,
            List<PolledQueuePair> lefts,
            List<PolledQueuePair> rights,
            @Nullable CompletionDispatcher dispatcher,
            @Nullable AsyncQueuePair first,
            @Nullable AsyncQueuePair second) {}

    @Test
    void shouldSurviveThreadsThatPostPollWaitAndCloseAtRandom() throws Exception {
        var seconds = Integer.getInteger("jrdma.tck.soak.seconds", 5);
        long seed = Long.getLong("jrdma.tck.soak.seed", System.nanoTime());
        System.out.printf("seed %d, %d s%n", seed, seconds);
        var end = System.nanoTime() + Duration.ofSeconds(seconds).toNanos();
        var threads = new ArrayList<Thread>();
        for (var number = 0; number < THREADS; number++) {
            var random = new Random(seed + number);
            // Two threads may share a queue pair, and the SDK then rejects one of them.
            var own = number / 2;
            threads.add(
                    Thread.ofPlatform()
                            .daemon()
                            .name("random-" + number)
                            .start(() -> act(random, own, end)));
        }
        for (var thread : threads) {
            thread.join(Duration.ofSeconds(seconds + 60L));
            assertThat(thread.isAlive())
                    .as("%s hangs at %s", thread, List.of(thread.getStackTrace()))
                    .isFalse();
        }
        for (var index = 0; index < SETS; index++) {
            var shared = sets.get(index);
            if (shared != null) {
                shared.device.close();
            }
        }
        System.out.println(new TreeMap<>(outcomes));
        assertThat(undocumented).isEmpty();
        assertThat(outcomes).containsKeys(NEEDED.toArray(String[]::new));
    }

    private void act(Random random, int own, long end) {
        while (!isOver(end)) {
            var index = random.nextInt(SETS);
            var shared = sets.get(index);
            try {
                if (shared != null && shared.device.isOpen()) {
                    act(random, own, shared);
                } else if (creating.tryLock()) {
                    try {
                        sets.set(index, create());
                        count("create");
                    } finally {
                        creating.unlock();
                    }
                }
            } catch (IllegalStateException
                    | WrongThreadException
                    | FabricException
                    | InterruptedIOException e) {
                count(e.getClass().getSimpleName());
            } catch (Throwable e) {
                undocumented.add(e);
            }
        }
    }

    /**
     * Returns true if the duration of the test has passed and each needed operation has succeeded
     * at least once. On a slow machine, the threads get up to 30 seconds more to achieve this.
     */
    private boolean isOver(long end) {
        var beyond = System.nanoTime() - end;
        return beyond > 0
                && (outcomes.keySet().containsAll(NEEDED)
                        || beyond > Duration.ofSeconds(30).toNanos());
    }

    private Shared create() throws Exception {
        var device = Fabric.underTest().open();
        try {
            var domain = device.newProtectionDomain();
            var arena = domain.newArena(Pair.ALL);
            var options = CompletionQueueOptions.capacity(4 * REQUESTS * PAIRS);
            var completions = device.newCompletionQueue(events ? options.waitable() : options);
            var polled = QueuePairOptions.reliable(completions).sends(REQUESTS).receives(REQUESTS);
            var lefts = new ArrayList<PolledQueuePair>();
            var rights = new ArrayList<PolledQueuePair>();
            for (var number = 0; number < PAIRS; number++) {
                lefts.add(domain.newQueuePair(polled));
                rights.add(domain.newQueuePair(polled));
                connect(lefts.getLast(), rights.getLast());
            }
            if (!events) {
                return new Shared(
                        device,
                        domain,
                        arena,
                        arena.region(REGION_BYTES),
                        completions,
                        lefts,
                        rights,
                        null,
                        null,
                        null);
            }
            var dispatcher = device.newCompletionDispatcher(4 * REQUESTS);
            var dispatched =
                    QueuePairOptions.reliable(dispatcher)
                            .sends(REQUESTS)
                            .receives(REQUESTS)
                            .slotTimeout(Duration.ofMillis(10));
            var first = domain.newQueuePair(dispatched);
            var second = domain.newQueuePair(dispatched);
            connect(first, second);
            return new Shared(
                    device,
                    domain,
                    arena,
                    arena.region(REGION_BYTES),
                    completions,
                    lefts,
                    rights,
                    dispatcher,
                    first,
                    second);
        } catch (Exception e) {
            device.close();
            throw e;
        }
    }

    private void connect(ConnectedQueuePair left, ConnectedQueuePair right) throws Exception {
        if (connects) {
            left.connect(right.endpoint());
            right.connect(left.endpoint());
        }
    }

    private void act(Random random, int own, Shared shared) throws Exception {
        switch (random.nextInt(12)) {
            case 0, 1, 2 -> postAndPoll(random, shared, own);
            case 3 -> receiveAndPoll(shared, own);
            case 4, 5 -> transfer(random, shared);
            case 6 -> waitForCompletions(shared);
            case 7 -> waitForEvents(shared);
            case 8 -> registerAndClose(shared, own);
            case 9 -> query(random, shared, own);
            case 10 -> breakOrDrain(random, shared, own);
            default -> {
                if (random.nextInt(4) == 0) {
                    closeOneObject(random, shared, own);
                }
            }
        }
    }

    private void postAndPoll(Random random, Shared shared, int own) throws Exception {
        PreparedWrite write =
                shared.lefts
                        .get(own)
                        .prepareWrite(shared.region.slice(0, 64), shared.region.remote().at(64));
        try (var cursor = shared.completions.newCursor(8)) {
            for (var round = random.nextInt(200); round > 0; round--) {
                if (write.id(round).signaled(random.nextInt(4) == 0).tryPost()) {
                    count("post");
                }
                poll(cursor);
            }
        }
    }

    private void receiveAndPoll(Shared shared, int own) throws Exception {
        PreparedReceive receive =
                shared.rights.get(own).prepareReceive(shared.region.slice(128, 64));
        try (var cursor = shared.completions.newCursor(8)) {
            while (receive.tryPost()) {
                count("post");
            }
            poll(cursor);
        }
    }

    private void poll(CompletionCursor cursor) {
        cursor.poll();
        count("poll");
        while (cursor.next()) {
            count("completion " + cursor.status());
        }
    }

    private void transfer(Random random, Shared shared) throws Exception {
        if (shared.first == null || shared.second == null) {
            return;
        }
        var piece = shared.region.slice(256, 64);
        var transfer =
                switch (random.nextInt(4)) {
                    case 0 -> shared.first.write(piece, shared.region.remote());
                    case 1 -> shared.first.send(piece);
                    case 2 -> shared.second.receive(piece);
                    default -> shared.first.read(piece, shared.region.remote());
                };
        count("post");
        transfer.await(Duration.ofMillis(random.nextInt(20)));
        count("transfer");
    }

    private void waitForCompletions(Shared shared) throws Exception {
        try (var cursor = shared.completions.newCursor(8)) {
            cursor.await(Duration.ofMillis(5));
            while (cursor.next()) {
                count("completion " + cursor.status());
            }
        }
    }

    private void waitForEvents(Shared shared) throws Exception {
        count("event " + shared.device.nextEvent(Duration.ofMillis(5)).type());
    }

    private void registerAndClose(Shared shared, int own) throws Exception {
        try (var region = shared.arena.region(REGION_BYTES)) {
            shared.lefts.get(own).prepareWrite(region.slice(), shared.region.remote()).tryPost();
            count("region");
        }
    }

    private void query(Random random, Shared shared, int own) throws Exception {
        switch (random.nextInt(3)) {
            case 0 -> count("state " + shared.lefts.get(own).query().state());
            case 1 -> count("state " + shared.device.port(1).state());
            default -> shared.completions.resize(4 * REQUESTS * PAIRS + random.nextInt(64));
        }
    }

    private void breakOrDrain(Random random, Shared shared, int own) throws Exception {
        switch (random.nextInt(8)) {
            case 0 -> shared.lefts.get(own).modify(QueuePairChange.to(QueuePairState.ERROR));
            case 1 -> {
                if (shared.second != null) {
                    shared.second.drain(Duration.ofMillis(20));
                }
            }
            case 2 -> {
                try (var cursor = shared.completions.newCursor(8)) {
                    shared.lefts.get(own).drain(cursor, Duration.ofMillis(20), each -> {});
                }
            }
            default -> {}
        }
    }

    private void closeOneObject(Random random, Shared shared, int own) {
        var closed =
                switch (random.nextInt(8)) {
                    case 0 -> shared.region;
                    case 1 -> shared.arena;
                    case 2 -> shared.lefts.get(own);
                    case 3 -> shared.completions;
                    case 4 ->
                            shared.dispatcher == null ? shared.rights.get(own) : shared.dispatcher;
                    case 5 -> shared.first == null ? shared.rights.get(own) : shared.first;
                    case 6 -> shared.domain;
                    default -> shared.device;
                };
        closed.close();
        count("close");
        if (random.nextInt(3) > 0) {
            shared.device.close();
        }
    }

    private void count(String outcome) {
        outcomes.computeIfAbsent(outcome, absent -> new LongAdder()).increment();
    }
}
