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
import org.jspecify.annotations.Nullable;

/**
 * One end of a stream of bytes over a {@link SegmentPair}. The bytes go through a {@link SendRing}
 * in the peer's segment and a {@link ReceiveRing} in this end's; {@link StreamLayout} has the other
 * words by which the two ends inform each other. Nothing that a peer stores is trusted: a word that
 * cannot be is a failure of this stream.
 *
 * <p>What was sent is in the memory of the peer, which can receive it whatever becomes of this end.
 * Each send is checked before the peer sees it. When a link fails, even for a moment, the stream
 * has failed: what arrived before can be received, and then there is an error in place of the end.
 * When both ends are closed without a failure, the segments are {@linkplain SegmentRecycling
 * recycled}.
 */
public final class SisciStream extends BypassStream {

    private final SisciFabric fabric;
    private final SegmentPair pair;

    /** The number of streams that have used the segments before. */
    private final long number;

    private final LocalMap mine;
    private final ReceiveRing incoming;

    // Each is held by what stores into the peer's segment for its direction; both, to disconnect.
    private final ReentrantLock sending = new ReentrantLock();
    private final ReentrantLock acknowledging = new ReentrantLock();

    /** The peer's ring; null while there is no connection to the peer's segment. */
    private volatile @Nullable SendRing outgoing;

    private volatile boolean joined;
    private final AtomicBoolean disconnecting = new AtomicBoolean();
    private final SleepingThreads sleeping = new SleepingThreads();
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    private volatile boolean failed;

    /** Whether the failure was reported to the program: like the kernel, a stream does so once. */
    private volatile boolean failureReported;

    // Guarded by this, so that the memory that a thread looks at stays mapped
    private volatile boolean closed;
    private boolean released;
    private final SegmentRecycling recycling;

    private SisciStream(SegmentPair pair) {
        this.fabric = pair.fabric();
        this.pair = pair;
        this.mine = pair.mine();
        this.number = 0;
        this.incoming = new ReceiveRing(mine, pair.capacity());
        this.recycling = new SegmentRecycling(this, pair);
        pair.giveTo(this);
    }

    /** The next stream over the same segments, when both ends of the former are closed. */
    private SisciStream(SisciStream former, SendRing ring) {
        fabric = former.fabric;
        pair = former.pair;
        mine = former.mine;
        number = former.number + 1;
        joined = use() instanceof SegmentPair.Accepted; // the other end waits for a reply first
        incoming = new ReceiveRing(former.incoming);
        outgoing = new SendRing(ring);
        recycling = new SegmentRecycling(this, pair);
        pair.giveTo(this);
        failed =
                incoming.available() == ReceiveRing.INVALID
                        || pair.isBroken()
                        || pair.isPartnerGone();
    }

    /** Makes this end's segment, for a peer to connect to. May block. */
    static SisciStream open(SisciFabric fabric, int ringBytes, SegmentPair.Use use)
            throws SisciException {
        var pair = SegmentPair.make(fabric, ringBytes, use);
        try {
            var stream = new SisciStream(pair);
            pair.offer();
            fabric.add(stream);
            return stream;
        } catch (SisciException | RuntimeException e) {
            pair.close();
            throw e;
        }
    }

    int segmentId() {
        return pair.segmentId();
    }

    /**
     * Connects to the peer's segment, so that bytes can be sent. May block.
     *
     * @param timeout until when to try again what fails in passing
     * @throws FabricException if it is not there, or something else
     */
    void join(int node, int id, int wakeUpNumber, Duration timeout)
            throws FabricException, InterruptedIOException {
        var peer = pair.join(node, id, wakeUpNumber, timeout);
        sleeping.wake(SocketCalls.POLLIN); // the peer does not know that a thread awaited the reply
        outgoing = new SendRing(peer, mine);
        joined = true;
    }

