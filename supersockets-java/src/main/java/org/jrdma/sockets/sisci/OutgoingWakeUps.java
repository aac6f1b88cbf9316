package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends wake-ups to other processes. All streams to a process share the connections to its
 * interrupt and its {@link WakeUpMarks}.
 */
final class OutgoingWakeUps {

    /** The time for an attempt to connect to marks, without which streams work too. */
    private static final Duration MARKS_TIMEOUT = Duration.ofMillis(200);

    private static final Logger LOG = LoggerFactory.getLogger(OutgoingWakeUps.class);

    private final Node node;
    private final Map<Key, WakeUp> wakeUps = new HashMap<>();

    /**
     * The last mark. Starts at random, so that a mark differs from the last one that an earlier
     * process has stored in the same slot.
     */
    private final AtomicLong marks = new AtomicLong(ThreadLocalRandom.current().nextLong());

    OutgoingWakeUps(Node node) {
        this.node = node;
    }

    /**
     * @param interrupt the number of the interrupt
     * @param marks the id of the segment with the {@link WakeUpMarks}
     */
    private record Key(int node, int interrupt, int marks) {}

    private record MarksConnection(RemoteSegment segment, RemoteMap map) {}

    /**
     * The connections to the interrupt and the {@link WakeUpMarks} of another process. A caller of
     * {@link #take} must call {@link #release()} once.
     */
    final class WakeUp {

        private final Key key;

        /** Guarded by {@code wakeUps}. */
        private int users;

        private volatile @Nullable RemoteInterrupt interrupt;
        private volatile @Nullable MarksConnection connection;

        private WakeUp(Key key) {
            this.key = key;
        }

        /**
         * Connects to the process, unless it is connected. Does not hold the lock on {@code
         * wakeUps}, so that streams to other processes are not delayed.
         */
        private synchronized void connect(Duration timeout)
                throws FabricException, InterruptedIOException {
            if (interrupt == null) {
                var connected = node.connectInterrupt(key.node, key.interrupt, timeout);
                try {
                    connection = connectMarks();
                } catch (FabricException e) {
                    LOG.warn(
                            "Wake-ups of a process of node {} take 20 ms or more: {}",
                            key.node,
                            e.getMessage());
                } catch (Throwable e) {
                    connected.close();
                    throw e;
                }
                interrupt = connected; // last, because hasFailed() then requires the marks
            }
        }

        private MarksConnection connectMarks() throws FabricException, InterruptedIOException {
            var segment = node.connect(key.node, key.marks, MARKS_TIMEOUT);
            try {
                var map = segment.map();
                WakeUpMarks.check(map);
                return new MarksConnection(segment, map);
            } catch (Throwable e) {
                segment.close();
                throw e;
            }
        }

        /**
         * Marks a stream and wakes up the process. The caller has flushed its stores. A failure is
         * ignored: if the process has ended, the streams to it are notified by events of their
         * segments.
         *
         * @param slot the slot of the stream in the marks of the process
         */
        void trigger(int slot) {
            try {
                var connected = connection;
                if (connected != null) {
                    connected.map.putLong(WakeUpMarks.offset(slot), marks.incrementAndGet());
                    connected.map.flush();
                }
                Objects.requireNonNull(interrupt).trigger();
            } catch (SisciException | IllegalStateException e) {
                LOG.debug("Could not trigger interrupt {}: {}", interrupt, e.getMessage());
            }
        }

        /** Returns true if there are no marks, or they may be lost. */
        private boolean hasFailed() {
            var connected = connection;
            return interrupt != null
                    && (connected == null
                            || connected.segment.link() != RemoteSegment.Link.OPERATIONAL);
        }

        /** Ends one use of the connections. If it was the last use, they are closed. */
        void release() {
            synchronized (wakeUps) {
                users--;
                if (users > 0) {
                    return;
                }
                wakeUps.remove(key, this);
            }
            var connectedInterrupt = interrupt;
            if (connectedInterrupt != null) {
                connectedInterrupt.close();
            }
            var connectedMarks = connection;
            if (connectedMarks != null) {
                connectedMarks.segment.close();
            }
        }
    }

    /**
     * Returns the connections to a process, and connects if necessary. May block.
     *
     * @param peer the node of the process
     * @param interruptNumber the number of its interrupt
     * @param marksId the id of the segment with its {@link WakeUpMarks}
     * @param timeout the time during which temporary failures are retried
     */
    WakeUp take(int peer, int interruptNumber, int marksId, Duration timeout)
            throws FabricException, InterruptedIOException {
        WakeUp wakeUp;
        synchronized (wakeUps) {
            wakeUp =
                    wakeUps.compute(
                            new Key(peer, interruptNumber, marksId),
                            (key, present) ->
                                    present == null || present.hasFailed()
                                            ? new WakeUp(key)
                                            : present);
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
