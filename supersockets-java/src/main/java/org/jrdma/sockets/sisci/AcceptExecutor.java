package org.jrdma.sockets.sisci;

import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs the accepts of listeners, which may block while a client does not respond. The number of
 * waiting accepts is limited for each client address, and so is the number of threads, so that the
 * clients at one address do not delay those at other addresses. Safe for use by multiple threads.
 */
final class AcceptExecutor {

    /** The maximum number of accepts that wait for each client address. */
    static final int MAX_WAITING = 4096;

    private final Executor threads;
    private final int maxRunning;

    // Guarded by this
    private final Map<InetAddress, Clients> clients = new HashMap<>();

    /** The waiting accepts for the clients at one address, and the number of their threads. */
    private static final class Clients {

        private final InetAddress address;
        private final Queue<Runnable> waiting = new ArrayDeque<>();
        private int running;

        Clients(InetAddress address) {
            this.address = address;
        }
    }

    /**
     * Creates an executor.
     *
     * @param threads runs the accepts
     * @param maxRunning the maximum number of accepts that run at the same time for each client
     *     address
     */
    AcceptExecutor(Executor threads, int maxRunning) {
        this.threads = threads;
        this.maxRunning = maxRunning;
    }

    /**
     * Runs an accept later, in the order of the calls of this method for the same address.
     *
     * @return false if too many accepts wait for the address
     */
    synchronized boolean tryExecute(InetAddress address, Runnable accept) {
        var same = clients.computeIfAbsent(address, Clients::new);
        if (same.waiting.size() == MAX_WAITING) {
            return false;
        }
        same.waiting.add(accept);
        if (same.running < maxRunning) {
            start(same);
        }
        return true;
    }

    private void start(Clients same) {
        threads.execute(() -> run(same));
        same.running++;
    }

    /** Runs one accept. The next one is queued behind those of other addresses. */
    private void run(Clients same) {
        var next = take(same);
        try {
            if (next != null) {
                next.run();
            }
        } finally {
            ended(same);
        }
    }

    private synchronized @Nullable Runnable take(Clients same) {
        return same.waiting.poll();
    }

    private synchronized void ended(Clients same) {
        same.running--;
        if (!same.waiting.isEmpty()) {
            start(same);
        } else if (same.running == 0) {
            clients.remove(same.address, same);
        }
    }
}