    /** Replies to the peer that connects, and sends the location of this end. */
    void reply(ConnectReply reply) {
        sending.lock();
        try {
            var ring = outgoing;
            if (ring != null && !closed) {
                ring.peer().storeReply(number, reply, pair);
            }
        } finally {
            sending.unlock();
        }
    }

    /** The code of the listener's reply; 0 if there is none. */
    long replyCode() {
        return flag(StreamLayout.REPLY);
    }

    /** Joins the end that has accepted this one. Blocks. */
    void joinAccepting(Duration timeout) throws FabricException, InterruptedIOException {
        if (outgoing == null) {
            var place = mine.getLong(StreamLayout.SEGMENT);
            join(
                    StreamLayout.upper(place),
                    StreamLayout.lower(place),
                    (int) mine.getLong(StreamLayout.WAKE_UP),
                    timeout);
        }
        joined = true;
    }

    /**
     * Requests a connection from the listener that has the other end of the segments.
     *
     * @throws FabricException if the request does not arrive
     */
    void request(ConnectRequest request) throws FabricException {
        sending.lock();
        try {
            var ring = outgoing;
            if (ring == null || failed) {
                throw new FabricException("its listener has gone");
            }
            ring.peer().storeRequest(number, request);
        } finally {
            sending.unlock();
        }
    }

    /** The next stream over the same segments; null if they cannot be used again. */
    synchronized @Nullable SisciStream next() {
        var ring = outgoing;
        if (!recycling.isUnused() || ring == null || failed || pair.isPartnerGone()) {
            return null;
        }
        recycling.release();
        released = true;
        var next = new SisciStream(this, ring);
        outgoing = null;
        fabric.add(next);
        fabric.remove(this);
        return next;
    }

    SegmentPair.Use use() {
        return pair.use();
    }

    @Override
    public int ready() {
        if (!joined) {
            return failed || flag(StreamLayout.REPLY) != 0 ? SocketCalls.POLLIN : 0;
        }
        var ring = outgoing;
        var over = failed || peerHasClosed();
        var writable = over || outputEnded || (ring != null && ring.hasRoomForWakeUp());
        var readable =
                over || inputEnded || flag(StreamLayout.ENDED) != 0 || incoming.available() != 0;
        return (writable ? SocketCalls.POLLOUT : 0) | (readable ? SocketCalls.POLLIN : 0);
    }

    @Override
    public int available() {
        return Math.max(0, incoming.available());
    }

    /** The value of a flag for this stream. */
    private long flag(long offset) {
        return StreamLayout.flagOf(number, mine.getLongAcquire(offset));
    }

    private boolean peerHasClosed() {
        return flag(StreamLayout.CLOSE) != 0;
    }

    /** Tells the peer that this end sleeps. The peer wakes it up once for each such message. */
    @Override
    protected void arm(int events) {
        acknowledging.lock();
        try {
            var ring = closed ? null : outgoing;
            var asleep = sleeping.sleep(events);
            if (ring != null) {
                if ((asleep & SocketCalls.POLLIN) != 0) {
                    incoming.announceSleep(ring.peer());
                }
                if ((asleep & SocketCalls.POLLOUT) != 0) {
                    ring.announceSleep();
                }
                ring.peer().map().flush();
            }
            VarHandle.fullFence(); // before this end looks for the last time
        } finally {
            acknowledging.unlock();
        }
        fabric.willSleep();
    }

    /** Checks whether this stream has news for the threads that sleep. Does not wait for long. */
    void look() {
        var wake = false;
        var disconnect = false;
        SisciStream next = null;
        synchronized (this) {
            if (released) {
                return;
            }
            if (recycling.isUnused()) {
                next = pair.isRequested(number + 1) ? next() : null;
                disconnect = next == null && !recycling.canWait();
            } else if (closed) {
                disconnect = recycling.isDue(peerHasClosed());
            } else {
                wake = sleeping.areThere() && sleeping.wake(ready());
                disconnect =
                        outgoing != null
                                && peerHasClosed()
                                && (!recycling.isEnding() || !recycling.canWait());
            }
        }
        if (wake) {
            changed();
        }
        if (disconnect) {
            disconnectSoon();
        }
        if (next != null && use() instanceof SegmentPair.Accepted(var listener)) {
            listener.requested(next, pair.request(next.number));
        }
    }

