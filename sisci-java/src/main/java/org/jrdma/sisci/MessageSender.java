package org.jrdma.sisci;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Locale;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.model.SegmentEvent;

/**
 * Sends messages to a {@link MessageReceiver} of another node, or this one, by nothing but stores
 * into its memory.
 *
 * <p>For one thread at a time. Sending allocates nothing and takes two library calls, {@code
 * SCIFlush} before the message is announced and after. It trusts the link: when the library has
 * told that it failed, messages may be lost or torn, and every send is refused from then on.
 */
public final class MessageSender implements AutoCloseable {

    /** From where on an id is looked for. */
    private static final int FIRST_ID = 0x10000;

    private final LocalSegment feedbackSegment;
    private final LocalMap feedback;
    private final RemoteSegment receiver;
    private final RemoteMap ring;
    private final int capacity;
    private volatile boolean hasLeft;
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

    /**
     * Connects to a receiver as soon as it is there. Of two senders that connect at once, one is
     * refused; SISCI has no means to be quite sure of that, so do not rely on it.
     *
     * @param peer its node
     * @param segment the id that it was opened with
     * @throws FabricTimeoutException if it was not there in time
     * @throws FabricException if it has a sender already, or is something else
     * @throws InterruptedIOException if the thread is interrupted; its interrupt status stays set
     */
    public static MessageSender connect(Node node, int peer, int segment, Duration timeout)
            throws FabricException, InterruptedIOException {
        var feedbackSegment = // made first: what closes the node closes the connection before it
                node.newSegment(SegmentOptions.withFreeId(FIRST_ID, MessageRing.inPages(1)));
        try {
            var feedback = feedbackSegment.map();
            var receiver = node.connect(peer, segment, timeout);
            try {
                return connect(node, feedbackSegment, feedback, receiver);
            } catch (FabricException | RuntimeException e) {
                receiver.close();
                throw e;
            }
        } catch (IOException | RuntimeException e) {
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
            throw new FabricException("%s is no message queue".formatted(receiver));
        }
        if (ring.getLong(MessageRing.SENDER) != 0) {
            throw refused(receiver, ring);
        }
        var sender = new MessageSender(feedbackSegment, feedback, receiver, ring, capacity);
        feedbackSegment.onEvent(sender, MessageSender::event);
        feedbackSegment.offer();
        var own = MessageRing.word(node.id(), feedbackSegment.id());
        ring.putLongRelease(MessageRing.SENDER, own);
        ring.flush();
        if (ring.getLongAcquire(MessageRing.SENDER) != own) {
            throw refused(receiver, ring); // another came at the same time, and was the last
        }
        if (capacity(ring) == 0) { // otherwise the receiver finds this one when it closes
            throw new FabricException("%s is being closed".formatted(receiver));
        }
        ring.putLongAtClose(MessageRing.LEFT, 1);
        return sender;
    }

    private static FabricException refused(RemoteSegment receiver, RemoteMap ring) {
        return new FabricException(
                ring.getLong(MessageRing.LEFT) == 0
                        ? "The message queue in %s has a sender already".formatted(receiver)
                        : "The message queue in %s had its sender, which has left"
                                .formatted(receiver));
    }

    /** Disconnects from a receiver that has: it waits for that, to take its segment back. */
    private void event(SegmentEvent event) {
        if (event.type() == SegmentEvent.Type.DISCONNECTED
                && feedback.getLongAcquire(MessageRing.CONSUMED) == MessageRing.CLOSED) {
            hasLeft = true;
            receiver.close();
        }
    }

    /** 0 where there is no ring. */
    private static int capacity(RemoteMap ring) {
        if (ring.byteSize() < MessageRing.RING
                || ring.getLongAcquire(MessageRing.KIND) != MessageRing.THIS_KIND) {
            return 0;
        }
        var capacity = ring.getLong(MessageRing.CAPACITY);
        return MessageRing.isCapacity(capacity) && capacity <= ring.byteSize() - MessageRing.RING
                ? (int) capacity
                : 0;
    }

    /** How long a message can be. */
    public int maxMessageBytes() {
        return MessageRing.maxMessageBytes(capacity);
    }

    /**
     * Sends a message if there is room for it: stores it, which does not say that the receiver gets
     * it. A link that failed a moment ago may be told of only after this.
     *
     * @return false if there is none: the receiver must take some first
     * @throws IllegalArgumentException if it is longer than a message can be
     * @throws FabricException if the link has failed, before or meanwhile, or the receiver has
     *     closed
     */
    public boolean trySend(MemorySegment message) throws FabricException {
        var bytes = message.byteSize();
        if (bytes > maxMessageBytes()) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A message has at most %,d bytes: %,d",
                            maxMessageBytes(),
                            bytes));
        }
        checkLink();
        try {
            return put(message, bytes);
        } catch (IllegalStateException e) {
            checkLink(); // it has closed meanwhile, or this has been closed
            throw e;
        }
    }

    private boolean put(MemorySegment message, long bytes) throws FabricException {
        var index = produced % capacity;
        var space = MessageRing.space(bytes);
        var skipped = index + space > capacity ? capacity - index : 0;
        if (!hasRoom(skipped + space)) {
            return false;
        }
        if (skipped > 0) {
            ring.putLong(MessageRing.RING + index, MessageRing.word(number, MessageRing.SKIP));
            index = 0;
        }
        var place = MessageRing.RING + index;
        MemorySegment.copy(message, 0, ring.segment(), place + MessageRing.WORD, bytes);
        ring.putLong(place, MessageRing.word(number, (int) bytes));
        checkLink(); // a message of which a part was lost is not announced
        number++;
        produced += skipped + space;
        ring.putLongRelease(MessageRing.PRODUCED, produced);
        ring.flush();
        checkLink();
        return true;
    }

    private boolean hasRoom(long space) {
        if (capacity - (produced - consumed) >= space) {
            return true;
        }
        var told = feedback.getLongAcquire(MessageRing.CONSUMED);
        consumed = told == MessageRing.CLOSED ? consumed : told; // the event is under way
        return capacity - (produced - consumed) >= space;
    }

    private void checkLink() throws FabricException {
        if (hasLeft) {
            throw new FabricException("The receiver in %s has closed".formatted(receiver));
        }
        if (receiver.hasFailed()) {
            throw new FabricException(
                    "The link to %s has failed, and messages may be lost: open another queue"
                            .formatted(receiver));
        }
    }

    /**
     * Sends a message as soon as there is room for it, for which it spins at first.
     *
     * @throws IllegalArgumentException if it is longer than a message can be
     * @throws FabricTimeoutException if there was no room in time
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
                throw deadline.missed("No room for a message in " + receiver);
            }
            MessageRing.pause(spins, receiver);
        }
    }

    /** Disconnects, for which the receiver does too. What was sent stays with it. */
    @Override
    public void close() {
        receiver.close();
        feedbackSegment.close();
    }
}
