package org.jrdma.sockets.sisci;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.SisciException;
import org.jrdma.sockets.bypass.BypassStream;
import org.jrdma.sockets.internal.ReadinessWaiting;
import org.jrdma.sockets.internal.SocketCalls;
import org.jspecify.annotations.Nullable;

/**
 * One end of a stream of bytes over a {@link SegmentPair}, see {@link StreamLayout}. Sends and
 * receives without waiting, and answers as system calls do: a number of bytes, or a negative errno.
 *
 * <p>One thread at a time sends and one receives; the rest is safe for several. What was sent is in
 * the peer's own memory, so it can be read there whatever becomes of this end. Each send is checked
 * before the peer is told of it. When a link fails, even for a moment, the stream has failed: what
 * arrived before can be read, and then there is no end of the stream but an error.
 *
 * <p>When both ends are closed, and nothing has failed, the segments wait for a while for the next
 * stream: each end has stored that it leaves as the last of all, and has seen the same of the
 * other.
 */
public final class SisciStream extends BypassStream {

    /** How long an end that is closed keeps its memory for a peer that has not come yet. */
    private static final Duration LONGEST_ABSENCE = Duration.ofSeconds(10);

    /** How long segments wait for the peer to leave, and for the next stream. */
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final SisciFabric fabric;
    private final SegmentPair pair;

    /** How many had the segments before. */
    private final long number;

    private final LocalMap mine;
    private final int capacity;

    /** Guard {@code peer} together, and each what its direction stores there. */
    private final ReentrantLock sending = new ReentrantLock();

    private final ReentrantLock telling = new ReentrantLock();
    private volatile SegmentPair.@Nullable Peer peer;
    private volatile boolean joined;

    /** What was sent of streams before; whatever of it the peer has not taken is nobody's. */
    private final long sentBefore;

    // Written while sending
    private volatile long produced;
    private long wokenReader;

    // Written by the one who receives
    private volatile long consumed;

    // Guarded by telling
    private long told;
    private long wokenWriter;
    private long readerSleeps;
    private long writerSleeps;

    private final AtomicBoolean leaving = new AtomicBoolean();
    private final AtomicBoolean readerSleeping = new AtomicBoolean();
    private final AtomicBoolean writerSleeping = new AtomicBoolean();
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    private volatile boolean failed;

    /** Whether a program has been told of the failure, as the kernel tells of a reset once. */
    private volatile boolean failureTold;

    // Guarded by this: whoever looks at the memory must not find it gone
    private volatile boolean closed;
    private boolean released;
    private Keeping keeping = Keeping.NOT_YET;
    private Deadline patience = Deadline.NEVER;
    private Deadline absence = Deadline.NEVER;

    /** What is to become of the segments. */
    private enum Keeping {
        /** Neither end has been closed. */
        NOT_YET,
        /** One end has been closed. */
        WAITING,
        /** Both have: the next stream may have them. */
        UNUSED,
        /** They go, or are another stream's. */
        NO
    }

    private SisciStream(SegmentPair pair) {
        this.fabric = pair.fabric();
        this.pair = pair;
        this.mine = pair.mine();
        this.capacity = pair.capacity();
        this.number = 0;
        this.sentBefore = 0;
        pair.giveTo(this);
    }

