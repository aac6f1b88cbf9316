package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.model.SisciException;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.ThreadParker;
import org.jspecify.annotations.Nullable;

/**
 * One end of a byte stream over SISCI segments.
 *
 * <p>The bytes pass through a {@link SendRing} in the peer's segment and a {@link ReceiveRing} in
 * this end's {@link StreamSegment}. {@link StreamLayout} defines the other words that the ends
 * store for each other. This end does not trust the words that a peer stores: an invalid word is a
 * failure of the stream.
 *
 * <p>Sent bytes are in the memory of the peer, which can receive them even if this end has failed.
 * Stores are checked for errors before the peer sees the bytes. If a link fails, even briefly, the
 * stream fails: bytes that arrived before can be received, and are followed by an error instead of
 * the end. If both ends are closed without a failure, the segments are {@linkplain SegmentRetention
 * kept for the next stream}.
 */
public final class SisciStream extends BypassStream {

    private final SisciStreamNode streamNode;
    private final StreamSegment segment;
    private final long number;
    private final LocalMap memory;
    private final ReceiveRing incoming;

    // Locks for storing sent bytes, and for acknowledgements and sleeps. A disconnect holds both.
    private final ReentrantLock sending = new ReentrantLock();
    private final ReentrantLock acknowledging = new ReentrantLock();

    /** The ring in the peer's segment; null while this end is not connected to it. */
    private volatile @Nullable SendRing outgoing;

    private volatile boolean joined;
    private final AtomicBoolean disconnecting = new AtomicBoolean();
    private final AwaitedEvents awaited = new AwaitedEvents();
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    private volatile boolean failed;
    private volatile boolean failureReported;

    // Guarded by this, so that memory remains mapped while a thread reads it.
    private volatile boolean closed;
    private boolean released;
    private final SegmentRetention retention;

    private SisciStream(StreamSegment segment) {
        this.streamNode = segment.streamNode();
        this.segment = segment;
        this.memory = segment.map();
        this.number = 0;
        this.incoming = new ReceiveRing(memory, segment.capacity());
        this.retention = new SegmentRetention(this, segment);
        segment.attach(this);
    }

    /** Creates the next stream over the segments of a closed stream. */
    private SisciStream(SisciStream former, SendRing ring) {
        streamNode = former.streamNode;
        segment = former.segment;
        memory = former.memory;
        number = former.number + 1;
        // The connecting end joins only after it has received a reply.
        joined = use() instanceof StreamSegment.Accepted;
        incoming = new ReceiveRing(former.incoming);
        outgoing = new SendRing(ring);
        retention = new SegmentRetention(this, segment);
        segment.attach(this);
        failed =
                incoming.available() == StreamLayout.INVALID_POSITION
                        || segment.isBroken()
                        || segment.isPeerGone();
    }

    /** Creates this end's segment, to which a peer can connect. May block. */
    static SisciStream open(SisciStreamNode streamNode, int ringBytes, StreamSegment.Use use)
            throws SisciException {
        var segment = StreamSegment.create(streamNode, ringBytes, use);
        try {
            var stream = new SisciStream(segment);
            segment.offer();
            streamNode.add(stream);
            return stream;
        } catch (Throwable e) {
            segment.close();
            throw e;
        }
    }

    int segmentId() {
        return segment.segmentId();
    }

    /** Sets the peer's segment, into which sent bytes are stored from now on. */
    void join(PeerSegment peer) {
        segment.watch(peer);
        // Sleeps that were not announced are cleared, so that the next arm() announces them.
        awaited.remove(SocketCalls.POLLIN);
        outgoing = new SendRing(peer, memory);
        joined = true;
        retention.awaitPeer();
    }

    void reply(ConnectReply reply) {
        sending.lock();
        try {
            var ring = outgoing;
            if (ring != null && !closed) {
                ring.peer().storeReply(number, reply, segment);
            }
        } finally {
            sending.unlock();
        }
    }

    long replyCode() {
        return flag(StreamLayout.REPLY);
    }

    void joinAccepting(Duration timeout) throws FabricException, InterruptedIOException {
        if (outgoing == null) {
            join(PeerSegment.connectAccepting(streamNode, memory, timeout));
        }
        joined = true;
    }

    /** Sends a connect request over the connected segments; throws if it may not have arrived. */
    void request(ConnectRequest request) throws FabricException {
        sending.lock();
        try {
            var ring = outgoing;
            if (ring == null || failed) {
                throw new FabricException("its listener was closed");
            }
            ring.peer().storeRequest(number, request);
        } finally {
            sending.unlock();
        }
    }

