package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongFunction;
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
 * Receives the messages of one {@link MessageSender} in the order in which they were sent. While
 * the link is operational, no message is lost or received incompletely.
 *
 * <p>Only one thread at a time may use a receiver. {@link #tryReceive} neither blocks nor allocates
 * memory. It makes library calls only occasionally, to report the number of consumed bytes to the
 * sender.
 */
public final class MessageReceiver implements AutoCloseable {

    private static final long RETRY_NANOS = 1_000_000;
    private static final Duration NOTIFY_TIMEOUT = Duration.ofMillis(20);
    private static final Logger LOG = LoggerFactory.getLogger(MessageReceiver.class);

    private final Node node;
    private final LocalSegment segment;
    private final LocalMap ring;
    private final int capacity;
    private volatile @Nullable RemoteSegment sender;
    private @Nullable RemoteMap feedback;

    /**
     * The exception of the last attempt to report consumed bytes to the sender, which must be
     * retried; null if it succeeded.
     */
    private @Nullable SisciException reportFailure;

    private long reportFailureTime;
    private boolean senderLost;
    private long consumed;
    private long reported;
    private int number;

    private MessageReceiver(Node node, LocalSegment segment, LocalMap ring, int capacity) {
        this.node = node;
        this.segment = segment;
        this.ring = ring;
        this.capacity = capacity;
    }

    /** A handler of received messages. */
    @FunctionalInterface
    public interface Handler {
        /**
         * Handles a message. The message is not copied: it is in the ring buffer, and valid only
         * until this method returns.
         *
         * @param memory the memory that contains the message
         * @param offset the offset in bytes of the message in the memory
         * @param bytes the length of the message in bytes
         */
        void message(MemorySegment memory, long offset, int bytes);
    }

    /**
     * Creates a segment with a ring buffer for the messages, and makes it available.
     *
     * @param options the options of a segment of a given size
     */
    static MessageReceiver open(Node node, int capacity, LongFunction<SegmentOptions> options)
            throws SisciException {
        if (!MessageRing.isCapacity(capacity)) {
            throw new IllegalArgumentException(
                    "Invalid capacity: "
                            + capacity
                            + ". The capacity must be a multiple of 8 and at least 64.");
        }
        var created =
                node.newSegment(
                        options.apply(MessageRing.roundUpToPages(MessageRing.RING + capacity)));
        try {
            var ring = created.map();
            ring.putLong(MessageRing.CAPACITY, capacity);
            ring.putLongRelease(MessageRing.MAGIC, MessageRing.MAGIC_NUMBER);
            var receiver = new MessageReceiver(node, created, ring, capacity);
            created.onEvent(receiver, MessageReceiver::event);
            created.offer();
            return receiver;
        } catch (Throwable e) {
            created.close();
            throw e;
        }
    }

    /** Returns the id of the segment, which the sender uses to connect. */
    public int segmentId() {
        return segment.id();
    }

    /**
     * Passes the next message to a handler if a message has arrived.
     *
     * @return false if no message has arrived
     * @throws FabricException if the ring buffer is corrupt, because stores were lost or another
     *     process wrote to it. The receiver cannot be used further after this exception
     */
    public boolean tryReceive(Handler handler) throws FabricException {
        var produced = ring.getLongAcquire(MessageRing.PRODUCED);
        if (produced == consumed) {
            if (reported != consumed) {
                reportConsumed();
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
                || index + MessageRing.space(bytes) > capacity
                || consumed + MessageRing.space(bytes) > produced) {
            throw corrupt();
        }
        handler.message(ring.segment(), MessageRing.RING + index + MessageRing.WORD, bytes);
        number++;
        consumed += MessageRing.space(bytes);
        if (consumed - reported >= capacity / 4) {
            reportConsumed();
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
                "The message queue in %s is corrupt from message number %d on: stores were lost, or another process wrote to it. Open another queue."
                        .formatted(segment, number));
    }

    /**
     * Handles an event of this receiver's segment: disconnects from the sender if the sender has
     * closed, because the close of the sender waits until this receiver has disconnected.
     */
    private void event(SegmentEvent event) {
        if (event.type() == SegmentEvent.Type.DISCONNECTED && hasSenderClosed()) {
            disconnect();
        }
    }

    private boolean hasSenderClosed() {
        return ring.getLongAcquire(MessageRing.SENDER_CLOSED) != 0;
    }

    private void disconnect() {
        var connected = sender;
        if (connected != null) {
            connected.close();
        }
    }

    /**
     * Reports the number of consumed bytes to the sender, unless the sender has closed or is lost.
     * If the report fails, it is retried later. The exception is not thrown, because the caller
     * must receive the current message.
     */
    private void reportConsumed() {
        if (reportFailure != null && System.nanoTime() - reportFailureTime < RETRY_NANOS) {
            return;
        }
        reportFailure = null;
        try {
            if (!senderLost && !hasSenderClosed()) {
                var map = feedback();
                map.putLongRelease(MessageRing.CONSUMED, consumed);
                map.flush();
            }
            reported = consumed;
        } catch (SisciException e) {
            senderLost = isGone(e);
            reportFailure = e;
            reportFailureTime = System.nanoTime();
        } catch (IllegalStateException e) {
            // The sender has not closed at this point: otherwise, event() would have closed the
            // feedback map.
            if (!hasSenderClosed()) {
                throw e;
            }
            reported = consumed;
        }
    }

    /**
     * Returns true if the failure of a connect means that the sender's segment no longer exists. It
     * existed when the sender connected to this receiver.
     */
    private static boolean isGone(SisciException e) {
        return e.error() == SisciError.NO_SUCH_SEGMENT || e.error() == SisciError.NO_SUCH_NODE;
    }

    private RemoteMap feedback() throws SisciException {
        if (feedback == null) {
            var word = ring.getLongAcquire(MessageRing.SENDER);
            var connected = node.connectNow((int) (word >>> 32), (int) word);
            sender = connected;
            if (hasSenderClosed()) {
                // The method event() may have run before the field sender was set.
                connected.close();
            }
            try {
                var map = connected.map();
                map.putLongAtClose(MessageRing.CONSUMED, MessageRing.RECEIVER_CLOSED);
                feedback = map;
            } catch (Throwable e) {
                connected.close();
                throw e;
            }
        }
        return feedback;
    }

    /**
     * Waits for a message and returns a copy of it. The thread spins for a short time, and then
     * parks repeatedly.
     *
     * @throws FabricTimeoutException if no message arrived in time
     * @throws FabricException if the sender has closed or is lost, and all its messages were
     *     received, or if the ring buffer is corrupt
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public byte[] receive(Duration timeout) throws FabricException, InterruptedIOException {
        var copy = new Copy();
        var deadline = Deadline.after(timeout);
        for (var spins = 0; ; spins++) {
            // Checked before the ring buffer, because all messages of a closed sender have arrived.
            var gone = isSenderGone();
            if (tryReceive(copy)) {
                return copy.bytes;
            }
            if (gone) {
                throw new FabricException(
                        "The sender of the message queue in %s has closed or is lost"
                                .formatted(segment));
            }
            if (deadline.hasPassed()) {
                throw noMessage(deadline);
            }
            MessageRing.pause(spins, segment);
        }
    }

    private FabricTimeoutException noMessage(Deadline deadline) {
        var missed = deadline.missed("No message in " + segment);
        if (reportFailure != null) {
            // The sender may wait for space because this report failed.
            missed.addSuppressed(reportFailure);
        }
        return missed;
    }

    private boolean isSenderGone() {
        var connected = sender;
        return senderLost
                || hasSenderClosed()
                || (connected != null && connected.link() == RemoteSegment.Link.LOST);
    }

    private static final class Copy implements Handler {

        private byte[] bytes = {};

        @Override
        public void message(MemorySegment memory, long offset, int length) {
            bytes = memory.asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
        }
    }

    /**
     * Closes the segment, and waits as described in {@link SisciObject} until the sender has
     * disconnected. Further sends of the sender fail.
     */
    @Override
    public void close() {
        if (!segment.ownLifetime().isClosed()) {
            ring.putLong(MessageRing.MAGIC, 0); // Rejects senders that connect from now on.
            VarHandle.fullFence();
            if (ring.getLongAcquire(MessageRing.SENDER) != 0 && !hasSenderClosed()) {
                notifySender();
            }
        }
        disconnect();
        segment.close();
    }

    /**
     * Connects to the sender, unless this receiver is already connected, so that the later
     * disconnect notifies the sender of the close. Retries for up to 20 milliseconds.
     */
    private void notifySender() {
        var deadline = Deadline.after(NOTIFY_TIMEOUT);
        while (true) {
            try {
                var _ = feedback();
                return;
            } catch (SisciException | IllegalStateException e) {
                if (deadline.hasPassed()
                        || !(e instanceof SisciException failure)
                        || isGone(failure)) {
                    LOG.debug(
                            "Cannot notify the sender that {} is closed: {}",
                            segment,
                            e.getMessage());
                    return;
                }
                LockSupport.parkNanos(RETRY_NANOS);
            }
        }
    }
}
