package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.SisciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The interrupts by which other processes are woken: one for each, however many streams. */
final class Bells {

    private static final Duration TIMEOUT = Duration.ofSeconds(2);
    private static final Logger LOG = LoggerFactory.getLogger(Bells.class);

    private final Node node;
    private final Map<Key, Bell> bells = new HashMap<>();

    Bells(Node node) {
        this.node = node;
    }

    private record Key(int node, int number) {}

    /** One that {@link #release()} is to be called of. */
    final class Bell {

        private final Key key;
        private final RemoteInterrupt interrupt;
        private int users;

        private Bell(Key key, RemoteInterrupt interrupt) {
            this.key = key;
            this.interrupt = interrupt;
        }

        /** Wakes the process, if it is still there: if not, its streams hear of that otherwise. */
        void ring() {
            try {
                interrupt.trigger();
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
            interrupt.close();
        }
    }

    /** That of one process. May block. */
    Bell take(int peer, int number) throws FabricException, InterruptedIOException {
        var key = new Key(peer, number);
        synchronized (bells) {
            var bell = bells.get(key);
            if (bell == null) {
                bell = new Bell(key, node.connectInterrupt(peer, number, TIMEOUT));
                bells.put(key, bell);
            }
            bell.users++;
            return bell;
        }
    }
}
