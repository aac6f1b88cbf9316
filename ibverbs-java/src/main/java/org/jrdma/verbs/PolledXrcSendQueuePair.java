package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * The end of an extended reliable connection that sends, whose user prepares requests, posts them,
 * and polls a {@link CompletionQueue}: nothing is allocated, locked or waited for. Its peer is an
 * {@link XrcReceiveQueuePair}. Each request is for a shared receive queue there, whose number the
 * peer tells: messages are received from it, and reads, writes and atomics reach the memory of its
 * protection domain.
 *
 * <p>Requests are prepared and posted by one thread, the first to prepare one; it need not be the
 * one that polls. In C: {@code IBV_QPT_XRC_SEND}, {@code ibv_wr_set_xrc_srqn}.
 */
public final class PolledXrcSendQueuePair extends PolledEnd implements ConnectedQueuePair {

    PolledXrcSendQueuePair(
            ProtectionDomain domain,
            CompletionQueue completions,
            QueuePairOptions<PolledXrcSendQueuePair> options)
            throws VerbsException {
        this(domain, completions, options, new PolledWorkQueue(options.sends()));
    }

    private PolledXrcSendQueuePair(
            ProtectionDomain domain,
            CompletionQueue completions,
            QueuePairOptions<PolledXrcSendQueuePair> options,
            PolledWorkQueue sends)
            throws VerbsException {
        super(
                domain,
                completions,
                options,
                sends,
                make(domain, completions, null, sends, null, null, options, () -> {}));
    }

    @Override
    public void connect(Endpoint peer, ConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }

    /**
     * A message.
     *
     * @param receiveQueue the number of the peer's shared receive queue
     */
    public PreparedSend prepareSend(MemorySlice local, int receiveQueue) {
        return prepareSend(List.of(local), receiveQueue);
    }

    /** A message gathered from pieces. */
    public PreparedSend prepareSend(List<MemorySlice> local, int receiveQueue) {
        return new PreparedSend(this, local).toReceiveQueue(receiveQueue);
    }

    /**
     * A write of the peer's memory, at its beginning.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain;
     *     with immediate data, the one that a receive is taken from
     * @throws IndexOutOfBoundsException if {@code local} is longer
     */
    public PreparedWrite prepareWrite(MemorySlice local, RemoteMemory remote, int receiveQueue) {
        return prepareWrite(List.of(local), remote, receiveQueue);
    }

    /**
     * A write of the peer's memory, at its beginning, gathered from pieces.
     *
     * @throws IndexOutOfBoundsException if they are longer
     */
    public PreparedWrite prepareWrite(
            List<MemorySlice> local, RemoteMemory remote, int receiveQueue) {
        return new PreparedWrite(this, local, remote).toReceiveQueue(receiveQueue);
    }

    /**
     * A read of the peer's memory, from its beginning, as much as {@code local} holds.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain
     * @throws IndexOutOfBoundsException if {@code local} is longer
     */
    public PreparedRead prepareRead(MemorySlice local, RemoteMemory remote, int receiveQueue) {
        return prepareRead(List.of(local), remote, receiveQueue);
    }

    /**
     * A read of the peer's memory, from its beginning, scattered to pieces.
     *
     * @throws IndexOutOfBoundsException if they are longer
     */
    public PreparedRead prepareRead(
            List<MemorySlice> local, RemoteMemory remote, int receiveQueue) {
        return new PreparedRead(this, local, remote).toReceiveQueue(receiveQueue);
    }

    /**
     * A compare-and-swap of the first 8 bytes of the peer's memory; the former value comes to
     * {@code result}.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public PreparedCompareAndSwap prepareCompareAndSwap(
            MemorySlice result, RemoteMemory remote, int receiveQueue) {
        return new PreparedCompareAndSwap(this, result, remote).toReceiveQueue(receiveQueue);
    }

    /**
     * A fetch-and-add to the first 8 bytes of the peer's memory; the former value comes to {@code
     * result}.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public PreparedFetchAndAdd prepareFetchAndAdd(
            MemorySlice result, RemoteMemory remote, int receiveQueue) {
        return new PreparedFetchAndAdd(this, result, remote).toReceiveQueue(receiveQueue);
    }

    @Override
    void direct(WorkRequest.Send marker) {
        // it goes to the peer
    }
}
