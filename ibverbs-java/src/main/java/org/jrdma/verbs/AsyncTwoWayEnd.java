package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/** What queue pairs that send and receive and are awaited have in common, connected or not. */
abstract sealed class AsyncTwoWayEnd extends AsyncEnd
        permits AsyncQueuePair, AsyncDatagramQueuePair, AsyncRawQueuePair {

    private final AsyncWorkQueue receives;
    private final AsyncPoster<WorkRequest.Receive> receiver;

    AsyncTwoWayEnd(
            ProtectionDomain domain, CompletionDispatcher completions, QueuePairOptions<?> options)
            throws VerbsException {
        this(
                domain,
                completions,
                options,
                new AsyncWorkQueue(options.sends()),
                new AsyncWorkQueue(
                        options.receives(), options.type() == QueuePairType.UNRELIABLE_DATAGRAM));
    }

    private AsyncTwoWayEnd(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<?> options,
            AsyncWorkQueue sends,
            AsyncWorkQueue receives)
            throws VerbsException {
        super(
                domain,
                completions,
                options,
                sends,
                make(
                        domain,
                        completions,
                        completions,
                        sends,
                        receives,
                        sharing(options),
                        options,
                        () -> {
                            sends.abandon();
                            receives.abandon();
                        }));
        this.receives = receives;
        this.receiver =
                new AsyncPoster<>(
                        target(
                                "ibv_post_recv",
                                AsyncTwoWayEnd::postReceive,
                                receiveQueue(),
                                options),
                        receives,
                        new WorkRequest.Receive(options.receiveElements()));
    }

    private static @Nullable Sharing<AsyncWorkQueue> sharing(QueuePairOptions<?> options) {
        return switch (options.sharedReceives()) {
            case null -> null;
            case AsyncSharedReceiveQueue awaited -> awaited.sharing();
            case PolledSharedReceiveQueue polled ->
                    throw new IllegalArgumentException(
                            "The receives of the %s are polled for, and cannot be those of a queue pair with a dispatcher; newAsyncSharedReceiveQueue() makes one for it"
                                    .formatted(polled));
        };
    }

    private static int postReceive(HotPath hotPath, long queuePair, WorkRequest request) {
        return hotPath.postReceive(queuePair, request.address(), request.refusedAddress());
    }

    private String receiveQueue() {
        return "receive queue of " + this;
    }

    /**
     * Receives a message. Its completion says how long it was. In C: {@code ibv_post_recv}.
     *
     * @throws VerbsException if it cannot be posted
     * @throws UnsupportedOperationException if it has its receives from a shared queue
     */
    public final Transfer receive(MemorySlice local)
            throws FabricException, InterruptedIOException {
        return receive(List.of(local));
    }

    /** Receives a message into pieces; into none, to hear of a write with immediate data. */
    public final Transfer receive(List<MemorySlice> local)
            throws FabricException, InterruptedIOException {
        refuseIfShared();
        if (!takesReceives()) {
            throw wrongState(
                    "ibv_post_recv",
                    "receives are taken from INIT on, where connect or activate brings it");
        }
        refuseIfDraining("ibv_post_recv");
        return receiver.submit("RECEIVE", local, _ -> {});
    }

    @Override
    final void awaitOthers(Deadline deadline) throws FabricException, InterruptedIOException {
        receives.awaitAllFree(deadline, receiveQueue());
    }

    @Override
    final int outstanding() {
        return super.outstanding() + receives.outstanding();
    }
}