    /** Creates the next stream over the same segments. Returns null if they cannot be reused. */
    synchronized @Nullable SisciStream next() {
        var ring = outgoing;
        if (!retention.isUnused() || ring == null || failed || segment.isPeerGone()) {
            return null;
        }
        retention.release();
        released = true;
        var next = new SisciStream(this, ring);
        outgoing = null;
        streamNode.add(next);
        streamNode.remove(this);
        return next;
    }

    StreamSegment.Use use() {
        return segment.use();
    }

    @Override
    public int ready() {
        if (!joined) {
            return failed || flag(StreamLayout.REPLY) != 0 ? SocketCalls.POLLIN : 0;
        }
        var ring = outgoing;
        var over = failed || peerHasClosed();
        var writable = over || outputEnded || (ring != null && ring.isWriterWakeUpDue());
        var readable =
                over || inputEnded || flag(StreamLayout.ENDED) != 0 || incoming.available() != 0;
        return (writable ? SocketCalls.POLLOUT : 0) | (readable ? SocketCalls.POLLIN : 0);
    }

    @Override
    public int available() {
        return Math.max(0, incoming.available());
    }

    private long flag(long offset) {
        return StreamLayout.flagOf(number, memory.getLongAcquire(offset));
    }

    private boolean peerHasClosed() {
        return flag(StreamLayout.CLOSE) != 0;
    }

    @Override
    protected ThreadParker parker(int events) {
        return streamNode.incomingWakeUps().parker();
    }

    @Override
    protected void arm(int events, boolean parks) {
        acknowledging.lock();
        try {
            var ring = closed ? null : outgoing;
            var asleep = awaited.add(events, parks && !Thread.currentThread().isVirtual());
            if (ring != null) {
                ring.announceSleep(asleep, incoming);
            }
            // The fence orders the announcement before the next check of readiness.
            VarHandle.fullFence();
        } finally {
            acknowledging.unlock();
        }
        streamNode.scanSoon();
        if (!parks) {
            streamNode.incomingWakeUps().requireService();
        }
    }

    /**
     * Called periodically: wakes up waiting threads, releases the stream if the peer has
     * disconnected, and handles a request of the peer to reuse the segments. Takes the lock of this
     * stream, but does not wait for the peer.
     */
    void scan() {
        var occurred = 0;
        var disconnect = false;
        SisciStream next = null;
        synchronized (this) {
            if (released) {
                return;
            }
            if (retention.isUnused()) {
                next = segment.isRequested(number + 1) ? next() : null;
                disconnect = next == null && !retention.canWait();
            } else if (closed) {
                disconnect = retention.isDue(peerHasClosed());
            } else {
                failed |= retention.isAbandoned(); // The client has given up.
                occurred = awaited.isAny() ? ready() : 0;
                disconnect =
                        outgoing != null
                                && peerHasClosed()
                                && (!retention.isEnding() || !retention.canWait());
            }
        }
        awaited.wakeUp(occurred, this::changed);
        if (disconnect) {
            disconnectSoon();
        }
        if (next != null && use() instanceof StreamSegment.Accepted(var listener, var client)) {
            listener.requested(next, client, segment.request(next.number));
        }
    }

    /**
     * Returns true if the service thread of {@link IncomingWakeUps} must receive wake-ups for this
     * stream: a virtual thread or a selector waits for it, or its segments are kept until the peer
     * closes its end or requests the next stream.
     */
    boolean needsService() {
        return closed ? retention.awaitsPeer() : awaited.needReceiver();
    }

    @Override
    public int receive(MemorySegment target, long maxBytes) {
        // The peer stores bytes, then the end, then the close; a failure comes last. Reading these
        // in the reverse order makes all earlier stores visible.
        var broken = failed;
        var peerClosed = peerHasClosed();
        var ended = flag(StreamLayout.ENDED) != 0;
        var available = incoming.available();
        if (available == StreamLayout.INVALID_POSITION) {
            fail();
            return reset();
        }
        if (available == 0) {
            return nothingToReceive(broken || peerClosed, ended);
        }
        var count = (int) Math.min(available, maxBytes);
        // Called before receiving, so that a thread that calls arm() now still sees the bytes.
        var slept = awaited.remove(SocketCalls.POLLIN);
        incoming.receive(target, count);
        if (slept) {
            changed(); // Other threads are woken up, because the peer wakes this end up only once.
        }
        if (incoming.isAcknowledgementDue()) {
            acknowledge();
        }
        return count;
    }

    /**
     * Returns the result of a receive call when the ring is empty: an errno, or 0 for the end. The
     * stream has ended in order if the peer has announced the end and all of its bytes were
     * received, even if a failure followed. {@code over} is true if no more bytes will arrive.
     */
    private int nothingToReceive(boolean over, boolean ended) {
        var complete = ended && incoming.isComplete();
        if (((over || ended) && !complete) || flag(StreamLayout.CLOSE) == StreamLayout.RESET) {
            return reset();
        }
        return ended || inputEnded ? 0 : SocketCalls.AGAIN;
    }

