package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.jrdma.ffi.Lifetime;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.queue.DatagramOperations;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/**
 * A prepared send of a datagram. A datagram that arrives consumes a receive request of its
 * destination. In C: {@code IBV_WR_SEND}, {@code IBV_WR_SEND_WITH_IMM}, with {@code wr.ud}; {@code
 * ibv_wr_set_ud_addr}.
 */
public final class PreparedDatagram extends PreparedSendRequest<PreparedDatagram> {

    private final DatagramOperations datagrams;
    private Destination destination;

    PreparedDatagram(
            PostTarget<PolledWorkQueueSlots> post,
            DatagramOperations datagrams,
            List<MemorySlice> slices,
            Destination destination) {
        super(post, Operation.SEND);
        this.datagrams = datagrams;
        this.destination = destination;
        local(slices);
        to(destination);
    }

    /**
     * Selects the destination of the next posts. Does not allocate.
     *
     * @throws IllegalArgumentException if the address handle belongs to another protection domain
     */
    public PreparedDatagram to(Destination newDestination) {
        checkThread();
        var address = newDestination.address();
        datagrams.checkDomain(address.domainHandle(), address);
        destination = newDestination;
        used(0, address.ownLifetime());
        request()
                .destination(
                        address.nativeAddress(),
                        newDestination.queuePairNumber(),
                        newDestination.queueKey());
        return this;
    }

    /** Adds 32 bits of immediate data, which the completion at the receiver contains. */
    public PreparedDatagram immediate(int data) {
        return immediate(Operation.SEND_WITH_IMMEDIATE, data);
    }

    /**
     * Selects whether the message wakes up a receiver that waits only for solicited messages. In C:
     * {@code IBV_SEND_SOLICITED}.
     */
    public PreparedDatagram solicited(boolean wanted) {
        return flag(Send.SOLICITED, wanted);
    }

    /**
     * Selects whether the post copies the data, so that its memory can be reused immediately. In C:
     * {@code IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if the data is longer than {@link QueuePair#inlineBytes()}
     */
    public PreparedDatagram inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    Stream<Lifetime> additionalLifetimes() {
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
