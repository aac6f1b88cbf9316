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
 * <p>Each message starts with a header, which returns credits: the number of messages that its
 * sender has handled since its previous header. The receiver of the header may send that many more
 * messages. A header without a message is sent if half of the window has been handled and no
 * message was sent in the meantime. Such headers have separate send slots, so that a claimed
 * message keeps its slot. At most two of them can be unhandled at a time, because each returns
 * credits for half of a window. The receive ring therefore has two slots more than the window.
 *
 * <p>The peer is not trusted. An invalid header ends the channel, and no header can cause an
 * out-of-bounds access.
 */
public final class MessageRings implements AutoCloseable {

    /** The maximum number of headers without a message in flight. */
    private static final int HEADER_SLOTS = 2;

    private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long CREDITS = 0;
    private static final long KIND = Integer.BYTES;
    private static final int HEADER_BYTES = 2 * Integer.BYTES;
    private static final int HEADER_ONLY = 0;
    private static final int MESSAGE = 1;

    /** Messages up to this length are sent inline if the device supports it. */
    private static final int INLINE_BYTES = 64 + HEADER_BYTES;

    private static final long CACHE_LINE = 64;

    // The upper half of a work request identifier is one of these kinds, the lower half is the
    // slot.
    // Requests with other identifiers were posted by the program.
    private static final int SEND_OF_MESSAGE = 1;
    private static final int SEND_OF_HEADER = 2;
    private static final int RECEIVE = 3;
    private static final int OPERATION = 4;

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

    // The numbers of sent messages, and of sent headers without a message.
    private long posted;
    private long completed;
    private long headersPosted;
    private long headersCompleted;

    private int peerWindow;

    /** True if this side may send. */
    private boolean started;

    /** The number of sent messages for which no credit has been returned. */
    private int unhandled;

    /** The number of credits to return with the next header. */
    private int credits;

    /**
     * Allocates rings.
     *
     * @param messageBytes the maximum length of a message
     * @param window the number of messages in each ring
     * @param operations the maximum number of reads and writes in flight
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
        } catch (RuntimeException e) {
            completions.close();
            throw e;
        }
        try {
            outgoing = arena.region(sends.length * stride);
            incoming = arena.region(receives.length * stride);
            headers = arena.region(HEADER_SLOTS * CACHE_LINE);
        } catch (VerbsException | RuntimeException e) {
            close();
            throw e;
        }
        outgoingBodies = bodies(outgoing, sends.length);
        incomingBodies = bodies(incoming, receives.length);
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

    /** Returns the work request identifier of a read or write. */
    public static long operation(int slot) {
        return identifier(OPERATION, slot);
    }

    /** Returns true if a work request is a read or write. */
    public static boolean isOperation(long identifier) {
        return identifier >>> Integer.SIZE == OPERATION;
    }

    /** Returns true if a work request is a receive. */
    public static boolean isReceive(long identifier) {
        return identifier >>> Integer.SIZE == RECEIVE;
    }

    /** Returns the slot of a work request. */
    public static int slot(long identifier) {
        return (int) identifier;
    }

    /** The completion queue of all requests. */
    public CompletionQueue completions() {
        return completions;
    }

    /** The maximum number of completions at a time. */
    public int capacity() {
        return capacity;
    }

    /** The local parameters. */
    public ChannelParameters parameters() {
        return new ChannelParameters(messageBytes, window);
    }

    /** The options of the queue pair that the rings need. */
    public QueuePairOptions<PolledQueuePair> queuePairOptions() {
        return queuePairOptions;
    }

    /** Posts all receives. Must be called before the peer can send. */
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
     * Prepares the sends when the peer's parameters are known.
     *
     * @param afterFirstReceive true to send only after the peer's first message has arrived. On
     *     iWARP, an earlier message of the accepting side would break the handshake of the
     *     connecting side
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

    /** Sends a header, which allows a peer that waits for the first message to send. */
    public void sendFirstHeader() throws VerbsException {
        postHeader();
    }

    /** Returns true if this side may send. */
    public boolean isStarted() {
        return started;
    }

    /** The number of messages that can be sent now. */
    public int freeMessages() {
        return !started ? 0 : Math.min(peerWindow - unhandled, window - (int) (posted - completed));
    }

    /** The buffer of the next message. */
    public MemorySegment nextMessage() {
        return outgoingBodies[nextSlot()];
    }

    private int nextSlot() {
        return (int) (posted % window);
    }

    /** Sends the next message. */
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
     * Handles the completion of a send. Sends complete in the order in which they were posted.
     *
     * @param maySend true if the channel is open, so that credits can be returned
     */
    public void sent(long identifier, boolean maySend) throws VerbsException {
        switch ((int) (identifier >>> Integer.SIZE)) {
            case SEND_OF_MESSAGE -> completed++;
            case SEND_OF_HEADER -> {
                headersCompleted++;
                returnCreditsIfDue(maySend);
            }
            default -> {
                // posted by the program
            }
        }
    }

    /**
     * Reads the header in a slot of the receive ring. The caller must call {@link #handled}
     * afterwards.
     *
     * @return true if a message follows the header
     * @throws InvalidMessageException if the peer violates the protocol
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

    /** The buffer of the message in a slot of the receive ring. */
    public MemorySegment message(int slot) {
        return incomingBodies[slot];
    }

    /** Returns the length of a message, given the received bytes including the header. */
    public static int length(int bytes) {
        return bytes - HEADER_BYTES;
    }

    /** Posts the receive of a slot again, and returns credits if they are due. */
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
