package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Receives the messages of one {@link MessageSender}, in the order in which they were sent, none
 * lost or torn as long as the link holds.
 *
 * <p>For one thread at a time. {@link #tryReceive} never waits, allocates nothing, and makes no
 * library call but now and then, to tell the sender how far it is.
 */
public final class MessageReceiver implements AutoCloseable {

    private static final long NANOS_BETWEEN_TRIES = 1_000_000;
    private static final Duration LAST_TRIES = Duration.ofMillis(20);
    private static final Logger LOG = LoggerFactory.getLogger(MessageReceiver.class);

    private final Node node;
    private final LocalSegment segment;
    private final LocalMap ring;
    private final int capacity;
    private volatile @Nullable RemoteSegment sender;
    private @Nullable RemoteMap feedback;

    /** Why the sender could not be told; it is tried again a little later. */
    private @Nullable SisciException untold;

    private long untoldSince;
    private boolean senderIsGone;
    private long consumed;
    private long told;
    private int number;

    private MessageReceiver(Node node, LocalSegment segment, LocalMap ring, int capacity) {
        this.node = node;
        this.segment = segment;
        this.ring = ring;
        this.capacity = capacity;
    }

    /** What to do with a message. */
    @FunctionalInterface
    public interface Handler {
        /**
         * Takes a message, which is at its place in the ring, and goes when this returns.
         *
         * @param memory where it is
         * @param offset where it begins
         * @param bytes how long it is
         */
        void message(MemorySegment memory, long offset, int bytes);
    }

    /**
     * Makes a segment and offers it.
     *
     * @param segment its id, by which the sender finds it
     * @param capacity how many bytes it has room for; a message takes its length, rounded up to a
     *     multiple of 8, and 8 more
     */
    public static MessageReceiver open(Node node, int segment, int capacity) throws SisciException {
        if (!MessageRing.isCapacity(capacity)) {
            throw new IllegalArgumentException(
                    "The capacity is a multiple of 8 of at least 64: " + capacity);
        }
        var made = node.newSegment(segment, MessageRing.inPages(MessageRing.RING + capacity));
        try {
            var ring = made.map();
            ring.putLong(MessageRing.CAPACITY, capacity);
            ring.putLongRelease(MessageRing.KIND, MessageRing.THIS_KIND);
            var receiver = new MessageReceiver(node, made, ring, capacity);
            made.onEvent(receiver, MessageReceiver::event);
            made.offer();
            return receiver;
        } catch (SisciException | RuntimeException e) {
            made.close();
            throw e;
        }
    }

    /**
     * Hands over a message if there is one.
     *
     * @return false if there is none
     * @throws FabricException if what lies in the ring is no message: stores have been lost, or
     *     another wrote there; no more can be received then
     */
    public boolean tryReceive(Handler handler) throws FabricException {
        var produced = ring.getLongAcquire(MessageRing.PRODUCED);
        if (produced == consumed) {
            if (told != consumed) {
                tell();
            }
            return false;
        }
        if (produced < consumed || produced - consumed > capacity) {
            throw corrupt();
        }
        var index = consumed % capacity;
        var word = ring.getLong(MessageRing.RING + index);
        if ((int) word == MessageRing.SKIP) {
            checkNumber(word);
            consumed += capacity - index;
            index = 0;
            word = ring.getLong(MessageRing.RING);
        }
        checkNumber(word);
        var bytes = (int) word;
        if (bytes < 0
                || bytes > MessageRing.maxMessageBytes(capacity)
                || consumed + MessageRing.space(bytes) > produced) {
            throw corrupt();
        }
        handler.message(ring.segment(), MessageRing.RING + index + MessageRing.WORD, bytes);
        number++;
        consumed += MessageRing.space(bytes);
        if (consumed - told >= capacity / 4) {
            tell();
        }
        return true;
    }

    private void checkNumber(long word) throws FabricException {
        if ((int) (word >>> 32) != number) {
            throw corrupt();
        }
    }

    private FabricException corrupt() {
        return new FabricException(
                "The messages in %s are lost from number %d on".formatted(segment, number));
    }

    /** Disconnects from a sender that has: it waits for that, to take its segment back. */
    private void event(SegmentEvent event) {
        if (event.type() == SegmentEvent.Type.DISCONNECTED && hasLeft()) {
            disconnect();
        }
    }

    private boolean hasLeft() {
        return ring.getLongAcquire(MessageRing.LEFT) != 0;
    }

    private void disconnect() {
        var connected = sender;
        if (connected != null) {
            connected.close();
        }
    }

    /**
     * Tells the sender how far this is, unless it has gone; later, where it cannot now. It does not
     * fail for that: what was just taken is to be handed over.
     */
    private void tell() {
        if (untold != null && System.nanoTime() - untoldSince < NANOS_BETWEEN_TRIES) {
            return;
        }
        untold = null;
        try {
            if (!senderIsGone && !hasLeft()) {
                var map = feedback();
                map.putLongRelease(MessageRing.CONSUMED, consumed);
                map.flush();
            }
            told = consumed;
        } catch (SisciException e) {
            senderIsGone = isGone(e);
            untold = e;
            untoldSince = System.nanoTime();
        } catch (IllegalStateException e) {
            if (!hasLeft()) { // it closes what it has of it
                throw e;
            }
            told = consumed;
        }
    }

    /** Its segment was there before it said so here. */
    private static boolean isGone(SisciException e) {
        return e.error() == SisciError.NO_SUCH_SEGMENT || e.error() == SisciError.NO_SUCH_NODE;
    }

    private RemoteMap feedback() throws SisciException {
        if (feedback == null) {
            var word = ring.getLongAcquire(MessageRing.SENDER);
            var connected = node.connectNow((int) (word >>> 32), (int) word);
            sender = connected;
            if (hasLeft()) {
                connected.close(); // the event may have come before
            }
            try {
                var map = connected.map();
                map.putLongAtClose(MessageRing.CONSUMED, MessageRing.CLOSED);
                feedback = map;
            } catch (SisciException e) {
                connected.close();
                throw e;
            }
        }
        return feedback;
    }

    /**
     * Waits for a message, for which it spins at first, and copies it.
     *
     * @throws FabricTimeoutException if none came in time
     * @throws FabricException if the sender is gone and all it sent was taken, or as {@link
     *     #tryReceive} says
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public byte[] receive(Duration timeout) throws FabricException, InterruptedIOException {
        var copy = new Copy();
        var deadline = Deadline.after(timeout);
        for (var spins = 0; ; spins++) {
            var gone = isSenderGone(); // asked first: what it had sent is there then
            if (tryReceive(copy)) {
                return copy.bytes;
            }
            if (gone) {
                throw new FabricException("The sender to %s is gone".formatted(segment));
            }
            if (deadline.hasPassed()) {
                throw noMessage(deadline);
            }
            MessageRing.pause(spins, segment);
        }
    }

    private FabricTimeoutException noMessage(Deadline deadline) {
        var missed = deadline.missed("No message in " + segment);
        if (untold != null) {
            missed.addSuppressed(untold); // the sender may wait for room
        }
        return missed;
    }

    private boolean isSenderGone() {
        var connected = sender;
        return senderIsGone
                || hasLeft()
                || (connected != null && connected.link() == RemoteSegment.Link.LOST);
    }

    private static final class Copy implements Handler {

        private byte[] bytes = {};

        @Override
        public void message(MemorySegment memory, long offset, int length) {
            bytes = memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /** Takes the segment back, for which the sender disconnects: its sends are refused then. */
    @Override
    public void close() {
        if (!segment.ownLifetime().isClosed()) {
            ring.putLong(MessageRing.KIND, 0); // no sender stays that comes now
            VarHandle.fullFence();
            if (ring.getLongAcquire(MessageRing.SENDER) != 0 && !hasLeft()) {
                meetSender();
            }
        }
        disconnect();
        segment.close();
    }

    /** It learns of the end by a connection that ends. */
    private void meetSender() {
        var deadline = Deadline.after(LAST_TRIES);
        while (true) {
            try {
                var _ = feedback();
                return;
            } catch (SisciException | IllegalStateException e) {
                if (deadline.hasPassed()
                        || !(e instanceof SisciException failure)
                        || isGone(failure)) {
                    LOG.debug(
                            "The sender to {} does not learn of its end: {}",
                            segment,
                            e.getMessage());
                    return;
                }
                LockSupport.parkNanos(NANOS_BETWEEN_TRIES);
            }
        }
    }
}
