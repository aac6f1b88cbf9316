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
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.RemoteMemory;

/** A connected reliable queue pair with a source and a target memory region. */
final class RdmaConnection implements AutoCloseable {

    /** The maximum number of outstanding requests. */
    static final int DEPTH = 64;

    static final long RECEIVE = 1;
    static final long REQUEST = 2;

    private final Deque<AutoCloseable> owned;
    private final CompletionCursor cursor;
    final PolledQueuePair queuePair;
    final MemoryRegion source;
    final MemoryRegion target;
    final RemoteMemory peerMemory;
    private int outstanding;
    private int received;

    /** Connects to the peer. The connection owns the device. */
    RdmaConnection(Device device, ControlChannel peer, int largest) throws IOException {
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
            var endpoint = Endpoint.parse(peer.exchange(queuePair.endpoint()));
            peerMemory = RemoteMemory.parse(peer.exchange(target.remote()));
            queuePair.connect(endpoint);
        } catch (IOException | RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Waits until the peer is ready. Both sides call this method after they have posted their
     * receives.
     */
    static void awaitReady(ControlChannel peer) throws IOException {
        peer.exchange("ready");
    }

    /** Posts a request as soon as the send queue has a free slot. */
    void post(PreparedRequest<?> request) throws IOException {
        while (outstanding == DEPTH || !request.tryPost()) {
            SpinWait.checkNotInterrupted();
            pollCompletions();
            Thread.onSpinWait();
        }
        outstanding++;
    }

    /**
     * Polls completions.
     *
     * @throws IOException if a request failed, for example because the peer disconnected
     */
    void pollCompletions() throws IOException {
        cursor.poll();
        while (cursor.next()) {
            if (!cursor.isSuccess()) {
                throw new IOException(
                        "A request completed with %s: %s."
                                .formatted(cursor.status(), cursor.status().meaning()));
            }
            if (cursor.id() == RECEIVE) {
                received++;
            } else {
                outstanding--;
            }
        }
    }

    /** Polls completions, and returns the number of messages received since the last call. */
    int pollReceived() throws IOException {
        pollCompletions();
        var count = received;
        received = 0;
        return count;
    }

    /** Waits until all requests in the send queue have completed. */
    void awaitRequests() throws IOException {
        SpinWait.until(() -> {
            pollCompletions();
            return outstanding == 0;
        });
    }

    @Override
    public void close() throws IOException {
        Resources.closeAll(owned);
    }
}
