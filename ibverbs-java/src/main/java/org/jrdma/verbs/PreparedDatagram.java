package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.queue.DatagramOperations;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;

/**
 * A message to a destination of its own, which takes up a receive there, if it arrives. In C:
 * {@code IBV_WR_SEND}, {@code IBV_WR_SEND_WITH_IMM}, with {@code wr.ud}; {@code
 * ibv_wr_set_ud_addr}.
 */
public final class PreparedDatagram extends PreparedSendRequest<PreparedDatagram> {

    private final DatagramOperations datagrams;
    private Destination destination;

    PreparedDatagram(
            PolledPost<PolledWorkQueue> post,
            DatagramOperations datagrams,
            List<MemorySlice> pieces,
            Destination destination) {
        super(post, Operation.SEND);
        this.datagrams = datagrams;
        this.destination = destination;
        local(pieces);
        to(destination);
    }

    /**
     * Goes to another destination. Allocates nothing.
     *
     * @throws IllegalArgumentException if the address handle is of another domain
     */
    public PreparedDatagram to(Destination other) {
        checkThread();
        var address = other.address();
        datagrams.checkDomain(address.domainHandle(), address);
        destination = other;
        used(0, address.ownLifetime());
        request().destination(address.nativeAddress(), other.queuePairNumber(), other.queueKey());
        return this;
    }

    /** Sends 32 bits along, which the receiver finds in its completion. */
    public PreparedDatagram immediate(int data) {
        return immediate(Operation.SEND_WITH_IMMEDIATE, data);
    }

    /**
     * Whether it wakes a receiver that waits for solicited messages only. In C: {@code
     * IBV_SEND_SOLICITED}.
     */
    public PreparedDatagram solicited(boolean wanted) {
        return flag(Send.SOLICITED, wanted);
    }

    /**
     * Whether the data is copied during the post, so that its memory is free at once. In C: {@code
     * IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if it is more than {@link QueuePair#inlineBytes()}
     */
    public PreparedDatagram inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    Stream<Lifetime> usedBeside() {
        return Stream.of(destination.address().ownLifetime());
    }

    @Override
    void checkLength(long bytes) {
        super.checkLength(bytes);
        datagrams.checkLength(bytes);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "SEND of %,d bytes to %s", length(), destination);
    }
}
