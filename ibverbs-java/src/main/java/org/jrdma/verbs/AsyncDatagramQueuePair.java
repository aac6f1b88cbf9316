package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.DatagramOperations;
import org.jrdma.verbs.queue.RequestWriter;

/**
 * A datagram queue pair with asynchronous operations. Each operation posts a request and returns a
 * {@link Transfer}, which the {@link CompletionDispatcher} completes when the request has
 * completed. A successful completion means that the message was sent, but not that it arrived.
 *
 * <p>Safe for use by multiple threads, including virtual threads. If the queue is full, an
 * operation waits for a free slot, up to {@link QueuePairOptions#slotTimeout}. Messages of at most
 * {@link #inlineBytes()} bytes are sent inline, unless the start address of one of their regions is
 * not its virtual address, for example because the region is zero-based.
 */
public final class AsyncDatagramQueuePair extends AbstractAsyncQueuePair
        implements DatagramQueuePair {

    private final DatagramOperations datagrams;

    AsyncDatagramQueuePair(Parameters parameters) throws VerbsException {
        super(parameters);
        this.datagrams = new DatagramOperations(queuePair());
    }

    @Override
    public void activate(int queueKey) throws VerbsException {
        datagrams.activate(queueKey);
    }

    @Override
    public int maxMessageBytes() {
        return datagrams.maxMessageBytes();
    }

    @Override
    public AddressVector addressOf(Gid gid, int lid) throws VerbsException {
        return address("ibv_create_ah", gid, lid, DirectConnectOptions.DEFAULT);
    }

    @Override
    public AddressVector addressOf(Completion received, MemorySlice into) throws VerbsException {
        return datagrams.replyAddress(received, into);
    }

    @Override
    public void attachMulticast(Gid group, int lid) throws VerbsException {
        datagrams.attach(group, lid);
    }

    @Override
    public void detachMulticast(Gid group, int lid) throws VerbsException {
        datagrams.detach(group, lid);
    }

    /**
     * Sends a message. A message that arrives consumes a receive request of the receiver. In C:
     * {@code IBV_WR_SEND}.
     *
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}, or
     *     the address handle belongs to another protection domain
     * @throws VerbsException if the request cannot be posted
     */
    public Transfer send(MemorySlice local, Destination to)
            throws FabricException, InterruptedIOException {
        return send(List.of(local), to);
    }

    /** Sends a message gathered from several slices. */
    public Transfer send(List<MemorySlice> local, Destination to)
            throws FabricException, InterruptedIOException {
        return send(Operation.SEND, local, to, 0);
    }

    /**
     * Sends a message with 32 bits of immediate data, which the completion at the receiver
     * contains. In C: {@code IBV_WR_SEND_WITH_IMM}.
     */
    public Transfer sendWithImmediate(MemorySlice local, Destination to, int immediate)
            throws FabricException, InterruptedIOException {
        return send(Operation.SEND_WITH_IMMEDIATE, List.of(local), to, immediate);
    }

    private Transfer send(
            Operation operation, List<MemorySlice> local, Destination to, int immediate)
            throws FabricException, InterruptedIOException {
        datagrams.checkLength(RequestWriter.totalLength(local));
        var address = to.address();
        datagrams.checkDomain(address.domainHandle(), address);
        var request = begin(operation, local, address.ownLifetime());
        try {
            request.immediate(immediate);
            request.destination(address.nativeAddress(), to.queuePairNumber(), to.queueKey());
            return new Transfer(sender().post());
        } finally {
            sender().end();
        }
    }
}
