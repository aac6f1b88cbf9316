package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections to the interrupts by which this process wakes up other processes. All streams to a
 * process share its interrupt.
 */
final class SharedWakeUpInterrupts {

    private static final Logger LOG = LoggerFactory.getLogger(SharedWakeUpInterrupts.class);

    private final Node node;
    private final Map<Key, WakeUp> wakeUps = new HashMap<>();

    SharedWakeUpInterrupts(Node node) {
        this.node = node;
    }

    private record Key(int node, int number) {}

    /**
     * The connection to the interrupt of another process. A caller of {@link #take} must call
     * {@link #release()} once.
     */
    final class WakeUp {

        private final Key key;

        /** Guarded by {@code wakeUps}. */
        private int users;

        private volatile @Nullable RemoteInterrupt interrupt;

        private WakeUp(Key key) {
            this.key = key;
        }

        /**
         * Connects to the interrupt, unless it is connected. Does not hold the lock on {@code
         * wakeUps}, so that streams to other processes are not delayed.
         */
        private synchronized void connect(Duration timeout)
                throws FabricException, InterruptedIOException {
            if (interrupt == null) {
                interrupt = node.connectInterrupt(key.node, key.number, timeout);
            }
        }

        /**
         * Wakes up the process. A failure is ignored: if the process has ended, the streams to it
         * are notified by events of their segments.
         */
        void trigger() {
            try {
                Objects.requireNonNull(interrupt).trigger();
            } catch (SisciException | IllegalStateException e) {
                LOG.debug("Could not trigger interrupt {}: {}", interrupt, e.getMessage());
            }
        }

        /** Ends one use of the connection. If it was the last use, the connection is closed. */
        void release() {
            synchronized (wakeUps) {
                users--;
                if (users > 0) {
                    return;
                }
                wakeUps.remove(key);
            }
            var connected = interrupt;
            if (connected != null) {
                connected.close();
            }
        }
    }

    /**
     * Returns the connection to the interrupt of a process, and connects if necessary. May block.
     *
     * @param timeout the time during which temporary failures are retried
     */
    WakeUp take(int peer, int number, Duration timeout)
            throws FabricException, InterruptedIOException {
        WakeUp wakeUp;
        synchronized (wakeUps) {
            wakeUp = wakeUps.computeIfAbsent(new Key(peer, number), WakeUp::new);
            wakeUp.users++;
        }
        try {
            wakeUp.connect(timeout);
            return wakeUp;
        } catch (Throwable e) {
            wakeUp.release();
            throw e;
        }
    }
}
