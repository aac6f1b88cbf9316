package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;

/**
 * The end of an extended reliable connection that sends, whose operations are awaited: each is
 * posted at once and gives a {@link Transfer}, which its {@link CompletionDispatcher} completes.
 * Its peer is an {@link XrcReceiveQueuePair}. Each operation is for a shared receive queue there,
 * whose number the peer tells: messages are received from it, and reads, writes and atomics reach
 * the memory of its protection domain.
 *
 * <p>Any number of threads, virtual ones too, may use it. An operation that finds its queue full
 * waits for a free slot, as long as {@link QueuePairOptions#slotTimeout} says. Messages and writes
 * that fit are sent inline. In C: {@code IBV_QPT_XRC_SEND}, {@code ibv_wr_set_xrc_srqn}.
 */
public final class AsyncXrcSendQueuePair extends AsyncEnd implements ConnectedQueuePair {

    AsyncXrcSendQueuePair(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<AsyncXrcSendQueuePair> options)
            throws VerbsException {
        this(domain, completions, options, new AsyncWorkQueue(options.sends()));
    }

    private AsyncXrcSendQueuePair(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<AsyncXrcSendQueuePair> options,
            AsyncWorkQueue sends)
            throws VerbsException {
        super(
                domain,
                completions,
                options,
                sends,
                make(domain, completions, null, sends, null, null, options, sends::abandon));
    }

    @Override
    public void connect(Endpoint peer, ConnectOptions options) throws VerbsException {
        connectTo(peer, options);
    }

    /**
     * Sends a message. In C: {@code IBV_WR_SEND}.
     *
     * @param receiveQueue the number of the peer's shared receive queue
     * @throws VerbsException if it cannot be posted
     */
    public Transfer send(MemorySlice local, int receiveQueue)
            throws FabricException, InterruptedIOException {
        return send(List.of(local), receiveQueue);
    }

    /** Sends a message gathered from pieces. */
    public Transfer send(List<MemorySlice> local, int receiveQueue)
            throws FabricException, InterruptedIOException {
        PreparedSendRequest.checkedNumber(receiveQueue);
        return post(Operation.SEND, local, request -> request.receiveQueue(receiveQueue));
    }

    /**
     * Sends a message with 32 bits along, which the peer finds in its completion. In C: {@code
     * IBV_WR_SEND_WITH_IMM}.
     */
    public Transfer sendWithImmediate(MemorySlice local, int receiveQueue, int immediate)
            throws FabricException, InterruptedIOException {
        PreparedSendRequest.checkedNumber(receiveQueue);
        return post(
                Operation.SEND_WITH_IMMEDIATE,
                List.of(local),
                request -> {
                    request.receiveQueue(receiveQueue);
                    request.immediate(immediate);
                });
    }

    /**
     * Writes the beginning of the peer's memory. In C: {@code IBV_WR_RDMA_WRITE}.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws VerbsException if it cannot be posted
     */
    public Transfer write(MemorySlice local, RemoteMemory remote, int receiveQueue)
            throws FabricException, InterruptedIOException {
        return write(List.of(local), remote, receiveQueue);
    }

    /** Writes the beginning of the peer's memory, gathered from pieces. */
    public Transfer write(List<MemorySlice> local, RemoteMemory remote, int receiveQueue)
            throws FabricException, InterruptedIOException {
        return transfer(
                Operation.WRITE, local, remote, 0, PreparedSendRequest.checkedNumber(receiveQueue));
    }

    /**
     * Writes the beginning of the peer's memory, with 32 bits along that take up a receive of the
     * queue. In C: {@code IBV_WR_RDMA_WRITE_WITH_IMM}.
     */
    public Transfer writeWithImmediate(
            MemorySlice local, RemoteMemory remote, int receiveQueue, int immediate)
            throws FabricException, InterruptedIOException {
        return transfer(
                Operation.WRITE_WITH_IMMEDIATE,
                List.of(local),
                remote,
                immediate,
                PreparedSendRequest.checkedNumber(receiveQueue));
    }

    /**
     * Reads the beginning of the peer's memory, as much as {@code local} holds. In C: {@code
     * IBV_WR_RDMA_READ}.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain
     * @throws IndexOutOfBoundsException if {@code local} is longer than {@code remote}
     * @throws VerbsException if it cannot be posted
     */
    public Transfer read(MemorySlice local, RemoteMemory remote, int receiveQueue)
            throws FabricException, InterruptedIOException {
        return read(List.of(local), remote, receiveQueue);
    }

    /** Reads the beginning of the peer's memory, scattered to pieces. */
    public Transfer read(List<MemorySlice> local, RemoteMemory remote, int receiveQueue)
            throws FabricException, InterruptedIOException {
        return transfer(
                Operation.READ, local, remote, 0, PreparedSendRequest.checkedNumber(receiveQueue));
    }

    /**
     * Replaces the first 8 bytes of the peer's memory if they are {@code expected}; what they were
     * comes to {@code result}, in this machine's byte order. In C: {@code
     * IBV_WR_ATOMIC_CMP_AND_SWP}.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public Transfer compareAndSwap(
            MemorySlice result,
            RemoteMemory remote,
            int receiveQueue,
            long expected,
            long replacement)
            throws FabricException, InterruptedIOException {
        return atomic(
                Operation.COMPARE_AND_SWAP,
                result,
                remote,
                expected,
                replacement,
                PreparedSendRequest.checkedNumber(receiveQueue));
    }

    /**
     * Adds to the first 8 bytes of the peer's memory; what they were comes to {@code result}, in
     * this machine's byte order. In C: {@code IBV_WR_ATOMIC_FETCH_AND_ADD}.
     *
     * @param receiveQueue the number of a shared receive queue of the memory's protection domain
     * @throws IllegalArgumentException if the peer's memory is not at a multiple of 8, or {@code
     *     result} is not of 8 bytes
     */
    public Transfer fetchAndAdd(
            MemorySlice result, RemoteMemory remote, int receiveQueue, long delta)
            throws FabricException, InterruptedIOException {
        return atomic(
                Operation.FETCH_AND_ADD,
                result,
                remote,
                delta,
                0,
                PreparedSendRequest.checkedNumber(receiveQueue));
    }
}
