package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** What polled queue pairs that send and receive have in common, connected or not. */
abstract sealed class PolledTwoWayEnd extends PolledEnd
        permits PolledQueuePair, PolledDatagramQueuePair, PolledRawQueuePair {

    private final PolledWorkQueue receives;
    private final CompletionQueue ofReceives;
    private final int receiveElements;
    private @Nullable Thread receiver;

    PolledTwoWayEnd(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairOptions<?> options)
            throws VerbsException {
        this(
                domain,
                ofSends,
                ofReceives,
                options,
                new PolledWorkQueue(options.sends()),
                new PolledWorkQueue(
                        options.receives(), options.type() == QueuePairType.UNRELIABLE_DATAGRAM));
    }

    private PolledTwoWayEnd(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairOptions<?> options,
            PolledWorkQueue sends,
            PolledWorkQueue receives)
            throws VerbsException {
        super(
                domain,
                ofSends,
                options,
                sends,
                make(
                        domain,
                        ofSends,
                        ofReceives,
                        sends,
                        receives,
                        sharing(options),
                        options,
                        () -> {}));
        this.receives = receives;
        this.ofReceives = ofReceives;
        this.receiveElements = options.receiveElements();
    }

    private static @Nullable Sharing<PolledWorkQueue> sharing(QueuePairOptions<?> options) {
        return switch (options.sharedReceives()) {
            case null -> null;
            case PolledSharedReceiveQueue polled -> polled.sharing();
            case AsyncSharedReceiveQueue awaited ->
                    throw new IllegalArgumentException(
                            "The receives of the %s are awaited, and cannot be those of a queue pair that is polled; newSharedReceiveQueue() makes one for it"
                                    .formatted(awaited));
        };
    }

    /**
     * A place to receive a message into.
     *
     * @throws UnsupportedOperationException if it has its receives from a shared queue
     */
    public final PreparedReceive prepareReceive(MemorySlice local) {
        return prepareReceive(List.of(local));
    }

    /**
     * Places to receive a message into; none, to hear of a write with immediate data.
     *
     * @throws UnsupportedOperationException if it has its receives from a shared queue
     */
    public final PreparedReceive prepareReceive(List<MemorySlice> local) {
        refuseIfShared();
        return new PreparedReceive(this, local);
    }

    /** How many receives can be posted now. For the thread that posts them. */
    public final int freeReceives() {
        return receives.freeSlots();
    }

    @Override
    final boolean isAllSeenBy(CompletionCursor cursor) {
        return super.isAllSeenBy(cursor) && cursor.isOver(ofReceives);
    }

    @Override
    final int outstanding() {
        return super.outstanding() + receives.outstanding();
    }

    /** The queue of receives, for the one thread that may use it: the first to ask. */
    final synchronized PolledWorkQueue receivesOfThisThread() {
        receiver = claim(receiver, "receives", this);
        return receives;
    }

    final int receiveElements() {
        return receiveElements;
    }
}
