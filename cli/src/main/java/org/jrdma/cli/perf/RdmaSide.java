package org.jrdma.cli.perf;

import static org.jrdma.verbs.QueuePairOptions.reliable;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_ATOMIC;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.RemoteMemory;

/**
 * One end of a reliable connection over RDMA, with memory to send from and memory to be sent to.
 */
final class RdmaSide implements AutoCloseable {

    /** How many requests are under way at most. */
    static final int DEPTH = 64;

    static final long RECEIVE = 1;
    static final long REQUEST = 2;

    private final Deque<AutoCloseable> owned;
    private final CompletionCursor cursor;
    final PolledQueuePair queuePair;
    final MemoryRegion source;
    final MemoryRegion target;
    final RemoteMemory peerMemory;
    private int underWay;
    private int received;

    /** Takes over the device. */
    RdmaSide(Device device, ControlChannel peer, int largest) throws IOException {
        owned = new ArrayDeque<>();
        owned.push(device);
        try {
            var domain = device.newProtectionDomain();
            var memory = domain.newArena(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC);
            source = memory.region(largest);
            target = memory.region(largest);
            var completions = device.newCompletionQueue(CompletionQueueOptions.capacity(2 * DEPTH));
            cursor = completions.newCursor(DEPTH);
            owned.push(cursor);
            queuePair = domain.newQueuePair(reliable(completions).sends(DEPTH).receives(DEPTH));
            var endpoint = Endpoint.parse(peer.swap(queuePair.endpoint()));
            peerMemory = RemoteMemory.parse(peer.swap(target.remote()));
            queuePair.connect(endpoint);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /** To be called by both sides when they have posted what the other one may send to. */
    static void becomeReady(ControlChannel peer) throws IOException {
        peer.swap("ready");
    }

    /** Posts a request as soon as there is room. */
    void post(PreparedRequest<?> request) throws IOException {
        while (underWay == DEPTH || !request.tryPost()) {
            takeCompletions();
            Thread.onSpinWait();
        }
        underWay++;
    }

    /** Takes what has completed. */
    void takeCompletions() throws IOException {
        cursor.poll();
        while (cursor.next()) {
            if (!cursor.isSuccess()) {
                throw new IOException(
                        "A request failed: %s, that is, %s."
                                .formatted(cursor.status(), cursor.status().meaning()));
            }
            if (cursor.id() == RECEIVE) {
                received++;
            } else {
                underWay--;
            }
        }
    }

    /** How many messages have been received since the last call. */
    int takeReceived() throws IOException {
        takeCompletions();
        var taken = received;
        received = 0;
        return taken;
    }

    /** Waits until all that was posted to be sent is done. */
    void awaitRequests() throws IOException {
        Spin.until(() -> {
            takeCompletions();
            return underWay == 0;
        });
    }

    @Override
    public void close() throws IOException {
        Closing.all(owned);
    }
}
