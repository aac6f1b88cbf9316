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

/** The interrupts that wake up other processes, one for each process, shared by its streams. */
final class WakeUps {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Logger LOG = LoggerFactory.getLogger(WakeUps.class);

    private final Node node;
    private final Map<Key, WakeUp> wakeUps = new HashMap<>();

    WakeUps(Node node) {
        this.node = node;
    }

    private record Key(int node, int number) {}

    /**
     * The interrupt of one process. The caller of {@link #take} must call {@link #release()} once.
     */
    final class WakeUp {

        private final Key key;

        /** Guarded by {@code wakeUps}. */
        private int users;

        private volatile @Nullable RemoteInterrupt interrupt;

        private WakeUp(Key key) {
            this.key = key;
        }

        /** Connects to the interrupt outside the lock, so that other processes are not delayed. */
        private synchronized void connect() throws FabricException, InterruptedIOException {
            if (interrupt == null) {
                interrupt = node.connectInterrupt(key.node, key.number, TIMEOUT);
            }
        }

        /** Wakes up the process. If it has ended, its streams notice that by their segments. */
        void trigger() {
            try {
                Objects.requireNonNull(interrupt).trigger();
            } catch (SisciException | IllegalStateException e) {
                LOG.debug("Could not trigger {}: {}", interrupt, e.getMessage());
            }
        }

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

    /** Returns the interrupt of one process. May block. */
    WakeUp take(int peer, int number) throws FabricException, InterruptedIOException {
        WakeUp wakeUp;
        synchronized (wakeUps) {
            wakeUp = wakeUps.computeIfAbsent(new Key(peer, number), WakeUp::new);
            wakeUp.users++;
        }
        try {
            wakeUp.connect();
            return wakeUp;
        } catch (FabricException | InterruptedIOException | RuntimeException e) {
            wakeUp.release();
            throw e;
        }
    }
}