    private int reset() {
        failureReported = true;
        return -Errno.ECONNRESET;
    }

    private void acknowledge() {
        acknowledging.lock();
        try {
            var ring = closed ? null : outgoing;
            if (ring != null && incoming.acknowledge(ring.peer())) {
                ring.peer().wakeUp();
            }
        } finally {
            acknowledging.unlock();
        }
    }

    @Override
    public int send(MemorySegment source, long bytes) {
        sending.lock();
        try {
            var ring = outgoing;
            if (outputEnded || closed) {
                return -Errno.EPIPE;
            }
            if (failed || flag(StreamLayout.CLOSE) == StreamLayout.RESET) {
                return failureReported ? -Errno.EPIPE : reset();
            }
            if (ring == null || peerHasClosed()) {
                return -Errno.EPIPE;
            }
            var count = ring.store(source, bytes);
            if (count == StreamLayout.INVALID_POSITION
                    || (count > 0 && !ring.peer().haveStoresArrived())) {
                fail();
                return reset();
            }
            if (count == 0) {
                return SocketCalls.AGAIN;
            }
            var slept = awaited.remove(SocketCalls.POLLOUT);
            if (ring.publish(count)) {
                ring.peer().wakeUp();
            }
            if (slept) {
                changed();
            }
            return count;
        } finally {
            sending.unlock();
        }
    }

    @Override
    public void shutdownInput() {
        inputEnded = true;
        changed();
    }

    @Override
    public void shutdownOutput() {
        sending.lock();
        try {
            var ring = outgoing;
            if (!outputEnded && ring != null && !closed && announceEnd(ring)) {
                ring.peer().wakeUp();
            }
            outputEnded = true;
        } finally {
            sending.unlock();
        }
        changed();
    }

    /**
     * Announces the end to the peer, unless bytes may be lost. Requires the lock {@code sending}.
     */
    private boolean announceEnd(SendRing ring) {
        if (failed || !ring.peer().haveStoresArrived()) {
            fail();
            return false;
        }
        ring.peer().storeEnd(number, ring.produced());
        return true;
    }

    /** Closes this end. If bytes were not received, the peer sees a reset, as with TCP. */
    @Override
    public void close(boolean reset) {
        synchronized (this) {
            if (closed) {
                return;
            }
        }
        var unread = !inputEnded && incoming.available() != 0;
        sending.lock();
        acknowledging.lock();
        try {
            var ring = outgoing;
            if (ring != null) {
                var complete = !reset && !unread && announceEnd(ring);
                ring.peer().storeClose(number, complete ? StreamLayout.CLOSED : StreamLayout.RESET);
            }
            synchronized (this) {
                closed = true; // From now on, this end stores nothing for this stream.
                retention.closed();
            }
        } finally {
            acknowledging.unlock();
            sending.unlock();
        }
        disconnectSoon();
    }

    /** Closes this end without notifying a peer, because connecting has failed or was rejected. */
    void abandon() {
        synchronized (this) {
            closed = true;
            failed = true;
            segment.markPeerGone();
        }
        disconnect();
    }

    void peerDisconnected() {
        synchronized (this) {
            if (!released && !peerHasClosed()) {
                failed = true;
            }
        }
        changed();
        disconnectSoon();
    }

    void fail() {
        failed = true;
        changed();
    }

    boolean hasFailed() {
        return failed;
    }

    private void disconnectSoon() {
        if (disconnecting.compareAndSet(false, true)) {
            try {
                streamNode.executeDisconnect(this::disconnect);
            } catch (Throwable e) { // There is no memory or no thread; the next scan tries again.
                disconnecting.set(false);
                throw e;
            }
        }
    }

    /** Disconnects after this end or the peer was closed, unless segments are kept. May block. */
    private void disconnect() {
        disconnecting.set(false);
        SendRing ring;
        boolean release;
        sending.lock();
        acknowledging.lock();
        try {
            synchronized (this) {
                var peerClosed = !released && peerHasClosed();
                var kept =
                        (peerClosed || (closed && !released))
                                && retention.keep(outgoing != null, closed && peerClosed);
                var gone = segment.isPeerGone();
                ring = !kept && (closed || gone || peerClosed) ? outgoing : null;
                release = !kept && closed && !released && (gone || retention.isAbandoned());
                released |= release;
            }
            if (ring != null) {
                outgoing = null;
            }
        } finally {
            acknowledging.unlock();
            sending.unlock();
        }
        // Closes the ring even if the scan fails, because only this thread has it.
        try (var _ = ring == null ? null : ring.peer()) {
            scan(); // a request for the next stream may have arrived before this end was ready
        } finally {
            if (release) {
                streamNode.remove(this);
                segment.close();
            }
        }
    }
}
