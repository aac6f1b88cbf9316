package org.jrdma.sisci;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Locale;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.model.SegmentEvent;

/**
 * Sends messages to a {@link MessageReceiver} of another node, or of this node. Messages are
 * transferred only by stores into the receiver's memory.
 *
 * <p>Only one thread at a time may use a sender. Sending a message allocates no memory and makes
 * two library calls: {@code SCIFlush} before the message is announced to the receiver, and again
 * afterwards. The sender does not check whether individual stores have arrived. After the library
 * has reported a failure of the link, messages may be lost or incomplete, and every send fails.
 */
public final class MessageSender implements AutoCloseable {

    private final LocalSegment feedbackSegment;
    private final LocalMap feedback;
    private final RemoteSegment receiver;
    private final RemoteMap ring;
    private final int capacity;
    private volatile boolean receiverClosed;
    private long produced;
    private long consumed;
    private int number;

    private MessageSender(
            LocalSegment feedbackSegment,
            LocalMap feedback,
            RemoteSegment receiver,
            RemoteMap ring,
            int capacity) {
        this.feedbackSegment = feedbackSegment;
        this.feedback = feedback;
        this.receiver = receiver;
        this.ring = ring;
        this.capacity = capacity;
    }

    static MessageSender connect(Node node, int peer, int segment, Duration timeout)
            throws FabricException, InterruptedIOException {
        // The segment is created before the connection: the node closes newer objects first, and
        // the connection must be closed before the segment.
        var feedbackSegment =
                node.newSegment(
                        SegmentOptions.withFreeId(
                                MessageRing.FIRST_FREE_ID, MessageRing.roundUpToPages(1)));
        try {
            var feedback = feedbackSegment.map();
            var receiver = node.connect(peer, segment, timeout);
            try {
                return connect(node, feedbackSegment, feedback, receiver);
            } catch (Throwable e) {
                receiver.close();
                throw e;
            }
        } catch (Throwable e) {
            feedbackSegment.close();
            throw e;
        }
    }

    private static MessageSender connect(
            Node node, LocalSegment feedbackSegment, LocalMap feedback, RemoteSegment receiver)
            throws FabricException {
        var ring = receiver.map();
        var capacity = capacity(ring);
        if (capacity == 0) {
            throw new FabricException(
                    "Cannot send to %s: the segment is not a message queue".formatted(receiver));
        }
        if (ring.getLong(MessageRing.SENDER) != 0) {
            throw rejection(receiver, ring);
        }
        var sender = new MessageSender(feedbackSegment, feedback, receiver, ring, capacity);
        feedbackSegment.onEvent(sender, MessageSender::event);
        feedbackSegment.offer();
        var address = MessageRing.word(node.id(), feedbackSegment.id());
        ring.putLongRelease(MessageRing.SENDER, address);
        ring.flush();
        if (ring.getLongAcquire(MessageRing.SENDER) != address) {
            throw rejection(receiver, ring); // Another sender has connected at the same time.
        }
        if (capacity(ring) == 0) { // A receiver that closes later finds this sender.
            throw new FabricException(
                    "Cannot send to %s: the receiver is closing".formatted(receiver));
        }
        ring.putLongAtClose(MessageRing.SENDER_CLOSED, 1);
        return sender;
    }

    private static FabricException rejection(RemoteSegment receiver, RemoteMap ring) {
        return new FabricException(
                ring.getLong(MessageRing.SENDER_CLOSED) == 0
                        ? "The message queue in %s already has a sender".formatted(receiver)
                        : "The message queue in %s cannot be used again: its sender has closed"
                                .formatted(receiver));
    }

    /**
     * Handles an event of the connection: disconnects from the receiver if it has closed, because
     * the close of the receiver waits until this sender has disconnected.
     */
    private void event(SegmentEvent event) {
        if (event.type() == SegmentEvent.Type.DISCONNECTED
                && feedback.getLongAcquire(MessageRing.CONSUMED) == MessageRing.RECEIVER_CLOSED) {
            receiverClosed = true;
            receiver.close();
        }
    }

