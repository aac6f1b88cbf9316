package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.GuardedCalls;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.access.MemoryPackageInternals;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;

/** The operations that polled and asynchronous datagram queue pairs have in common. */
public final class DatagramOperations {

    private final NativeQueuePair queuePair;

    /** Creates the operations of a datagram queue pair. */
    public DatagramOperations(NativeQueuePair queuePair) {
        this.queuePair = queuePair;
    }

    /** Changes the state of the queue pair from RESET to READY_TO_SEND. */
    public void activate(int queueKey) throws VerbsException {
        queuePair.modify(
                QueuePairChange.to(QueuePairState.INIT)
                        .partitionKeyIndex(0)
                        .port(queuePair.port())
                        .queueKey(queueKey));
        queuePair.modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        queuePair.modify(
                QueuePairChange.to(QueuePairState.READY_TO_SEND)
                        .sendSequence(queuePair.sendSequence()));
    }

    public int maxMessageBytes() {
        return queuePair.local().port().activeMtu().bytes();
    }

    /** Checks that a message fits into one packet. */
    public void checkLength(long bytes) {
        if (bytes > maxMessageBytes()) { // A device may drop such a datagram without an error.
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A datagram from port %d of %s can have at most %,d bytes, the MTU of the port, but has %,d",
                            queuePair.port(),
                            queuePair.device().name(),
                            maxMessageBytes(),
                            bytes));
        }
    }

    /**
     * Checks that an address handle belongs to the protection domain of the queue pair, because the
     * device does not find the handles of other domains.
     *
     * @param domain the protection domain of the address handle
     * @param handle the address handle, for the message
     */
    public void checkDomain(DomainHandle domain, Object handle) {
        if (!domain.isSameAs(queuePair.domain())) {
            throw new IllegalArgumentException(
                    "%s belongs to %s, but %s belongs to %s"
                            .formatted(handle, domain, queuePair, queuePair.domain()));
        }
    }

    /**
     * Returns the path to the sender of a received datagram, which is read from the completion and
     * from the header in the receive buffer.
     *
     * @param into the receive buffer of the datagram
     */
    public AddressVector replyAddress(Completion received, MemorySlice into) throws VerbsException {
        var source =
                received.source()
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "%s is not the completion of a received datagram"
                                                .formatted(received)));
        if (into.length() < GlobalRouteHeader.BYTES) {
            throw new IllegalArgumentException(
                    "The memory of a received datagram has at least %d bytes, but this slice has %d"
                            .formatted(GlobalRouteHeader.BYTES, into.length()));
        }
        var region = MemoryPackageInternals.get().registration(into.region());
        var device = queuePair.device();
        return GuardedCalls.call(
                List.of(region.lifetime(), queuePair.lifetime()),
                () ->
                        device.library()
                                .datagrams()
                                .answer(
                                        device.address(),
                                        queuePair.port(),
                                        source,
                                        MemorySegment.ofAddress(region.start() + into.offset()),
                                        CheckedCall.to(
                                                "ibv_init_ah_from_wc",
                                                () ->
                                                        "for %s at %s"
                                                                .formatted(source, queuePair))));
    }

    /** Joins a multicast group. */
    public void attach(Gid group, int lid) throws VerbsException {
        queuePair.run(() -> queuePair.groups().attach(group, lid));
    }

    /** Leaves a multicast group. */
    public void detach(Gid group, int lid) throws VerbsException {
        queuePair.run(() -> queuePair.groups().detach(group, lid));
    }
}
