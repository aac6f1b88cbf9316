package org.jrdma.verbs.cm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jrdma.verbs.Access;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.MemoryRegion;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.RegisteredArena;
import org.jrdma.verbs.VerbsException;

/**
 * The messages of an {@link RdmaChannel}: a ring of slots to send from and one to receive into, and
 * who may send how many.
 *
 * <p>Each message begins with a header: how many messages its sender has handled since it last said
 * so, which are as many that may be sent to it; and whether it is more than that. A header alone is
 * sent when half of the window was handled and nothing else went that way. No more than two of
 * those can be unhandled at a time, as each stands for half of a window, so a receive ring has two
 * slots more than the window.
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

    // What is in the upper half of a request's number; the slot is in the lower.
    private static final long OF_SEND = 0;
    private static final long OF_RECEIVE = 1;
    private static final long OF_OPERATION = 2;

    private final int window;
    private final int slots;
    private final long stride;
    private final int capacity;
    private final CompletionQueue completions;
    private final RegisteredArena arena;
    private final MemoryRegion outgoing;
    private final MemoryRegion incoming;
    private final MemorySegment[] outgoingBodies;
    private final MemorySegment[] incomingBodies;
    private final PreparedSend[] sends;
    private final PreparedReceive[] receives;
    private final QueuePairOptions<PolledQueuePair> queuePairOptions;
    private int inlineBytes;

    private long posted;
    private long done;

    /** How many the peer can take. */
    private int credits;

    /** How many were handled that the peer does not know of. */
    private int handled;

    ChannelRings(ProtectionDomain domain, RdmaChannelOptions options) throws VerbsException {
        window = options.window();
        slots = window + SPARE;
        stride = (HEADER_BYTES + (long) options.messageBytes() + CACHE_LINE - 1) & -CACHE_LINE;
        capacity = 2 * slots + options.operations();
        sends = new PreparedSend[slots];
        receives = new PreparedReceive[slots];
        completions =
                domain.device()
                        .newCompletionQueue(
                                CompletionQueueOptions.capacity(capacity + 1).waitable());
        arena = domain.newArena(Access.LOCAL_WRITE);
        try {
            outgoing = arena.region(slots * stride);
            incoming = arena.region(slots * stride);
        } catch (VerbsException | RuntimeException e) {
            close();
            throw e;
        }
        outgoingBodies = bodies(outgoing, options.messageBytes());
        incomingBodies = bodies(incoming, options.messageBytes());
        queuePairOptions =
                QueuePairOptions.reliable(completions)
                        .sends(slots + options.operations())
                        .receives(slots)
                        .inlineBytes(INLINE_BYTES);
    }

    private MemorySegment[] bodies(MemoryRegion region, int bytes) {
        var bodies = new MemorySegment[slots];
        for (var slot = 0; slot < slots; slot++) {
            bodies[slot] = region.segment().asSlice(slot * stride + HEADER_BYTES, bytes);
        }
        return bodies;
    }

    static long operation(int slot) {
        return OF_OPERATION << Integer.SIZE | slot;
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

    QueuePairOptions<PolledQueuePair> queuePairOptions() {
        return queuePairOptions;
    }

    /** Before the peer can send. */
    void postReceives(PolledQueuePair queuePair) throws VerbsException {
        for (var slot = 0; slot < slots; slot++) {
            receives[slot] =
                    queuePair
                            .prepareReceive(incoming.slice(slot * stride, bytes()))
                            .id(OF_RECEIVE << Integer.SIZE | slot);
            receives[slot].tryPost();
        }
    }

    private long bytes() {
        return HEADER_BYTES + incomingBodies[0].byteSize();
    }

    /** When the peer has said how many it takes. */
    void begin(PolledQueuePair queuePair, int peerWindow) {
        credits = peerWindow;
        inlineBytes = queuePair.inlineBytes();
        for (var slot = 0; slot < slots; slot++) {
            sends[slot] =
                    queuePair
                            .prepareSend(outgoing.slice(slot * stride, HEADER_BYTES))
                            .id(OF_SEND << Integer.SIZE | slot);
        }
    }

    private int underWay() {
        return (int) (posted - done);
    }

    int freeMessages() {
        return Math.min(credits, Math.max(0, window - underWay()));
    }

    /** Where the next message goes. */
    MemorySegment nextMessage() {
        return outgoingBodies[nextSlot()];
    }

    private int nextSlot() {
        return (int) (posted % slots);
    }

    void send(long bytes) throws VerbsException {
        post(MESSAGE, HEADER_BYTES + bytes);
        credits--;
    }

    private void post(int kind, long bytes) throws VerbsException {
        var slot = nextSlot();
        var start = slot * stride;
        outgoing.segment().set(INT, start + HANDLED, handled);
        outgoing.segment().set(INT, start + KIND, kind);
        var send = sends[slot].inline(false).local(outgoing, start, bytes);
        if (bytes <= inlineBytes) {
            send.inline(true);
        }
        if (!send.tryPost()) {
            throw new IllegalStateException("A ring with room has a queue with room");
        }
        posted++;
        handled = 0;
    }

    /** Sends complete in the order they were posted. */
    void sent() throws VerbsException {
        done++;
        tellIfDue(true);
    }

    /**
     * Takes what a slot has received, and posts it again.
     *
     * @return whether it was a message
     */
    boolean received(int slot, int bytes, RdmaChannel.Handler handler, boolean mayAnswer)
            throws VerbsException {
        var start = slot * stride;
        var isMessage = incoming.segment().get(INT, start + KIND) == MESSAGE;
        var returned = incoming.segment().get(INT, start + HANDLED);
        try {
            if (isMessage) {
                handler.message(incomingBodies[slot], bytes - HEADER_BYTES);
            }
        } finally {
            receives[slot].tryPost();
            credits += returned;
            if (isMessage) {
                handled++;
            }
            tellIfDue(mayAnswer);
        }
        return isMessage;
    }

    private void tellIfDue(boolean mayAnswer) throws VerbsException {
        if (mayAnswer && handled >= (window + 1) / 2 && underWay() < slots) {
            post(HEADER_ALONE, HEADER_BYTES);
        }
    }

    @Override
    public void close() {
        completions.close();
        arena.close();
    }
}
