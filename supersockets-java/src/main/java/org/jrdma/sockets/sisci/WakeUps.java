package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The interrupts by which other processes are woken: one for each, however many streams. */
final class WakeUps {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Logger LOG = LoggerFactory.getLogger(WakeUps.class);

    private final Node node;
    private final Map<Key, WakeUp> bells = new HashMap<>();

    WakeUps(Node node) {
        this.node = node;
    }

    private record Key(int node, int number) {}

    /** One that {@link #release()} is to be called of. */
    final class WakeUp {

        private final Key key;

        /** Guarded by {@code bells}. */
        private int users;

        private volatile @Nullable RemoteInterrupt interrupt;

        private WakeUp(Key key) {
            this.key = key;
        }

        /** Who wants another process does not wait for this. */
        private synchronized void connect() throws FabricException, InterruptedIOException {
            if (interrupt == null) {
                interrupt = node.connectInterrupt(key.node, key.number, TIMEOUT);
            }
        }

        /** Wakes the process, if it is still there: if not, its streams hear of that otherwise. */
        void ring() {
            try {
                Objects.requireNonNull(interrupt).trigger();
            } catch (SisciException | IllegalStateException e) {
                LOG.debug("{} is not heard: {}", interrupt, e.getMessage());
            }
        }

        void release() {
            synchronized (bells) {
                users--;
                if (users > 0) {
                    return;
                }
                bells.remove(key);
            }
            var connected = interrupt;
            if (connected != null) {
                connected.close();
            }
        }
    }

    /** That of one process. May block. */
    WakeUp take(int peer, int number) throws FabricException, InterruptedIOException {
        WakeUp bell;
        synchronized (bells) {
            bell = bells.computeIfAbsent(new Key(peer, number), WakeUp::new);
            bell.users++;
        }
        try {
            bell.connect();
            return bell;
        } catch (FabricException | InterruptedIOException | RuntimeException e) {
            bell.release();
            throw e;
        }
    }
}
