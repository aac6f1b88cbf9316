package org.jrdma.verbs.cm.channel;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;

/**
 * The send ring and the receive ring of a channel, with credit-based flow control.
 *
 * <p>A ring consists of slots; each slot contains a header and a message. A header returns credits:
 * the number of messages that its sender has handled since it sent its previous header. The
 * receiver of the header may send that many additional messages. If this side has handled half of
 * its window but has sent no message in the meantime, it sends a header without a message. Such
 * headers have their own send slots, because the program may be writing a message into the next
 * message slot. At most two of them can be unhandled by the peer, because each returns credits for
 * half of a window. Therefore, the receive ring has two slots more than the window.
 *
 * <p>The peer is not trusted. An invalid header ends the channel, and no header can cause an
 * out-of-bounds access.
 */
public final class MessageRings implements AutoCloseable {

    /** The maximum number of headers without a message that are in flight. */
    private static final int HEADER_SLOTS = 2;

    private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long CREDITS = 0;
    private static final long KIND = Integer.BYTES;
    private static final int HEADER_BYTES = 2 * Integer.BYTES;
    private static final int HEADER_ONLY = 0;
    private static final int MESSAGE = 1;

    /**
     * The inline capacity that is requested for the queue pair. Shorter messages, with their
     * header, are sent inline.
     */
    private static final int INLINE_BYTES = 64 + HEADER_BYTES;

    private static final long CACHE_LINE = 64;

    // The upper half of the id of a work request is one of the following kinds, and the lower half
    // is the slot. Other ids belong to requests that the program itself has posted.
    private static final int SEND_OF_MESSAGE = 1;
    private static final int SEND_OF_HEADER = 2;
    private static final int RECEIVE = 3;
    private static final int OPERATION = 4;

    /** The work request id of the probe of a {@link KeepAlive}. */
    static final long KEEP_ALIVE_PROBE = identifier(5, 0);

    private final int window;
    private final int messageBytes;
    private final long stride;
    private final int capacity;
    private final CompletionQueue completions;
    private final RegisteredArena arena;
    private final MemoryRegion outgoing;
    private final MemoryRegion incoming;
    private final MemoryRegion headers;
    private final MemorySegment[] outgoingBodies;
    private final MemorySegment[] incomingBodies;
    private final PreparedSend[] sends;
    private final PreparedSend[] headerSends = new PreparedSend[HEADER_SLOTS];
    private final PreparedReceive[] receives;
    private final QueuePairOptions<PolledQueuePair> queuePairOptions;
    private int inlineBytes;

    // Counters since the channel was opened: the messages that this side has posted and that have
    // completed, and the headers without a message that it has posted and that have completed.
    private long posted;
    private long completed;
    private long headersPosted;
    private long headersCompleted;

    private int peerWindow;

    /** True once this side may send messages. */
    private boolean started;

    /** The number of sent messages for which the peer has not returned a credit. */
    private int unhandled;

    /** The number of credits that the next header returns to the peer. */
    private int credits;

    /**
     * Allocates the rings and their completion queue.
     *
     * @param messageBytes the maximum length of a message in bytes
     * @param window the number of messages in each ring
     * @param operations the maximum number of RDMA reads and writes in flight, including the probe
     *     of a {@link KeepAlive}
     */
    public MessageRings(ProtectionDomain domain, int messageBytes, int window, int operations)
            throws VerbsException {
        this.window = window;
        this.messageBytes = messageBytes;
        stride = (HEADER_BYTES + (long) messageBytes + CACHE_LINE - 1) & -CACHE_LINE;
        capacity = 2 * (window + HEADER_SLOTS) + operations;
        sends = new PreparedSend[window];
        receives = new PreparedReceive[window + HEADER_SLOTS];
        completions =
                domain.device()
                        .newCompletionQueue(
                                CompletionQueueOptions.capacity(capacity + 1).waitable());
        try {
            arena = domain.newArena(Access.LOCAL_WRITE);
        } catch (Throwable e) {
            completions.close();
            throw e;
        }
        try {
            outgoing = arena.region(sends.length * stride);
            incoming = arena.region(receives.length * stride);
            headers = arena.region(HEADER_SLOTS * CACHE_LINE);
            outgoingBodies = bodies(outgoing, sends.length);
            incomingBodies = bodies(incoming, receives.length);
        } catch (Throwable e) {
            close();
            throw e;
        }
        queuePairOptions =
                QueuePairOptions.reliable(completions)
                        .sends(window + HEADER_SLOTS + operations)
                        .receives(receives.length)
                        .inlineBytes(INLINE_BYTES);
    }

