package org.jrdma.volume.history;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The clients of a volume, one on each host. Some hosts have a path to the drive. Used by one
 * thread at a time, except {@link #started()} and {@link #checkAlive()}.
 */
final class ClientSet {

    /** The first number of a host, after those of the servers. */
    private static final int FIRST_HOST = 11;

    private final HistoryVolume volume;
    private final long seed;
    private final List<ClientProcess> clients = new CopyOnWriteArrayList<>();
    private final AtomicInteger started = new AtomicInteger();
    private final Map<Integer, Long> killed = new HashMap<>();

    ClientSet(HistoryVolume volume, long seed) {
        this.volume = volume;
        this.seed = seed;
    }

    void start(int direct, int redirected, int withoutCoordinator) throws IOException {
        for (var i = 0; i < direct; i++) {
            clients.add(start(FIRST_HOST + i));
        }
        for (var i = 0; i < redirected; i++) {
            clients.add(start(0));
        }
        for (var i = 0; i < withoutCoordinator; i++) {
            clients.add(start(ClientProcess.NO_COORDINATOR));
        }
    }

    private ClientProcess start(int host) throws IOException {
        return new ClientProcess(volume, started.getAndIncrement(), seed, host);
    }

    /** Returns the number of clients that were started. */
    int started() {
        return started.get();
    }

    /**
     * Returns a time at which a client had been killed; {@link RegisterHistoryChecker#NEVER} if it
     * was not.
     */
    long killed(int client) {
        return killed.getOrDefault(client, RegisterHistoryChecker.NEVER);
    }

    /** Throws if a client has failed. */
    void checkAlive() {
        clients.forEach(ClientProcess::checkAlive);
    }

    /** Sends a signal to all clients. */
    void signal(String name) throws IOException, InterruptedException {
        for (var client : clients) {
            client.signal(name);
        }
    }

    ClientProcess any(Random random) {
        return clients.get(random.nextInt(clients.size()));
    }

    /** Returns a client that accesses the drive directly at present. */
    Optional<ClientProcess> anyDirect(Random random) {
        var direct = clients.stream().filter(ClientProcess::isDirect).toList();
        return direct.isEmpty()
                ? Optional.empty()
                : Optional.of(direct.get(random.nextInt(direct.size())));
    }

    /** Kills a client, and starts another one on its host. */
    ClientProcess replace(ClientProcess client) throws IOException, InterruptedException {
        client.kill();
        killed.put(client.number(), System.nanoTime());
        var next = start(client.host());
        clients.set(clients.indexOf(client), next);
        return next;
    }

    /** Waits until all clients with a path to the drive use it. */
    void awaitDirect() throws InterruptedException {
        for (var client : clients) {
            if (client.host() > 0) {
                JavaProcess.await(
                        client + " uses its direct path again",
                        HistoryVolume.RETRY_TIMEOUT,
                        client::isDirect);
            }
        }
    }

    /** Lets the clients end by themselves. */
    void end() throws IOException, InterruptedException {
        for (var client : clients) {
            client.execute(ClientProcess.Command.END);
        }
        for (var client : clients) {
            if (!client.awaitEnd(HistoryVolume.RETRY_TIMEOUT)) {
                throw new AssertionError("%s has failed or does not end".formatted(client));
            }
        }
    }

    void kill() throws InterruptedException {
        for (var client : clients) {
            client.kill();
        }
    }
}