    @Override
    public int receive(MemorySegment target, long most) {
        var broken = failed; // first: what the peer did before is seen below
        var left = peerHasClosed(); // before the end, which the peer stores first
        var ended = flag(StreamLayout.ENDED) != 0; // before the bytes in front of the end
        var available = incoming.available();
        if (available == ReceiveRing.INVALID) {
            fail();
            return reset();
        }
        if (available == 0) {
            return nothingToReceive(broken || left, ended);
        }
        var count = (int) Math.min(available, most);
        var slept =
                sleeping.wake(
                        SocketCalls.POLLIN); // first, so that a thread that arms now sees the bytes
        incoming.receive(target, count);
        if (slept) {
            changed(); // wakes up a selector, which the peer does not
        }
        if (incoming.isAcknowledgementDue()) {
            acknowledge();
        }
        return count;
    }

    /**
     * The result of receiving when there are no bytes. A stream has ended if the peer has said so
     * and all that it sent was received, whatever failed later.
     *
     * @param over whether nothing more will arrive
     */
    private int nothingToReceive(boolean over, boolean ended) {
        var whole = ended && incoming.isComplete();
        if (((over || ended) && !whole) || flag(StreamLayout.CLOSE) == StreamLayout.RESET) {
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
            if (count == ReceiveRing.INVALID || (count > 0 && !ring.peer().hasAll())) {
                fail();
                return reset();
            }
            if (count == 0) {
                return SocketCalls.AGAIN;
            }
            var slept = sleeping.wake(SocketCalls.POLLOUT);
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

    /** Tells the peer that no more bytes follow, unless some may be lost. Holds the lock. */
    private boolean announceEnd(SendRing ring) {
        if (failed || !ring.peer().hasAll()) {
            fail();
            return false;
        }
        ring.peer().storeEnd(number, ring.produced());
        return true;
    }

    /** As with TCP, bytes that were not received make the close a reset. */
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
                var whole = !reset && !unread && announceEnd(ring);
                ring.peer().storeClose(number, whole ? StreamLayout.CLOSED : StreamLayout.RESET);
            }
            synchronized (this) {
                closed = true; // and nothing is stored for this stream any more
                recycling.closed();
            }
        } finally {
            acknowledging.unlock();
            sending.unlock();
        }
        disconnectSoon();
    }

    /** Closes an end that no peer knows of, or that none will connect to. */
    void abandon() {
        synchronized (this) {
            closed = true;
            failed = true;
            pair.partnerIsGone();
        }
        disconnect();
    }

    /** The peer is no longer connected to this end. */
    void partnerHasGone() {
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

    /** Disconnects on another thread, once however often this is called meanwhile. */
    private void disconnectSoon() {
        if (disconnecting.compareAndSet(false, true)) {
            fabric.executeDisconnect(this::disconnect);
        }
    }

    /** Disconnects from a peer that has closed, or if this end is closed. May block. */
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
                                && recycling.keep(outgoing != null, closed && peerClosed);
                var gone = pair.isPartnerGone();
                ring = !kept && (closed || gone || peerClosed) ? outgoing : null;
                release = !kept && closed && !released && (gone || recycling.isAbandoned());
                released |= release;
            }
            if (ring != null) {
                outgoing = null;
            }
        } finally {
            acknowledging.unlock();
            sending.unlock();
        }
        look(); // the peer may have sent a request while this end was not ready for it
        if (ring != null) {
            ring.peer().close();
        }
        if (release) {
            fabric.remove(this);
            pair.close();
        }
    }
}