    /**
     * Returns the capacity of the ring buffer in bytes; 0 if the segment is not a message queue.
     */
    private static int capacity(RemoteMap ring) {
        if (ring.byteSize() < MessageRing.RING
                || ring.getLongAcquire(MessageRing.MAGIC) != MessageRing.MAGIC_NUMBER) {
            return 0;
        }
        var capacity = ring.getLong(MessageRing.CAPACITY);
        return MessageRing.isCapacity(capacity) && capacity <= ring.byteSize() - MessageRing.RING
                ? (int) capacity
                : 0;
    }

    /** Returns the maximum length of a message in bytes. */
    public int maxMessageBytes() {
        return MessageRing.maxMessageBytes(capacity);
    }

    /**
     * Sends a message if the ring buffer has space for it. The result true means that the message
     * was stored, not that it was received: the library may report a failure of the link only after
     * this method has returned.
     *
     * @return false if there is not enough space; the receiver must first consume messages
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}
     * @throws FabricException if the link has failed, before or during the call, or the receiver
     *     has closed
     */
    public boolean trySend(MemorySegment message) throws FabricException {
        var bytes = message.byteSize();
        if (bytes > maxMessageBytes()) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "Cannot send a message of %,d bytes: the maximum is %,d",
                            bytes,
                            maxMessageBytes()));
        }
        checkLink();
        try {
            return put(message, bytes);
        } catch (IllegalStateException e) {
            // checkLink() throws if the receiver has closed. Otherwise, this sender was closed.
            checkLink();
            throw e;
        }
    }

    private boolean put(MemorySegment message, long bytes) throws FabricException {
        var index = produced % capacity;
        var space = MessageRing.space(bytes);
        var skipped = index + space > capacity ? capacity - index : 0;
        if (!hasSpace(skipped + space)) {
            return false;
        }
        if (skipped > 0) {
            ring.putLong(MessageRing.RING + index, MessageRing.word(number, MessageRing.SKIP));
            index = 0;
        }
        var offset = MessageRing.RING + index;
        MemorySegment.copy(message, 0, ring.segment(), offset + MessageRing.WORD, bytes);
        ring.putLong(offset, MessageRing.word(number, (int) bytes));
        checkLink(); // Without this check, a message that may be incomplete would be announced.
        number++;
        produced += skipped + space;
        ring.putLongRelease(MessageRing.PRODUCED, produced);
        ring.flush();
        checkLink();
        return true;
    }

    private boolean hasSpace(long space) {
        if (capacity - (produced - consumed) >= space) {
            return true;
        }
        var reported = feedback.getLongAcquire(MessageRing.CONSUMED);
        // If the receiver has closed, event() will set receiverClosed.
        consumed = reported == MessageRing.RECEIVER_CLOSED ? consumed : reported;
        return capacity - (produced - consumed) >= space;
    }

    private void checkLink() throws FabricException {
        if (receiverClosed) {
            throw new FabricException(
                    "Cannot send to %s: the receiver has closed".formatted(receiver));
        }
        if (receiver.hasFailed()) {
            throw new FabricException(
                    "The link to %s has failed, and messages may be lost. Open another queue."
                            .formatted(receiver));
        }
    }

    /**
     * Waits until the ring buffer has space for a message, and sends the message. The thread spins
     * for a short time, and then parks repeatedly.
     *
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}
     * @throws FabricTimeoutException if there was not enough space in time
     * @throws FabricException if the link has failed, or the receiver has closed
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public void send(MemorySegment message, Duration timeout)
            throws FabricException, InterruptedIOException {
        if (trySend(message)) {
            return;
        }
        var deadline = Deadline.after(timeout);
        for (var spins = 0; !trySend(message); spins++) {
            if (deadline.hasPassed()) {
                throw deadline.missed("No space for a message in " + receiver);
            }
            MessageRing.pause(spins, receiver);
        }
    }

    /**
     * Disconnects from the receiver, and waits as described in {@link SisciObject} until the
     * receiver has disconnected. The receiver can still receive the messages that were sent.
     */
    @Override
    public void close() {
        receiver.close();
        feedbackSegment.close();
    }
}
