package org.jrdma.sockets.sisci;

import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jspecify.annotations.Nullable;

/**
 * Runs the accepts of listeners, which may block while a client does not respond. The number of
 * threads is limited for each client network, so that the clients in one network do not delay those
 * in other networks. A network is an IPv4 address or the first 64 bits of an IPv6 address, because
 * a host can have any number of addresses with these bits. An accept may wait only if fewer accepts
 * of its network wait than there are free places, so each network leaves half of the places that it
 * finds to others. Safe for use by multiple threads.
 */
final class AcceptExecutor {

    /** The maximum number of accepts that wait for all clients. */
    static final int MAX_WAITING = 8192;

    private static final int NETWORK_BYTES = 8;

    private final Executor threads;
    private final int maxRunning;

    // Guarded by this
    private final Map<InetAddress, Clients> clients = new HashMap<>();
    private int waiting;

    /**
     * The waiting handshakes with the clients in one network, and the number of threads that run
     * handshakes with these clients.
     */
    private static final class Clients {

        private final InetAddress network;
        private final ArrayQueue<Runnable> waiting = new ArrayQueue<>();
        private int running;

        Clients(InetAddress network) {
            this.network = network;
        }
    }

    /**
     * Creates an executor.
     *
     * @param threads runs the accepts
     * @param maxRunning the maximum number of accepts that run at the same time for each client
     *     network
     */
    AcceptExecutor(Executor threads, int maxRunning) {
        this.threads = threads;
        this.maxRunning = maxRunning;
    }

    /**
     * Runs a handshake later. Those with clients in the same network run in the order of the calls
     * of this method.
     *
     * @return false if too many handshakes wait
     */
    synchronized boolean tryExecute(InetAddress address, Runnable accept) {
        var free = MAX_WAITING - waiting;
        if (free == 0) {
            return false;
        }
        var same = clients.computeIfAbsent(network(address), Clients::new);
        if (same.waiting.size() >= free) {
            return false;
        }
        same.waiting.add(accept);
        waiting++;
        if (same.running < maxRunning) {
            try {
                threads.execute(() -> run(same));
                same.running++;
            } catch (Throwable e) {
                same.waiting.remove(accept); // no thread would run it
                waiting--;
                removeIfIdle(same);
                throw e;
            }
        }
        return true;
    }

    private static InetAddress network(InetAddress address) {
        if (address instanceof Inet4Address) {
            return address;
        }
        var bytes = address.getAddress();
        Arrays.fill(bytes, NETWORK_BYTES, bytes.length, (byte) 0);
        try {
            return InetAddress.getByAddress(bytes);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    /**
     * Runs one accept. The next one is queued behind those of other networks, or runs on this
     * thread if it cannot be queued, for example for lack of memory.
     */
    private void run(Clients same) {
        var ended = false;
        while (!ended) {
            var next = take(same);
            try {
                if (next != null) {
                    next.run();
                }
            } finally {
                ended = tryEnd(same);
            }
        }
    }

    private synchronized @Nullable Runnable take(Clients same) {
        var next = same.waiting.pollFirst();
        if (next != null) {
            waiting--;
        }
        return next;
    }

    /** Ends an accept. Returns false if the caller must run the next one. */
    private synchronized boolean tryEnd(Clients same) {
        if (!same.waiting.isEmpty()) {
            try {
                threads.execute(() -> run(same));
                return true;
            } catch (Throwable e) {
                return false;
            }
        }
        same.running--;
        removeIfIdle(same);
        return true;
    }

    private void removeIfIdle(Clients same) {
        if (same.running == 0 && same.waiting.isEmpty()) {
            clients.remove(same.network, same);
        }
    }
}