    private MemorySegment[] bodies(MemoryRegion region, int count) {
        var bodies = new MemorySegment[count];
        for (var slot = 0; slot < count; slot++) {
            bodies[slot] = region.segment().asSlice(slot * stride + HEADER_BYTES, messageBytes);
        }
        return bodies;
    }

    private static long identifier(int kind, int slot) {
        return (long) kind << Integer.SIZE | slot;
    }

    /** Returns the work request id of an RDMA read or write. */
    public static long operation(int slot) {
        return identifier(OPERATION, slot);
    }

    /** Returns true if a work request id belongs to an RDMA read or write. */
    public static boolean isOperation(long identifier) {
        return identifier >>> Integer.SIZE == OPERATION;
    }

    /** Returns true if a work request id belongs to the probe of a {@link KeepAlive}. */
    public static boolean isKeepAliveProbe(long identifier) {
        return identifier == KEEP_ALIVE_PROBE;
    }

    /** Returns true if a work request id belongs to a receive. */
    public static boolean isReceive(long identifier) {
        return identifier >>> Integer.SIZE == RECEIVE;
    }

    /** Returns the slot that a work request id contains. */
    public static int slot(long identifier) {
        return (int) identifier;
    }

    /** Returns the completion queue of all requests of the channel. */
    public CompletionQueue completions() {
        return completions;
    }

    /**
     * Returns the maximum number of completions that the completion queue can contain at the same
     * time.
     */
    public int capacity() {
        return capacity;
    }

    /** Returns the parameters of this side, which are sent to the peer. */
    public ChannelParameters parameters() {
        return new ChannelParameters(messageBytes, window);
    }

    /** Returns the options with which the queue pair of the channel must be created. */
    public QueuePairOptions<PolledQueuePair> queuePairOptions() {
        return queuePairOptions;
    }

    /**
     * Posts a receive for each slot of the receive ring. Must be called before the peer can send a
     * message.
     */
    public void postReceives(PolledQueuePair queuePair) throws VerbsException {
        for (var slot = 0; slot < receives.length; slot++) {
            receives[slot] =
                    queuePair
                            .prepareReceive(
                                    incoming.slice(slot * stride, HEADER_BYTES + messageBytes))
                            .id(identifier(RECEIVE, slot));
            receives[slot].tryPost();
        }
    }

    /**
     * Prepares the send requests. Called when the peer's parameters are known.
     *
     * @param afterFirstReceive true if this side must not send before the peer's first message has
     *     arrived. On iWARP, an earlier message from the accepting side would break the handshake
     *     of the connecting side
     */
    public void start(
            PolledQueuePair queuePair, ChannelParameters peer, boolean afterFirstReceive) {
        peerWindow = peer.window();
        started = !afterFirstReceive;
        inlineBytes = queuePair.inlineBytes();
        for (var slot = 0; slot < sends.length; slot++) {
            sends[slot] =
                    queuePair
                            .prepareSend(outgoing.slice(slot * stride, HEADER_BYTES))
                            .id(identifier(SEND_OF_MESSAGE, slot));
        }
        for (var slot = 0; slot < HEADER_SLOTS; slot++) {
            headerSends[slot] =
                    queuePair
                            .prepareSend(headers.slice(slot * CACHE_LINE, HEADER_BYTES))
                            .inline(HEADER_BYTES <= inlineBytes)
                            .id(identifier(SEND_OF_HEADER, slot));
        }
    }

    /**
     * Sends a header without a message. It permits the peer to send if the peer waits for the first
     * message.
     */
    public void sendFirstHeader() throws VerbsException {
        postHeader();
    }

    /**
     * Returns true if this side may send messages: always on the connecting side, and after the
     * first message of the peer on an accepting iWARP side.
     */
    public boolean isStarted() {
        return started;
    }

