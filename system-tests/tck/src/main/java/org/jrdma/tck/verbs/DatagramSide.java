package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.function.UnaryOperator;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledDatagramQueuePair;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.VerbsException;

/**
 * A polled datagram queue pair with its own protection domain, completion queue and memory region.
 */
record DatagramSide(
        ProtectionDomain domain,
        CompletionQueue completions,
        CompletionCursor cursor,
        MemoryRegion region,
        PolledDatagramQueuePair queuePair) {

    static final int QUEUE_KEY = 0x1111_1111;
    static final int HEADER = GlobalRouteHeader.BYTES;

    /** Creates a side whose queue pair can send and receive. */
    static DatagramSide active(Device device) throws VerbsException {
        return active(device, options -> options);
    }

    static DatagramSide active(
            Device device, UnaryOperator<QueuePairOptions<PolledDatagramQueuePair>> change)
            throws VerbsException {
        Fabric.underTest().needs(Feature.DATAGRAMS);
        Fabric.underTest().needs(Feature.MOVING_DATA);
        var side = inReset(device, change);
        side.queuePair.activate(QUEUE_KEY);
        return side;
    }

    static DatagramSide inReset(
            Device device, UnaryOperator<QueuePairOptions<PolledDatagramQueuePair>> change)
            throws VerbsException {
        Fabric.underTest().needs(Feature.DATAGRAMS);
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionQueue(CompletionQueueOptions.capacity(64));
        return new DatagramSide(
                domain,
                completions,
                completions.newCursor(16),
                domain.newArena(Access.LOCAL_WRITE).region(Pair.REGION_BYTES),
                domain.newQueuePair(
                        change.apply(
                                QueuePairOptions.datagrams(completions).sends(16).receives(16))));
    }

    /** Creates an address handle for another side, and returns a destination with its queue key. */
    Destination to(DatagramSide other) throws VerbsException {
        return new Destination(
                domain.newAddressHandle(queuePair.addressOf(other.queuePair.endpoint())),
                other.queuePair.number(),
                QUEUE_KEY);
    }

    /**
     * Returns a slice of the region for a global route header and a message.
     *
     * @param place the number of the slice; slices are 8,192 bytes apart
     */
    MemorySlice place(int place, int messageBytes) {
        return region.slice(place * 8192L, HEADER + messageBytes);
    }

    /** Returns the message in a slice, without the header. */
    MemorySegment message(int place, int messageBytes) {
        return place(place, messageBytes).segment().asSlice(HEADER);
    }

    void receive(int place, int messageBytes) throws VerbsException {
        post(queuePair.prepareReceive(place(place, messageBytes)).id(place));
    }

    void post(PreparedRequest<?> request) throws VerbsException {
        assertThat(request.tryPost()).as("posted").isTrue();
    }

    Completion complete(PreparedRequest<?> request) throws VerbsException {
        post(request);
        return next();
    }

    Completion next() {
        return Side.take(cursor, 1).getFirst().completion();
    }
}
