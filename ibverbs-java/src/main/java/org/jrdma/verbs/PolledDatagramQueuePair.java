package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.handle.NativeResource;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.DatagramOperations;
import org.jspecify.annotations.Nullable;

/**
 * A datagram queue pair for prepared requests and a polled {@link CompletionQueue}. Posting and
 * polling do not allocate, lock or wait.
 *
 * <p>Requests of the send queue must be prepared and posted by one thread: the first one that
 * prepares such a request. Likewise, one thread must prepare and post receives. The two threads may
 * differ from each other and from the polling thread.
 */
public final class PolledDatagramQueuePair extends AbstractPolledQueuePair
        implements DatagramQueuePair {

    /**
     * The path to this queue pair's own port, which is the destination of the marker that {@code
     * drain} posts; null before the first drain.
     */
    private @Nullable NativeResource ownAddress;

    private final DatagramOperations datagrams;

    PolledDatagramQueuePair(Parameters parameters) throws VerbsException {
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
     * Prepares a send of one message.
     *
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}, or
     *     the address handle belongs to another protection domain
     */
    public PreparedDatagram prepareSend(MemorySlice local, Destination to) {
        return prepareSend(List.of(local), to);
    }

    /**
     * Prepares a send of one message, which is gathered from several slices.
     *
     * @throws IllegalArgumentException if the message is longer than {@link #maxMessageBytes()}, or
     *     the address handle belongs to another protection domain
     */
    public PreparedDatagram prepareSend(List<MemorySlice> local, Destination to) {
        return new PreparedDatagram(sends(), datagrams, local, to);
    }

    @Override
    void addressMarker(WorkRequest.Send marker) throws VerbsException {
        if (ownAddress == null) {
            // The handle is owned by the queue pair. If the protection domain owned it, closing the
            // domain could close the handle while drain() uses it.
            ownAddress =
                    AddressHandle.make(domainHandle(), addressOf(endpoint()), List.of(lifetime()));
        }
        marker.destination(ownAddress.address().address(), number(), 0);
    }
}
