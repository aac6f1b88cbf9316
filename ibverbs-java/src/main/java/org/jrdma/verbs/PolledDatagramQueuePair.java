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
 * A queue pair of datagrams whose user prepares requests, posts them, and polls a {@link
 * CompletionQueue}: nothing is allocated, locked or waited for.
 *
 * <p>Requests to send are prepared and posted by one thread, the first to prepare one; receives by
 * one thread, likewise. They may be two, and neither need be the one that polls.
 */
public final class PolledDatagramQueuePair extends PolledEnd implements DatagramQueuePair {

    /** The path to itself, for the marker of {@code drain}; closed with this. */
    private @Nullable NativeResource own;

    private final DatagramOperations datagrams;

    PolledDatagramQueuePair(Making making) throws VerbsException {
        super(making);
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
        return address("ibv_create_ah", gid, lid, new ConnectOptions());
    }

    @Override
    public AddressVector addressOf(Completion received, MemorySlice into) throws VerbsException {
        return datagrams.answer(received, into);
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
     * A message.
     *
     * @throws IllegalArgumentException if it is longer than {@link #maxMessageBytes()}, or the
     *     address handle is of another domain
     */
    public PreparedDatagram prepareSend(MemorySlice local, Destination to) {
        return prepareSend(List.of(local), to);
    }

    /**
     * A message gathered from pieces.
     *
     * @throws IllegalArgumentException if they are longer than {@link #maxMessageBytes()}, or the
     *     address handle is of another domain
     */
    public PreparedDatagram prepareSend(List<MemorySlice> local, Destination to) {
        return new PreparedDatagram(sends(), datagrams, local, to);
    }

    @Override
    void direct(WorkRequest.Send marker) throws VerbsException {
        if (own == null) {
            own =
                    AddressHandle.make(
                            domainHandle(),
                            addressOf(endpoint()),
                            List.of(lifetime())); // or the domain could close it meanwhile
        }
        marker.destination(own.address().address(), number(), 0);
    }
}
