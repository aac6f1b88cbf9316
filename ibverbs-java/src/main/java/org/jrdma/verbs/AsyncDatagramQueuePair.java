package org.jrdma.verbs;

import java.io.InterruptedIOException;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair of datagrams whose operations are awaited: each is posted at once and gives a {@link
 * Transfer}, which its {@link CompletionDispatcher} completes. That a message was sent does not say
 * that it arrives.
 *
 * <p>Any number of threads, virtual ones too, may use it. An operation that finds its queue full
 * waits for a free slot, as long as {@link QueuePairOptions#slotTimeout} says. Messages that fit
 * are sent inline.
 */
public final class AsyncDatagramQueuePair extends AsyncTwoWayEnd implements DatagramQueuePair {

    AsyncDatagramQueuePair(
            ProtectionDomain domain,
            CompletionDispatcher completions,
            QueuePairOptions<AsyncDatagramQueuePair> options)
            throws VerbsException {
        super(domain, completions, options);
    }

    @Override
    public void activate(int queueKey) throws VerbsException {
        activateWith(queueKey);
    }

    @Override
    public int maxMessageBytes() {
        return datagramBytes();
    }

    @Override
    public AddressVector addressOf(Gid gid, int lid) throws VerbsException {
        return address("ibv_create_ah", gid, lid, new ConnectOptions());
    }

    @Override
    public AddressVector addressOf(Completion received, MemorySlice into) throws VerbsException {
        return answer(received, into);
    }

    @Override
    public void attachMulticast(Gid group, int lid) throws VerbsException {
        attach(group, lid);
    }

    @Override
    public void detachMulticast(Gid group, int lid) throws VerbsException {
        detach(group, lid);
    }

    /**
     * Sends a message, which takes up a receive there, if it arrives. In C: {@code IBV_WR_SEND}.
     *
     * @throws IllegalArgumentException if it is longer than {@link #maxMessageBytes()}, or the
     *     address handle is of another domain
     * @throws VerbsException if it cannot be posted
     */
    public Transfer send(MemorySlice local, Destination to)
            throws FabricException, InterruptedIOException {
        return send(List.of(local), to);
    }

    /** Sends a message gathered from pieces. */
    public Transfer send(List<MemorySlice> local, Destination to)
            throws FabricException, InterruptedIOException {
        return send(Operation.SEND, local, to, 0);
    }

    /**
     * Sends a message with 32 bits along, which the receiver finds in its completion. In C: {@code
     * IBV_WR_SEND_WITH_IMM}.
     */
    public Transfer sendWithImmediate(MemorySlice local, Destination to, int immediate)
            throws FabricException, InterruptedIOException {
        return send(Operation.SEND_WITH_IMMEDIATE, List.of(local), to, immediate);
    }

    private Transfer send(
            Operation operation, List<MemorySlice> local, Destination to, int immediate)
            throws FabricException, InterruptedIOException {
        checkDatagram(PreparedRequest.totalLength(local));
        checkDestination(to);
        var address = to.address();
        return post(
                operation,
                local,
                request -> {
                    request.immediate(immediate);
                    request.destination(
                            address.nativeAddress(), to.queuePairNumber(), to.queueKey());
                },
                address.ownLifetime());
    }
}
