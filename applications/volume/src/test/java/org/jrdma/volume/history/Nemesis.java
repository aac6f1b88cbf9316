package org.jrdma.volume.history;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Injects faults into the processes of a volume until it is stopped. One thread injects the faults
 * of servers and of the lender, another one those of clients, so that they overlap. Each kind of
 * fault is injected equally often, in random order.
 */
final class Nemesis {

    private static final Logger LOG = LoggerFactory.getLogger(Nemesis.class);

    /** The faults. */
    enum Fault {
        /** Kills the coordinator. */
        KILL_COORDINATOR,
        /** Stops the coordinator until another server has taken over. */
        STOP_COORDINATOR,
        /** Kills a standby, and starts it again. */
        KILL_STANDBY,
        /** Stops a standby for a random time. */
        STOP_STANDBY,
        /** Kills the lender of the drive, and starts it again. */
        KILL_LENDER,
        /** Kills a client, and starts another one on its host. */
        KILL_CLIENT,
        /** Stops a client for a random time, after which its session may have ended. */
        STOP_CLIENT,
        /** Cuts the link of a client to the drive until its data is redirected. */
        CUT_PATH,
        /** Fills the drive, and frees the space after a random time. */
        FILL_DRIVE
    }

    private static final List<Fault> OF_SERVERS =
            List.of(
                    Fault.KILL_COORDINATOR,
                    Fault.STOP_COORDINATOR,
                    Fault.KILL_STANDBY,
                    Fault.STOP_STANDBY,
                    Fault.KILL_LENDER);
    private static final List<Fault> OF_CLIENTS =
            List.of(Fault.KILL_CLIENT, Fault.STOP_CLIENT, Fault.CUT_PATH, Fault.FILL_DRIVE);

    /** The size of the events of an operation in a history, roughly. */
    private static final long OPERATION_BYTES = 90;

    /** A period in which operations can fail because the drive is full. */
    record FullPeriod(long started, long ended) {}

    private final HistoryVolume volume;
    private final long seed;
    private final LenderProcess lender;
    private final List<ServerProcess> servers;
    private final ClientSet clients;
    private final Map<Fault, AtomicInteger> counts = new EnumMap<>(Fault.class);
    private final List<FullPeriod> full = new ArrayList<>();
    private final ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private long epoch;

    Nemesis(
            HistoryVolume volume,
            long seed,
            LenderProcess lender,
            List<ServerProcess> servers,
            ClientSet clients) {
        this.volume = volume;
        this.seed = seed;
        this.lender = lender;
        this.servers = servers;
        this.clients = clients;
        for (var fault : Fault.values()) {
            counts.put(fault, new AtomicInteger());
        }
    }

    /** Injects faults for a time. Returns when all servers and clients work again. */
    void run(Duration duration) throws Exception {
        awaitOperations(100); // the processes have started
        var end = System.nanoTime() + duration.toNanos();
        var threads =
                List.of(
                        start("nemesis-servers", () -> inject(end, OF_SERVERS, new Random(seed))),
                        start("nemesis-clients", () -> inject(end, OF_CLIENTS, new Random(~seed))));
        for (var thread : threads) {
            thread.join();
        }
        if (!failures.isEmpty()) {
            throw new AssertionError("seed %d: %s".formatted(seed, counts), failures.peek());
        }
        var _ = awaitCoordinator(epoch - 1);
    }

    /** Returns the number of injected faults of each kind. */
    Map<Fault, AtomicInteger> counts() {
        return counts;
    }

    /** Returns the periods in which the drive was full. */
    List<FullPeriod> full() {
        return full;
    }

    private Thread start(String name, Callable<Void> action) {
        return Thread.ofPlatform()
                .name(name)
                .start(() -> {
                    try {
                        var _ = action.call();
                    } catch (Exception | AssertionError e) {
                        failures.add(e);
                    }
                });
    }

    private Void inject(long end, List<Fault> kinds, Random random) throws Exception {
        var deck = new ArrayList<Fault>();
        while (System.nanoTime() - end < 0 && failures.isEmpty()) {
            if (deck.isEmpty()) {
                deck.addAll(kinds);
                Collections.shuffle(deck, random);
            }
            awaitOperations(30 + random.nextInt(100));
            var fault = deck.removeLast();
            LOG.info("{}", fault);
            inject(fault, random);
            counts.get(fault).incrementAndGet();
        }
        return null;
    }

