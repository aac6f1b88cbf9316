package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jrdma.ffi.linkage.ArrayQueue;
import org.jrdma.ffi.linkage.FailureLog;
import org.jrdma.soft.sisci.control.Connection;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs requests that may block on worker threads. The requests of one connection run one after the
 * other, in the order of their arrival. Safe for use by multiple threads.
 */
final class PerConnectionExecutor {

    private static final Logger LOG = LoggerFactory.getLogger(PerConnectionExecutor.class);

    private final Executor workers;

    /** The tasks by connection. The first task of a queue is running. */
    private final Map<Connection, ArrayQueue<Runnable>> tasks = new HashMap<>();

    PerConnectionExecutor(Executor workers) {
        this.workers = workers;
    }

    /** Adds a request. Fails with SCI_ERR_BUSY if {@code limit} requests of the connection wait. */
    synchronized void add(Connection connection, int limit, Runnable request) {
        var queue = tasks.get(connection);
        throwIf(queue != null && queue.size() >= limit, SCI_ERR_BUSY());
        addLast(connection, request);
    }

    /** Adds a task that runs after all requests of a connection. */
    synchronized void addLast(Connection connection, Runnable task) {
        var queue = tasks.get(connection);
        if (queue != null) {
            queue.addLast(task);
            return;
        }
        queue = new ArrayQueue<>();
        queue.addLast(task);
        tasks.put(connection, queue);
        try {
            workers.execute(() -> run(connection));
        } catch (Throwable e) {
            // There is no memory for a thread, or this process leaves the fabric.
            tasks.remove(connection);
            throw e;
        }
    }

    /** Returns true if no task of a connection runs or waits. */
    synchronized boolean isIdle(Connection connection) {
        return !tasks.containsKey(connection);
    }

    private void run(Connection connection) {
        for (var task = first(connection); task != null; task = next(connection)) {
            try {
                task.run();
            } catch (Throwable e) {
                FailureLog.error(LOG, "A request of another process failed", e);
            }
        }
    }

    private synchronized Runnable first(Connection connection) {
        return tasks.get(connection).getFirst();
    }

    private synchronized @Nullable Runnable next(Connection connection) {
        var queue = tasks.get(connection);
        queue.removeFirst();
        if (queue.isEmpty()) {
            tasks.remove(connection);
            return null;
        }
        return queue.getFirst();
    }
}
