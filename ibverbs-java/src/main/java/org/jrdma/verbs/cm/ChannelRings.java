package org.jrdma.verbs.cm;

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
 * The messages of an {@link RdmaChannel}: a ring of slots to send from and one to receive into, and
 * who may send how many.
 *
 * <p>Each message begins with a header: how many messages its sender has handled since it last said
 * so, which are as many that may be sent to it; and whether it is more than that. A header alone is
 * sent when half of the window was handled and nothing else went that way, from slots of its own: a
 * message that is being written stays where it is. No more than two of those can be unhandled at a
 * time, as each stands for half of a window, so a receive ring has two slots more than the window.
 *
 * <p>What the peer says is not trusted: it ends the channel, and overwrites nothing.
 */
final class ChannelRings implements AutoCloseable {

    /** How many headers alone can be under way. */
    private static final int SPARE = 2;

    private static final ValueLayout.OfInt INT =
            ValueLayout.JAVA_INT.withOrder(ByteOrder.BIG_ENDIAN);
    private static final long HANDLED = 0;
    private static final long KIND = Integer.BYTES;
    private static final int HEADER_BYTES = 2 * Integer.BYTES;
    private static final int HEADER_ALONE = 0;
    private static final int MESSAGE = 1;

    /** Small ones go along with the request, if the device does that. */
    private static final int INLINE_BYTES = 64 + HEADER_BYTES;

    private static final long CACHE_LINE = 64;

    // What is in the upper half of a request's number; the slot is in the lower. Others are not
    // the channel's.
    private static final int OF_MESSAGE = 1;
    private static final int OF_HEADER = 2;
    private static final int OF_RECEIVE = 3;
    private static final int OF_OPERATION = 4;

    private final int window;
    private final int messageBytes;
    private final int operations;
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
    private final PreparedSend[] headerSends = new PreparedSend[SPARE];
    private final PreparedReceive[] receives;
    private final QueuePairOptions<PolledQueuePair> queuePairOptions;
    private int inlineBytes;

    // Messages and headers alone that were posted, and those of them that are done.
    private long posted;
    private long done;
    private long headersPosted;
    private long headersDone;

    private int peerWindow;

    /** Whether anything may be sent. */
    private boolean begun;

    /** How many messages were sent of which the peer has not said that it has handled them. */
    private int unhandled;

    /** How many were handled here that the peer does not know of. */
    private int handled;

    ChannelRings(ProtectionDomain domain, RdmaChannelOptions options) throws VerbsException {
        window = options.window();
        messageBytes = options.messageBytes();
        operations = options.operations();
        stride = (HEADER_BYTES + (long) messageBytes + CACHE_LINE - 1) & -CACHE_LINE;
        capacity = 2 * (window + SPARE) + operations;
        sends = new PreparedSend[window];
        receives = new PreparedReceive[window + SPARE];
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
            headers = arena.region(SPARE * CACHE_LINE);
        } catch (VerbsException | RuntimeException e) {
            close();
            throw e;
        }
        outgoingBodies = bodies(outgoing, sends.length);
        incomingBodies = bodies(incoming, receives.length);
        queuePairOptions =
                QueuePairOptions.reliable(completions)
                        .sends(window + SPARE + operations)
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

    private static long number(int kind, int slot) {
        return (long) kind << Integer.SIZE | slot;
    }

    static long operation(int slot) {
        return number(OF_OPERATION, slot);
    }

    static boolean isOperation(long number) {
        return number >>> Integer.SIZE == OF_OPERATION;
    }

    static boolean isReceive(long number) {
        return number >>> Integer.SIZE == OF_RECEIVE;
    }

    static int slot(long number) {
        return (int) number;
    }

    CompletionQueue completions() {
        return completions;
    }

    /** How many completions can come at a time. */
    int capacity() {
        return capacity;
    }

    int operations() {
        return operations;
    }

    /** What this side tells the other. */
    ChannelGreeting greeting() {
        return new ChannelGreeting(messageBytes, window);
    }

    QueuePairOptions<PolledQueuePair> queuePairOptions() {
        return queuePairOptions;
    }