    private void inject(Fault fault, Random random) throws Exception {
        switch (fault) {
            case KILL_COORDINATOR -> {
                var coordinator = awaitCoordinator(epoch - 1);
                coordinator.kill();
                coordinator.start();
                var _ = awaitCoordinator(epoch);
            }
            case STOP_COORDINATOR -> {
                var coordinator = awaitCoordinator(epoch - 1);
                stopUntil(coordinator, () -> awaitCoordinator(epoch));
            }
            case KILL_STANDBY -> {
                var standby = standby();
                standby.kill();
                standby.start();
            }
            case STOP_STANDBY -> stopUntil(standby(), () -> pause(random, 3000));
            case KILL_LENDER -> {
                lender.kill();
                lender.start();
                var _ = awaitCoordinator(epoch);
            }
            case KILL_CLIENT -> clients.replace(clients.any(random));
            case STOP_CLIENT -> stopUntil(clients.any(random), () -> pause(random, 3000));
            case CUT_PATH -> cutPath(random);
            case FILL_DRIVE -> fillDrive(random);
        }
    }

    private ServerProcess standby() throws Exception {
        var coordinator = awaitCoordinator(epoch - 1);
        return servers.stream().filter(server -> server != coordinator).findAny().orElseThrow();
    }

    private void stopUntil(JavaProcess process, Callable<?> recovery) throws Exception {
        process.stop(volume.fabric());
        try {
            var _ = recovery.call();
        } finally {
            process.signal("CONT");
        }
    }

    private static Void pause(Random random, int maxMillis) throws InterruptedException {
        Thread.sleep(100 + random.nextInt(maxMillis));
        return null;
    }

    private void cutPath(Random random) throws Exception {
        var client = clients.anyDirect(random);
        if (client.isPresent()) { // otherwise, all direct paths have failed because of other faults
            var cut = client.get();
            cut.execute(ClientProcess.Command.CUT);
            JavaProcess.await(
                    cut + " is redirected", HistoryVolume.RETRY_TIMEOUT, () -> !cut.isDirect());
            var _ = pause(random, 1000);
            cut.execute(ClientProcess.Command.RESTORE);
        }
    }

    private void fillDrive(Random random) throws Exception {
        var started = System.nanoTime();
        var client = clients.any(random);
        client.execute(ClientProcess.Command.FILL);
        var _ = pause(random, 1500);
        if (random.nextInt(3) == 0) {
            client = clients.replace(client);
        }
        client.execute(ClientProcess.Command.FREE);
        full.add(new FullPeriod(started, System.nanoTime()));
    }

    private void awaitOperations(int count) throws InterruptedException {
        var target = historyBytes() + count * OPERATION_BYTES;
        JavaProcess.await(
                "%d operations were executed".formatted(count),
                HistoryVolume.RETRY_TIMEOUT,
                () -> {
                    clients.checkAlive();
                    return historyBytes() >= target || !failures.isEmpty();
                });
    }

    private long historyBytes() {
        var bytes = 0L;
        for (var client = 0; client < clients.started(); client++) {
            try {
                var file = volume.history(client);
                bytes += Files.exists(file) ? Files.size(file) : 0;
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
        return bytes;
    }

    /** Waits for a coordinator of an epoch after a given one. Called by one thread at a time. */
    private ServerProcess awaitCoordinator(long after) throws Exception {
        var end = System.nanoTime() + HistoryVolume.RETRY_TIMEOUT.toNanos();
        while (System.nanoTime() - end < 0) {
            var newest = servers.getFirst();
            for (var server : servers) {
                newest = server.lastEpoch() > newest.lastEpoch() ? server : newest;
            }
            if (newest.lastEpoch() > after) {
                epoch = newest.lastEpoch();
                return newest;
            }
            Thread.sleep(20);
        }
        throw new AssertionError(
                "No server became the coordinator after epoch %d within %s"
                        .formatted(after, HistoryVolume.RETRY_TIMEOUT));
    }
}
