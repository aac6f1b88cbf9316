package org.jrdma.verbs.queue;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.handle.DomainHandle;
import org.jrdma.verbs.handle.HeldCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.memory.access.MemoryAccess;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;

/** What datagram queue pairs of both tiers can do. */
public final class DatagramOperations {

    private final NativeQueuePair queuePair;

    /** For a datagram queue pair. */
    public DatagramOperations(NativeQueuePair queuePair) {
        this.queuePair = queuePair;
    }

    /** Brings the queue pair from RESET to READY_TO_SEND. */
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

    /** Refuses a message that does not fit into a packet. */
    public void checkLength(long bytes) {
        if (bytes > maxMessageBytes()) { // the specification lets it vanish without an error
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A datagram from port %d of %s has %,d bytes at most, which is the port's MTU, not %,d",
                            queuePair.port(),
                            queuePair.device().name(),
                            maxMessageBytes(),
                            bytes));
        }
    }

    /**
     * Refuses an address handle of another domain, which a device could not look up.
     *
     * @param handle the address handle, for the message
     */
    public void checkDomain(DomainHandle domain, Object handle) {
        if (!domain.isSameAs(queuePair.domain())) {
            throw new IllegalArgumentException(
                    "%s is of %s, and %s of %s"
                            .formatted(handle, domain, queuePair, queuePair.domain()));
        }
    }

    /** The path back to the source of a datagram, which the library reads from its header. */
    public AddressVector answer(Completion received, MemorySlice into) throws VerbsException {
        var source =
                received.source()
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "%s is not of a datagram received".formatted(received)));
        if (into.length() < GlobalRouteHeader.BYTES) {
            throw new IllegalArgumentException(
                    "A datagram is received into %d bytes at least, not %d"
                            .formatted(GlobalRouteHeader.BYTES, into.length()));
        }
        var region = MemoryAccess.get().registration(into.region());
        var device = queuePair.device();
        return HeldCalls.call(
                List.of(region.lifetime(), queuePair.lifetime()),
                () ->
                        device.library()
                                .datagrams()
                                .answer(
                                        device.address(),
                                        queuePair.port(),
                                        source,
                                        MemorySegment.ofAddress(region.start() + into.offset()),
                                        Attempt.to(
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