    /** Before the peer can send. */
    void postReceives(PolledQueuePair queuePair) throws VerbsException {
        for (var slot = 0; slot < receives.length; slot++) {
            receives[slot] =
                    queuePair
                            .prepareReceive(
                                    incoming.slice(slot * stride, HEADER_BYTES + messageBytes))
                            .id(number(OF_RECEIVE, slot));
            receives[slot].tryPost();
        }
    }

    /**
     * When the peer has said how many it takes.
     *
     * @param waits whether nothing may be sent before something has come: on iWARP, the side that
     *     has accepted would break the other's handshake
     */
    void begin(PolledQueuePair queuePair, ChannelGreeting peer, boolean waits) {
        peerWindow = peer.window();
        begun = !waits;
        inlineBytes = queuePair.inlineBytes();
        for (var slot = 0; slot < sends.length; slot++) {
            sends[slot] =
                    queuePair
                            .prepareSend(outgoing.slice(slot * stride, HEADER_BYTES))
                            .id(number(OF_MESSAGE, slot));
        }
        for (var slot = 0; slot < SPARE; slot++) {
            headerSends[slot] =
                    queuePair
                            .prepareSend(headers.slice(slot * CACHE_LINE, HEADER_BYTES))
                            .inline(HEADER_BYTES <= inlineBytes)
                            .id(number(OF_HEADER, slot));
        }
    }

    /** Lets a peer begin that waits. */
    void greet() throws VerbsException {
        postHeader();
    }

    boolean hasBegun() {
        return begun;
    }

    int freeMessages() {
        return !begun ? 0 : Math.min(peerWindow - unhandled, window - (int) (posted - done));
    }

    /** Where the next message goes. */
    MemorySegment nextMessage() {
        return outgoingBodies[nextSlot()];
    }

    private int nextSlot() {
        return (int) (posted % window);
    }

    void send(long bytes) throws VerbsException {
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
        region.segment().set(INT, start + HANDLED, handled);
        region.segment().set(INT, start + KIND, kind);
    }

    private void post(PreparedSend send) throws VerbsException {
        if (!send.tryPost()) {
            throw new IllegalStateException("A ring with room has a queue with room");
        }
        handled = 0;
    }

    /** Sends complete in the order they were posted. */
    void sent(long number, boolean mayAnswer) throws VerbsException {
        switch ((int) (number >>> Integer.SIZE)) {
            case OF_MESSAGE -> done++;
            case OF_HEADER -> {
                headersDone++;
                tellIfDue(mayAnswer);
            }
            default -> {
                // a request that the program has posted by itself
            }
        }
    }

    /**
     * Looks at what a slot has received; {@link #handled} must follow.
     *
     * @return whether it is a message
     * @throws VerbsException if the peer does not keep to the protocol
     */
    boolean received(int slot, int bytes) throws VerbsException {
        begun = true;
        var start = slot * stride;
        var returned = incoming.segment().get(INT, start + HANDLED);
        var kind = incoming.segment().get(INT, start + KIND);
        var isMessage = kind == MESSAGE;
        if (bytes < HEADER_BYTES
                || (!isMessage && (kind != HEADER_ALONE || bytes != HEADER_BYTES))
                || returned < 0
                || returned > unhandled) {
            throw new VerbsException(
                    "ibv_poll_cq", "The peer has sent what is no message of a channel's.");
        }
        unhandled -= returned;
        return isMessage;
    }

    /** Where the message of a slot begins. */
    MemorySegment message(int slot) {
        return incomingBodies[slot];
    }

    /** How long the message is that has arrived with so many bytes. */
    static int length(int bytes) {
        return bytes - HEADER_BYTES;
    }

    /** Posts a slot again. */
    void handled(int slot, boolean isMessage, boolean mayAnswer) throws VerbsException {
        receives[slot].tryPost();
        if (isMessage) {
            handled++;
        }
        tellIfDue(mayAnswer);
    }

    private void tellIfDue(boolean mayAnswer) throws VerbsException {
        if (mayAnswer && handled >= (window + 1) / 2 && headersPosted - headersDone < SPARE) {
            postHeader();
        }
    }

    private void postHeader() throws VerbsException {
        var slot = (int) (headersPosted % SPARE);
        writeHeader(headers, slot * CACHE_LINE, HEADER_ALONE);
        post(headerSends[slot]);
        headersPosted++;
    }

    @Override
    public void close() {
        completions.close();
        arena.close();
    }
}
