package org.jrdma.verbs;

import java.util.List;
import org.jrdma.verbs.internal.WorkRequest;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of datagrams whose user prepares requests, posts them, and polls a {@link
 * CompletionQueue}: nothing is allocated, locked or waited for.
 *
 * <p>Requests to send are prepared and posted by one thread, the first to prepare one; receives by
 * one thread, likewise. They may be two, and neither need be the one that polls.
 */
public final class PolledDatagramQueuePair extends PolledTwoWayEnd implements DatagramQueuePair {

    /** The way to itself, for the marker of {@code drain}; closed with this. */
    private AddressHandle.@Nullable Made own;

    PolledDatagramQueuePair(
            ProtectionDomain domain,
            CompletionQueue ofSends,
            CompletionQueue ofReceives,
            QueuePairOptions<PolledDatagramQueuePair> options)
            throws VerbsException {
        super(domain, ofSends, ofReceives, options);
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
        return new PreparedDatagram(this, local, to);
    }

    @Override
    void direct(WorkRequest.Send marker) throws VerbsException {
        if (own == null) {
            own =
                    AddressHandle.make(
                            domain(),
                            addressOf(endpoint()),
                            List.of(ownLifetime())); // else the domain could close it meanwhile
        }
        marker.destination(own.address().address(), number(), 0);
    }
}