    /** Returns the number of messages that this side can send without waiting. */
    public int freeMessages() {
        return !started ? 0 : Math.min(peerWindow - unhandled, window - (int) (posted - completed));
    }

    /** Returns the buffer in which the program writes its next message. */
    public MemorySegment nextMessage() {
        return outgoingBodies[nextSlot()];
    }

    private int nextSlot() {
        return (int) (posted % window);
    }

    /**
     * Sends the message in the buffer that {@link #nextMessage} returns.
     *
     * @param bytes the length of the message in bytes
     */
    public void send(long bytes) throws VerbsException {
        var slot = nextSlot();
        var start = slot * stride;
        var length = HEADER_BYTES + bytes;
        writeHeader(outgoing, start, MESSAGE);
        var send = sends[slot].inline(false).local(outgoing, start, length);
        if (length <= inlineBytes) {
            send.inline(true);
        }
        post(send);
        posted++;
        unhandled++;
    }

    private void writeHeader(MemoryRegion region, long start, int kind) {
        region.segment().set(INT, start + CREDITS, credits);
        region.segment().set(INT, start + KIND, kind);
    }

    private void post(PreparedSend send) throws VerbsException {
        if (!send.tryPost()) {
            throw new IllegalStateException(
                    "The send queue is full although the send ring has a free slot. Do not post requests to the queue pair of a channel.");
        }
        credits = 0;
    }

    /**
     * Handles the completion of a send request. Send requests complete in the order in which they
     * were posted.
     *
     * @param identifier the work request id
     * @param maySend true if the channel is open, so that this method may return credits to the
     *     peer
     */
    public void sent(long identifier, boolean maySend) throws VerbsException {
        switch ((int) (identifier >>> Integer.SIZE)) {
            case SEND_OF_MESSAGE -> completed++;
            case SEND_OF_HEADER -> {
                headersCompleted++;
                returnCreditsIfDue(maySend);
            }
            default -> {
                // The program itself has posted this request.
            }
        }
    }

    /**
     * Reads the header in a slot of the receive ring. The caller must call {@link #handled} when it
     * no longer needs the slot.
     *
     * @param bytes the number of bytes received
     * @return true if a message follows the header
     * @throws InvalidMessageException if the header violates the protocol
     */
    public boolean received(int slot, int bytes) throws InvalidMessageException {
        started = true;
        var start = slot * stride;
        var returned = incoming.segment().get(INT, start + CREDITS);
        var kind = incoming.segment().get(INT, start + KIND);
        var isMessage = kind == MESSAGE;
        if (bytes < HEADER_BYTES
                || (!isMessage && (kind != HEADER_ONLY || bytes != HEADER_BYTES))
                || returned < 0
                || returned > unhandled) {
            throw new InvalidMessageException();
        }
        unhandled -= returned;
        return isMessage;
    }

    /** Returns the buffer that contains the message in a slot of the receive ring. */
    public MemorySegment message(int slot) {
        return incomingBodies[slot];
    }

    /**
     * Returns the length of a message in bytes.
     *
     * @param bytes the number of bytes received, including the header
     */
    public static int length(int bytes) {
        return bytes - HEADER_BYTES;
    }

    /**
     * Posts the receive of a handled slot again, and sends credits to the peer if half of the
     * window has been handled.
     *
     * @param isMessage true if the slot contained a message
     * @param maySend true if the channel is open, so that this method may return credits to the
     *     peer
     */
    public void handled(int slot, boolean isMessage, boolean maySend) throws VerbsException {
        receives[slot].tryPost();
        if (isMessage) {
            credits++;
        }
        returnCreditsIfDue(maySend);
    }

    private void returnCreditsIfDue(boolean maySend) throws VerbsException {
        if (maySend
                && credits >= (window + 1) / 2
                && headersPosted - headersCompleted < HEADER_SLOTS) {
            postHeader();
        }
    }

    private void postHeader() throws VerbsException {
        var slot = (int) (headersPosted % HEADER_SLOTS);
        writeHeader(headers, slot * CACHE_LINE, HEADER_ONLY);
        post(headerSends[slot]);
        headersPosted++;
    }

    @Override
    public void close() {
        completions.close();
        arena.close();
    }
}
