package org.jrdma.sockets.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.LocalMap;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.SegmentEvent;
import org.jrdma.sisci.SegmentOptions;
import org.jrdma.sisci.Sequence;
import org.jrdma.sisci.SequenceStatus;
import org.jrdma.sisci.SisciException;
import org.jrdma.sockets.internal.ShortCutStream;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.sockets.internal.SourceWaiting;
import org.jspecify.annotations.Nullable;

/**
 * One end of a stream of bytes over two segments, see {@link StreamLayout}. Sends and receives
 * without waiting, and answers as system calls do: a number of bytes, or a negative errno.
 *
 * <p>One thread at a time sends and one receives; the rest is safe for several. What was sent is in
 * the peer's own memory, so it can be read there whatever becomes of this end. Each send is checked
 * before the peer is told of it. When a link fails, even for a moment, the stream has failed: what
 * arrived before can be read, and then there is no end of the stream but an error.
 */
public final class SisciStream extends ShortCutStream {

    /**
     * Where ids begin, and how many there are. Each end begins its search for a free one behind the
     * last: one that was just in use may still stand in a greeting that nobody has read.
     */
    private static final int FIRST_ID = 0x1000_0000;

    private static final int IDS = 0x1000_0000;
    private static final AtomicInteger NEXT_ID =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(IDS));

    /** How long an end that is closed keeps its memory for a peer that has not come yet. */
    private static final Duration LONGEST_ABSENCE = Duration.ofSeconds(10);

    private final SisciFabric fabric;
    private final LocalSegment segment;
    private final LocalMap mine;
    private final int capacity;

    /** Guard {@code peer} together, and each what its direction stores there. */
    private final ReentrantLock sending = new ReentrantLock();

    private final ReentrantLock telling = new ReentrantLock();
    private volatile @Nullable Peer peer;
    private volatile boolean joined;

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
    private volatile boolean readerSleeping;
    private volatile boolean writerSleeping;
    private volatile boolean inputEnded;
    private volatile boolean outputEnded;
    private volatile boolean failed;

    /** Whether a program has been told of the failure, as the kernel tells of a reset once. */
    private volatile boolean failureTold;

    // Guarded by this: whoever looks at the memory must not find it gone
    private boolean closed;
    private boolean partnerCame;
    private boolean partnerGone;
    private boolean released;
    private Deadline absence = Deadline.NEVER;

    /** What is known of the other end while it can be stored into. */
    private record Peer(
            RemoteSegment segment,
            RemoteMap map,
            Sequence sequence,
            int capacity,
            Bells.Bell bell) {

        void close() {
            segment.close();
            bell.release();
        }
    }

    private SisciStream(SisciFabric fabric, LocalSegment segment, LocalMap mine, int capacity) {
        this.fabric = fabric;
        this.segment = segment;
        this.mine = mine;
        this.capacity = capacity;
    }

    /** Makes this end's segment, for a peer to connect to. May block. */
    static SisciStream open(SisciFabric fabric, int ringBytes) throws SisciException {
        var bytes = StreamLayout.inPages(StreamLayout.RING + ringBytes);
        var segment = fabric.node().newSegment(SegmentOptions.withFreeId(nextId(), bytes));
        try {
            var mine = segment.map();
            var capacity = (int) (bytes - StreamLayout.RING);
            mine.putLong(StreamLayout.CAPACITY, capacity);
            mine.putLongRelease(StreamLayout.KIND, StreamLayout.THIS_KIND);
            var stream = new SisciStream(fabric, segment, mine, capacity);
            segment.onEvent(stream::happened);
            segment.offer();
            fabric.add(stream);
            return stream;
        } catch (SisciException | RuntimeException e) {
            segment.close();
            throw e;
        }
    }

    private static int nextId() {
        return FIRST_ID + Math.floorMod(NEXT_ID.getAndIncrement(), IDS);
    }

    int segmentId() {
        return segment.id();
    }

    /**
     * Connects to the peer's segment, so that bytes can be sent. May block.
     *
     * @param timeout until when to try again what fails in passing
     * @throws FabricException if it is not there, or something else
     */
    void join(int node, int id, int bell, Duration timeout)
            throws FabricException, InterruptedIOException {
        var remote = fabric.node().connect(node, id, timeout);
        try {
            var map = remote.map();
            var room = map.getLong(StreamLayout.CAPACITY);
            if (map.getLongAcquire(StreamLayout.KIND) != StreamLayout.THIS_KIND
                    || room <= 0
                    || room > map.byteSize() - StreamLayout.RING) {
                throw new FabricException("%s is no end of a stream".formatted(remote));
            }
            var sequence = map.newSequence();
            var status = sequence.start();
            if (status != SequenceStatus.OK) {
                throw new FabricException("the link to %s is %s".formatted(remote, status));
            }
            var other =
                    new Peer(remote, map, sequence, (int) room, fabric.bells().take(node, bell));
            remote.onEvent(this::happenedThere);
            readerSleeping =
                    false; // who waited for the answer did, and the peer knew nothing of it
            peer = other;
            joined = true;
        } catch (FabricException | InterruptedIOException | RuntimeException e) {
            remote.close();
            throw e;
        }
    }

    // Set-up

    /** Of who accepts: says where this end is. */
    void answer(Answer answer) {
        sending.lock();
        try {
            var other = peer;
            if (other != null) {
                other.map.putLong(
                        StreamLayout.SEGMENT, StreamLayout.word(fabric.nodeId(), segment.id()));
                other.map.putLong(StreamLayout.BELL, fabric.bellNumber());
                other.map.putLongRelease(StreamLayout.ANSWER, answer.code());
                other.map.flush();
                other.bell.ring();
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
    Answer awaitAnswer(Deadline deadline) throws FabricException, InterruptedIOException {
        if (!new SourceWaiting(this, SocketCalls.POLLIN, 0).await(deadline)) {
            throw new FabricException("its listener does not answer");
        }
        var code = mine.getLongAcquire(StreamLayout.ANSWER);
        var answer =
                Answer.of(code)
                        .orElseThrow(() -> new FabricException("its listener answers " + code));
        if (answer == Answer.ACCEPTED) {
            var place = mine.getLong(StreamLayout.SEGMENT);
            join(
                    StreamLayout.upper(place),
                    StreamLayout.lower(place),
                    (int) mine.getLong(StreamLayout.BELL),
                    Duration.ofNanos(Math.max(0, deadline.remainingNanos())));
        }
        return answer;
    }

    // Readiness

    @Override
    public int ready() {
        if (!joined) {
            return mine.getLongAcquire(StreamLayout.ANSWER) == 0 ? 0 : SocketCalls.POLLIN;
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
        return other == null ? Long.MAX_VALUE : Math.max(1, other.capacity / 4);
    }

    @Override
    public int available() {
        return (int) (mine.getLongAcquire(StreamLayout.PRODUCED) - consumed);
    }

    private long room() {
        var other = peer;
        return other == null
                ? 0
                : other.capacity - (produced - mine.getLongAcquire(StreamLayout.CONSUMED));
    }

    private boolean hasEnded() {
        return mine.getLongAcquire(StreamLayout.ENDED) != 0;
    }

    private boolean hasLeft() {
        return mine.getLongAcquire(StreamLayout.LEFT) != 0;
    }

    /** Tells the peer whom to wake, each time anew: it wakes once for each number. */
    @Override
    protected void arm(int events) {
        telling.lock();
        try {
            var other = peer;
            if ((events & SocketCalls.POLLIN) != 0 && !readerSleeping) {
                readerSleeping = true;
                if (other != null) {
                    other.map.putLong(StreamLayout.READER_SLEEPS, ++readerSleeps);
                }
            }
            if ((events & SocketCalls.POLLOUT) != 0 && !writerSleeping) {
                writerSleeping = true;
                if (other != null) {
                    other.map.putLong(StreamLayout.WRITER_SLEEPS, ++writerSleeps);
                }
            }
            if (other != null) {
                other.map.flush();
            }
            VarHandle.fullFence(); // before this end looks for the last time
        } finally {
            telling.unlock();
        }
    }

    /** Looks whether there is something for those who sleep here. Never waits for long. */
    void look() {
        var wake = false;
        var leave = false;
        synchronized (this) {
            if (released) {
                return;
            }
            if (closed) {
                leave = isAlone();
            } else {
                var ready = readerSleeping || writerSleeping ? ready() : 0;
                if (readerSleeping && (ready & SocketCalls.POLLIN) != 0) {
                    readerSleeping = false;
                    wake = true;
                }
                if (writerSleeping && (ready & SocketCalls.POLLOUT) != 0) {
                    writerSleeping = false;
                    wake = true;
                }
                leave = peer != null && hasLeft();
            }
        }
        if (wake) {
            changed();
        }
        if (leave) {
            leaveSoon();
        }
    }

    // Bytes

    @Override
    public int receive(MemorySegment target, long most) {
        var broken = failed; // first: what the peer did before is seen below
        var ended = hasEnded(); // before what it is the end of
        var before = consumed;
        var available = mine.getLongAcquire(StreamLayout.PRODUCED) - before;
        if (available < 0 || available > capacity) {
            fail(); // no peer of ours does that
            return nothingToReceive(true, false);
        }
        if (available == 0) {
            return nothingToReceive(broken, ended);
        }
        var count = Math.min(available, most);
        var at = before % capacity;
        var first = Math.min(count, capacity - at);
        MemorySegment.copy(mine.segment(), StreamLayout.RING + at, target, 0, first);
        MemorySegment.copy(mine.segment(), StreamLayout.RING, target, first, count - first);
        var slept = readerSleeping;
        readerSleeping = false; // first, so that who goes to sleep now finds these bytes
        consumed = before + count;
        if (slept) {
            changed(); // a selector that sleeps, and that the peer's waking will pass by
        }
        if (before + count - told >= capacity / 8) {
            tellConsumed();
        }
        return (int) count;
    }

    /** A stream that ended before it broke has ended. */
    private int nothingToReceive(boolean broken, boolean ended) {
        if ((broken && !ended) || mine.getLongAcquire(StreamLayout.LEFT) == StreamLayout.RESET) {
            failureTold = true;
            return -Errno.ECONNRESET;
        }
        return ended || inputEnded ? 0 : SocketCalls.AGAIN;
    }

    private void tellConsumed() {
        telling.lock();
        try {
            var other = peer;
            if (other == null) {
                return;
            }
            told = consumed;
            other.map.putLongRelease(StreamLayout.CONSUMED, told);
            other.map.flush();
            VarHandle.fullFence(); // before this end looks who sleeps there
            var sleeps = mine.getLongAcquire(StreamLayout.WRITER_SLEEPS);
            var room = capacity - (mine.getLongAcquire(StreamLayout.PRODUCED) - told);
            if (sleeps != wokenWriter && room >= capacity / 4) {
                wokenWriter = sleeps;
                other.bell.ring();
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
            if (outputEnded) {
                return -Errno.EPIPE;
            }
            if (failed || mine.getLongAcquire(StreamLayout.LEFT) == StreamLayout.RESET) {
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

    private int send(Peer other, MemorySegment source, long bytes) {
        var before = produced;
        var room = other.capacity - (before - mine.getLongAcquire(StreamLayout.CONSUMED));
        if (room < 0 || room > other.capacity) {
            fail(); // no peer of ours does that
            failureTold = true;
            return -Errno.ECONNRESET;
        }
        if (room == 0) {
            return SocketCalls.AGAIN;
        }
        // In pieces, so that the peer receives one while the next is sent.
        var count = Math.min(Math.min(bytes, room), Math.max(1, other.capacity / 4));
        var at = before % other.capacity;
        var first = Math.min(count, other.capacity - at);
        var ring = other.map.segment();
        MemorySegment.copy(source, 0, ring, StreamLayout.RING + at, first);
        MemorySegment.copy(source, first, ring, StreamLayout.RING, count - first);
        if (!hasArrived(other)) {
            fail();
            failureTold = true;
            return -Errno.ECONNRESET;
        }
        var slept = writerSleeping;
        writerSleeping = false;
        produced = before + count;
        if (slept) {
            changed(); // as where bytes are received
        }
        other.map.putLongRelease(StreamLayout.PRODUCED, before + count);
        other.map.flush();
        wakeReader(other);
        return (int) count;
    }

    private static boolean hasArrived(Peer other) {
        try {
            return other.sequence.check() == SequenceStatus.OK;
        } catch (SisciException _) {
            return false;
        }
    }

    private void wakeReader(Peer other) {
        VarHandle.fullFence(); // before this end looks who sleeps there
        var sleeps = mine.getLongAcquire(StreamLayout.READER_SLEEPS);
        if (sleeps != wokenReader) {
            wokenReader = sleeps;
            other.bell.ring();
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
            if (!outputEnded && other != null) {
                other.map.putLongRelease(StreamLayout.ENDED, 1);
                other.map.flush();
                other.bell.ring();
            }
            outputEnded = true;
        } finally {
            sending.unlock();
        }
        changed();
    }

    /**
     * Ends this end; nobody must be using it. Bytes that nobody here has received make it a reset,
     * as with TCP. Does not block.
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
        try {
            var other = peer;
            if (other != null) {
                if (reset || unread) {
                    other.map.putLongRelease(StreamLayout.LEFT, StreamLayout.RESET);
                } else {
                    other.map.putLongRelease(StreamLayout.ENDED, 1);
                    other.map.putLongRelease(StreamLayout.LEFT, StreamLayout.CLOSED);
                }
                other.map.flush();
                other.bell.ring();
            }
        } finally {
            sending.unlock();
        }
        synchronized (this) {
            closed = true;
            absence = Deadline.after(LONGEST_ABSENCE);
        }
        leaveSoon();
    }

    /** Closes an end that no peer has been told of, or that none will come to. */
    void abandon() {
        synchronized (this) {
            closed = true;
            partnerGone = true;
        }
        leave();
    }

    /** Something has happened to the peer's connection to this end. */
    private void happened(SegmentEvent event) {
        switch (event.type()) {
            case DISCONNECTED, LOST -> {
                synchronized (this) {
                    partnerGone = true;
                    if (!released && !hasLeft()) {
                        failed = true; // it went without a word
                    }
                }
                changed();
                leaveSoon();
            }
            case NOT_OPERATIONAL -> fail();
            case CONNECTED -> {
                synchronized (this) {
                    partnerCame = true; // and is told of when it goes, however late that is
                }
            }
            case OPERATIONAL, UNKNOWN -> {} // no reason to do anything
        }
    }

    /** Something has happened to this end's connection to the peer. */
    private void happenedThere(SegmentEvent event) {
        switch (event.type()) {
            case NOT_OPERATIONAL, LOST -> fail();
            case DISCONNECTED -> look();
            case CONNECTED, OPERATIONAL, UNKNOWN -> {} // no reason to do anything
        }
    }

    private void fail() {
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
        return !partnerCame && absence.hasPassed();
    }

    /** Disconnects from a peer that has left, or from all when this end is closed. May block. */
    private void leave() {
        leaving.set(false);
        Peer other;
        boolean release;
        sending.lock();
        telling.lock();
        try {
            synchronized (this) {
                other = closed || partnerGone || (!released && hasLeft()) ? peer : null;
                release = closed && !released && (partnerGone || isAlone());
                released |= release;
            }
            if (other != null) {
                peer = null;
            }
        } finally {
            telling.unlock();
            sending.unlock();
        }
        if (other != null) {
            other.close();
        }
        if (release) {
            fabric.remove(this);
            segment.close();
        }
    }
}