    /** The next. Nobody stores for the former any more, at either end. */
    private SisciStream(SisciStream former) {
        fabric = former.fabric;
        pair = former.pair;
        mine = former.mine;
        capacity = former.capacity;
        number = former.number + 1;
        peer = former.peer;
        joined = use() instanceof SegmentPair.LetIn; // who calls waits for an answer first
        sentBefore = former.produced;
        produced = sentBefore;
        consumed = mine.getLongAcquire(StreamLayout.PRODUCED); // and what was not read is nobody's
        told = consumed;
        wokenReader = former.wokenReader;
        wokenWriter = former.wokenWriter;
        readerSleeps = former.readerSleeps;
        writerSleeps = former.writerSleeps;
        pair.giveTo(this);
        if (pair.isBroken() || pair.isPartnerGone()) {
            failed = true; // of which the former may have been told
        }
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
    void join(int node, int id, int bell, Duration timeout)
            throws FabricException, InterruptedIOException {
        var other = pair.join(node, id, bell, timeout);
        readerSleeping.set(false); // who waited for the answer did, and the peer knew nothing of it
        peer = other;
        joined = true;
    }

    // Set-up

    /** Of who accepts: says where this end is. */
    void answer(ConnectReply answer) {
        sending.lock();
        try {
            var other = peer;
            if (other != null && !closed) {
                other.map()
                        .putLong(
                                StreamLayout.SEGMENT,
                                StreamLayout.word(fabric.nodeId(), pair.segmentId()));
                other.map().putLong(StreamLayout.BELL, fabric.bellNumber());
                other.map()
                        .putLongRelease(
                                StreamLayout.ANSWER, StreamLayout.flag(number, answer.code()));
                other.map().flush();
                other.bell().ring();
            }
        } finally {
            sending.unlock();
        }
    }

    /**
     * Of who connects: waits for the answer, and joins if it is accepted. Blocks.
     *
     * @throws FabricException if there was none
     */
    ConnectReply awaitAnswer(Deadline deadline) throws FabricException, InterruptedIOException {
        if (!new ReadinessWaiting(this, SocketCalls.POLLIN, 0).await(deadline)) {
            throw new FabricException("its listener does not answer");
        }
        var code = flag(StreamLayout.ANSWER);
        if (code == 0) {
            throw new FabricException("its listener has gone");
        }
        var answer =
                ConnectReply.of(code)
                        .orElseThrow(() -> new FabricException("its listener answers " + code));
        if (answer == ConnectReply.ACCEPTED && peer == null) {
            var place = mine.getLong(StreamLayout.SEGMENT);
            join(
                    StreamLayout.upper(place),
                    StreamLayout.lower(place),
                    (int) mine.getLong(StreamLayout.BELL),
                    Duration.ofNanos(Math.max(0, deadline.remainingNanos())));
        }
        if (answer == ConnectReply.ACCEPTED) {
            joined = true;
        }
        return answer;
    }

    /**
     * Of who connects by segments that are there: says so to the listener that has the other end.
     *
     * @throws FabricException if that does not arrive
     */
    void call(ConnectRequest greeting) throws FabricException {
        var message = greeting.encode();
        sending.lock();
        try {
            var other = peer;
            if (other == null || failed) {
                throw new FabricException("its listener has gone");
            }
            MemorySegment.copy(
                    MemorySegment.ofArray(message),
                    0,
                    other.map().segment(),
                    StreamLayout.GREETING,
                    message.length);
            if (!other.hasAll()) {
                throw new FabricException("the link to its listener has failed");
            }
            other.map()
                    .putLongRelease(StreamLayout.CALL, StreamLayout.flag(number, message.length));
            other.map().flush();
            other.bell().ring();
        } finally {
            sending.unlock();
        }
    }

    /** The stream that follows this one over the same segments; null if none can. */
    synchronized @Nullable SisciStream next() {
        if (keeping != Keeping.UNUSED || failed || pair.isPartnerGone()) {
            return null;
        }
        fabric.noLongerUnused(this);
        keeping = Keeping.NO;
        released = true;
        var next = new SisciStream(this);
        peer = null;
        fabric.add(next);
        fabric.remove(this);
        return next;
    }

    SegmentPair.Use use() {
        return pair.use();
    }

    // Readiness

    @Override
    public int ready() {
        if (!joined) {
            return failed || flag(StreamLayout.ANSWER) != 0 ? SocketCalls.POLLIN : 0;
        }
        var over = failed || hasLeft();
        var events = over || outputEnded || room() >= wakingRoom() ? SocketCalls.POLLOUT : 0;
        return over || inputEnded || hasEnded() || available() != 0
                ? events | SocketCalls.POLLIN
                : events;
    }

    /** Less is not worth a wake-up. */
    private long wakingRoom() {
        var other = peer;
        return other == null ? Long.MAX_VALUE : Math.max(1, other.capacity() / 4);
    }

    @Override
    public int available() {
        return (int) (mine.getLongAcquire(StreamLayout.PRODUCED) - consumed);
    }

    private long room() {
        var other = peer;
        return other == null ? 0 : other.capacity() - (produced - takenByPeer());
    }

    private long takenByPeer() {
        return Math.max(sentBefore, mine.getLongAcquire(StreamLayout.CONSUMED));
    }

    /** What a flag says of this stream. */
    private long flag(long offset) {
        return StreamLayout.flagOf(number, mine.getLongAcquire(offset));
    }

    private boolean hasEnded() {
        return flag(StreamLayout.ENDED) != 0;
    }

    private boolean hasLeft() {
        return flag(StreamLayout.LEFT) != 0;
    }

    /** Tells the peer whom to wake, each time anew: it wakes once for each number. */
    @Override
    protected void arm(int events) {
        telling.lock();
        try {
            var other = closed ? null : peer;
            if ((events & SocketCalls.POLLIN) != 0 && !readerSleeping.getAndSet(true)) {
                if (other != null) {
                    other.map().putLong(StreamLayout.READER_SLEEPS, ++readerSleeps);
                }
            }
            if ((events & SocketCalls.POLLOUT) != 0 && !writerSleeping.getAndSet(true)) {
                if (other != null) {
                    other.map().putLong(StreamLayout.WRITER_SLEEPS, ++writerSleeps);
                }
            }
            if (other != null) {
                other.map().flush();
            }
            VarHandle.fullFence(); // before this end looks for the last time
        } finally {
            telling.unlock();
        }
        fabric.willSleep();
    }

    /** Looks whether there is something for those who sleep here. Never waits for long. */
    void look() {
        var wake = false;
        var leave = false;
        SisciStream next = null;
        synchronized (this) {
            if (released) {
                return;
            }
            if (keeping == Keeping.UNUSED) {
                next = isCalled() ? next() : null;
                leave = next == null && !canWait();
            } else if (closed) {
                leave = isAlone() || (keeping == Keeping.WAITING && (hasLeft() || !canWait()));
            } else {
                var ready = readerSleeping.get() || writerSleeping.get() ? ready() : 0;
                if ((ready & SocketCalls.POLLIN) != 0) {
                    wake = clear(readerSleeping);
                }
                if ((ready & SocketCalls.POLLOUT) != 0) {
                    wake |= clear(writerSleeping);
                }
                leave = peer != null && hasLeft() && (keeping != Keeping.WAITING || !canWait());
            }
        }
        if (wake) {
            changed();
        }
        if (leave) {
            leaveSoon();
        }
        if (next != null && use() instanceof SegmentPair.LetIn(var door)) {
            door.called(next, next.callOfPeer());
        }
    }

    /** Whether somebody slept. What was not set is not written: somebody may set it just now. */
    private static boolean clear(AtomicBoolean sleeping) {
        return sleeping.get() && sleeping.getAndSet(false);
    }

    private boolean isCalled() {
        return use() instanceof SegmentPair.LetIn
                && StreamLayout.flagOf(number + 1, mine.getLongAcquire(StreamLayout.CALL)) != 0;
    }

    /** The greeting, as it was sent. */
    private byte[] callOfPeer() {
        var length = Math.min(flag(StreamLayout.CALL), ConnectRequest.MOST_BYTES);
        return mine.segment().asSlice(StreamLayout.GREETING, length).toArray(JAVA_BYTE);
    }

    // Bytes

    @Override
    public int receive(MemorySegment target, long most) {
        var broken = failed; // first: what the peer did before is seen below
        var left = hasLeft(); // before the end, which the peer stores first
        var ended = hasEnded(); // before what it is the end of
        var before = consumed;
        var available = mine.getLongAcquire(StreamLayout.PRODUCED) - before;
        if (available < 0 || available > capacity) {
            fail(); // no peer of ours does that
            return reset();
        }
        if (available == 0) {
            return nothingToReceive(broken || left, ended);
        }
        var count = Math.min(available, most);
        var at = before % capacity;
        var first = Math.min(count, capacity - at);
        MemorySegment.copy(mine.segment(), StreamLayout.RING + at, target, 0, first);
        MemorySegment.copy(mine.segment(), StreamLayout.RING, target, first, count - first);
        var slept = clear(readerSleeping); // first, so that who goes to sleep now finds these bytes
        consumed = before + count;
        if (slept) {
            changed(); // a selector that sleeps, and that the peer's waking will pass by
        }
        if (before + count - told >= capacity / 8) {
            tellConsumed();
        }
        return (int) count;
    }

    /**
     * A stream has ended if its peer has said so and all that it sent has come, whatever broke
     * later.
     *
     * @param over whether nothing will come any more
     */
    private int nothingToReceive(boolean over, boolean ended) {
        var whole = ended && mine.getLong(StreamLayout.TOTAL) == consumed;
        if (((over || ended) && !whole) || flag(StreamLayout.LEFT) == StreamLayout.RESET) {
            return reset();
        }
        return ended || inputEnded ? 0 : SocketCalls.AGAIN;
    }

    private int reset() {
        failureTold = true;
        return -Errno.ECONNRESET;
    }

    private void tellConsumed() {
        telling.lock();
        try {
            var other = closed ? null : peer;
            if (other == null) {
                return;
            }
            told = consumed;
            other.map().putLongRelease(StreamLayout.CONSUMED, told);
            other.map().flush();
            VarHandle.fullFence(); // before this end looks who sleeps there
            var sleeps = mine.getLongAcquire(StreamLayout.WRITER_SLEEPS);
            var room = capacity - (mine.getLongAcquire(StreamLayout.PRODUCED) - told);
            if (sleeps != wokenWriter && room >= capacity / 4) {
                wokenWriter = sleeps;
                other.bell().ring();
            }
        } finally {
            telling.unlock();
        }
    }

    @Override
    public int send(MemorySegment source, long bytes) {
        sending.lock();
        try {
            var other = peer;
            if (outputEnded || closed) {
                return -Errno.EPIPE;
            }
            if (failed || flag(StreamLayout.LEFT) == StreamLayout.RESET) {
                var reset = !failureTold;
                failureTold = true;
                return reset ? -Errno.ECONNRESET : -Errno.EPIPE;
            }
            if (other == null || hasLeft()) {
                return -Errno.EPIPE;
            }
            return send(other, source, bytes);
        } finally {
            sending.unlock();
        }
    }

    private int send(SegmentPair.Peer other, MemorySegment source, long bytes) {
        var before = produced;
        var room = other.capacity() - (before - takenByPeer());
        if (room < 0 || room > other.capacity()) {
            fail(); // no peer of ours does that
            return reset();
        }
        if (room == 0) {
            return SocketCalls.AGAIN;
        }
        // In pieces, so that the peer receives one while the next is sent.
        var count = Math.min(Math.min(bytes, room), Math.max(1, other.capacity() / 4));
        var at = before % other.capacity();
        var first = Math.min(count, other.capacity() - at);
        var ring = other.map().segment();
        MemorySegment.copy(source, 0, ring, StreamLayout.RING + at, first);
        MemorySegment.copy(source, first, ring, StreamLayout.RING, count - first);
        if (!other.hasAll()) {
            fail();
            return reset();
        }
        var slept = clear(writerSleeping);
        produced = before + count;
        if (slept) {
            changed(); // as where bytes are received
        }
        other.map().putLongRelease(StreamLayout.PRODUCED, before + count);
        other.map().flush();
        wakeReader(other);
        return (int) count;
    }

    private void wakeReader(SegmentPair.Peer other) {
        VarHandle.fullFence(); // before this end looks who sleeps there
        var sleeps = mine.getLongAcquire(StreamLayout.READER_SLEEPS);
        if (sleeps != wokenReader) {
            wokenReader = sleeps;
            other.bell().ring();
        }
    }

    // The end

    @Override
    public void shutdownInput() {
        inputEnded = true;
        changed();
    }

    @Override
    public void shutdownOutput() {
        sending.lock();
        try {
            var other = peer;
            if (!outputEnded && other != null && !closed && tellEnd(other)) {
                other.map().flush();
                other.bell().ring();
            }
            outputEnded = true;
        } finally {
            sending.unlock();
        }
        changed();
    }

    /** Not if some of it may not have come. Whoever calls it sends. */
    private boolean tellEnd(SegmentPair.Peer other) {
        if (failed || !other.hasAll()) {
            fail();
            return false;
        }
        other.map().putLong(StreamLayout.TOTAL, produced);
        other.map().putLongRelease(StreamLayout.ENDED, StreamLayout.flag(number, 1));
        return true;
    }

    /**
     * Ends this end; nobody must be using it. Bytes that nobody here has received make it a reset,
     * as with TCP, and so does a link that has failed. Does not block.
     *
     * @param reset whether it is one in any case
     */
    @Override
    public void close(boolean reset) {
        synchronized (this) {
            if (closed) {
                return;
            }
        }
        var unread = !inputEnded && available() != 0;
        sending.lock();
        telling.lock();
        try {
            var other = peer;
            if (other != null) {
                var map = other.map();
                var whole = !reset && !unread && tellEnd(other);
                var how = whole ? StreamLayout.CLOSED : StreamLayout.RESET;
                map.putLongRelease(StreamLayout.LEFT, StreamLayout.flag(number, how));
                map.flush();
                other.bell().ring();
            }
            synchronized (this) {
                closed = true; // and nothing is stored for this stream any more
                absence = Deadline.after(LONGEST_ABSENCE);
            }
        } finally {
            telling.unlock();
            sending.unlock();
        }
        leaveSoon();
    }

    /** Closes an end that no peer has been told of, or that none will come to. */
    void abandon() {
        synchronized (this) {
            closed = true;
            failed = true;
            pair.partnerIsGone();
        }
        leave();
    }

    /** The peer is not connected to this end any more. */
    void partnerHasGone() {
        synchronized (this) {
            if (!released && !hasLeft()) {
                failed = true; // it went without a word
            }
        }
        changed();
        leaveSoon();
    }

    void fail() {
        failed = true;
        changed();
    }

    /** Once, however often it is said before it is done. */
    private void leaveSoon() {
        if (leaving.compareAndSet(false, true)) {
            fabric.lendToLeave(this::leave);
        }
    }

    /** Nobody has come, and nobody will. Under the monitor. */
    private boolean isAlone() {
        return !pair.hasPartnerCome() && absence.hasPassed();
    }

    /** Whether the segments can wait for another stream. Under the monitor. */
    private boolean canWait() {
        return !failed
                && !pair.isPartnerGone()
                && !patience.hasPassed()
                && !(use() instanceof SegmentPair.LetIn(var door) && door.isClosed());
    }

    /** Has the segments wait for another stream. False if they are not to. Under the monitor. */
    private boolean keep() {
        if (keeping == Keeping.NOT_YET && peer != null && fabric.mayKeep(this)) {
            keeping = Keeping.WAITING;
            patience = Deadline.after(PATIENCE);
        }
        if (keeping == Keeping.WAITING && closed && hasLeft()) {
            keeping = Keeping.UNUSED;
            patience = Deadline.after(PATIENCE);
            fabric.unused(this);
        }
        if (keeping == Keeping.NO || keeping == Keeping.NOT_YET || !canWait()) {
            fabric.noLongerUnused(this);
            keeping = Keeping.NO;
        }
        return keeping != Keeping.NO;
    }

    /** Disconnects from a peer that has left, or from all when this end is closed. May block. */
    private void leave() {
        leaving.set(false);
        SegmentPair.Peer other;
        boolean release;
        sending.lock();
        telling.lock();
        try {
            synchronized (this) {
                var kept = !released && (closed || hasLeft()) && keep();
                var gone = pair.isPartnerGone();
                other = !kept && (closed || gone || (!released && hasLeft())) ? peer : null;
                release = !kept && closed && !released && (gone || isAlone());
                released |= release;
            }
            if (other != null) {
                peer = null;
            }
        } finally {
            telling.unlock();
            sending.unlock();
        }
        look(); // the peer may have called while this was not ready for it
        if (other != null) {
            other.close();
        }
        if (release) {
            fabric.remove(this);
            pair.close();
        }
    }
}
