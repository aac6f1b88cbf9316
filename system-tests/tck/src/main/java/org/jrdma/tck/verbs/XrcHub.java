package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.CompletionQueueOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.XrcDomain;
import org.jrdma.verbs.XrcReceiveQueuePair;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.VerbsException;

/**
 * An XRC domain with receiving queue pairs. Each of them is connected to its own sending queue
 * pair. Closing the hub closes the device.
 */
final class XrcHub implements AutoCloseable {

    static final int RECEIVES = 16;
    static final int PLACE_BYTES = 4096;
    private static final int PLACES = 32;

    private final Device device;
    private final XrcDomain xrcDomain;
    private final ProtectionDomain sendersDomain;
    private final CompletionQueue sent;
    private final CompletionCursor sentCursor;
    private final MemoryRegion outgoing;
    private final List<PolledQueuePair> senders = new ArrayList<>();
    private final List<XrcReceiveQueuePair> receivers = new ArrayList<>();

    /** A shared receive queue of an XRC domain, with its own memory and completion queue. */
    record Inbox(
            ProtectionDomain domain,
            CompletionQueue completions,
            CompletionCursor cursor,
            MemoryRegion memory,
            PolledSharedReceiveQueue queue) {

        static Inbox in(
                Device device, XrcDomain xrcDomain, UnaryOperator<CompletionQueueOptions> change)
                throws VerbsException {
            var domain = device.newProtectionDomain();
            var completions =
                    device.newCompletionQueue(
                            change.apply(CompletionQueueOptions.capacity(4 * RECEIVES)));
            return new Inbox(
                    domain,
                    completions,
                    completions.newCursor(16),
                    domain.newArena(Pair.ALL).region(PLACES * PLACE_BYTES),
                    domain.newXrcSharedReceiveQueue(
                            xrcDomain, completions, SharedReceiveQueueOptions.capacity(RECEIVES)));
        }

        int number() {
            return queue.number();
        }

        MemorySlice place(int place, long bytes) {
            return memory.slice((long) place * PLACE_BYTES, bytes);
        }

        /**
         * Posts a receive into a slot of the memory. The ID of the receive is the index of the
         * slot.
         */
        void receive(int place) throws VerbsException {
            assertThat(queue.prepareReceive(place(place, PLACE_BYTES)).id(place).tryPost())
                    .isTrue();
        }

        /** Waits for the next received messages, and returns their completions. */
        List<Side.Numbered> arrived(int count) {
            return Side.take(cursor, count);
        }

        byte[] bytes(int place, int bytes) {
            return place(place, bytes).segment().toArray(ValueLayout.JAVA_BYTE);
        }
    }

    private XrcHub(Device device, XrcDomain xrcDomain) throws VerbsException {
        this.device = device;
        this.xrcDomain = xrcDomain;
        sendersDomain = device.newProtectionDomain();
        sent = device.newCompletionQueue(256);
        sentCursor = sent.newCursor(16);
        outgoing = sendersDomain.newArena(Pair.ALL).region(PLACES * PLACE_BYTES);
    }

    static XrcHub of(int connections) throws VerbsException {
        return of(connections, options -> options);
    }

    static XrcHub of(int connections, UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws VerbsException {
        var fabric = Fabric.underTest();
        fabric.needs(Feature.XRC);
        fabric.needs(Feature.MOVING_DATA);
        var device = fabric.open();
        var hub = new XrcHub(device, device.newXrcDomain());
        for (var i = 0; i < connections; i++) {
            hub.connect(change);
        }
        return hub;
    }

    private void connect(UnaryOperator<QueuePairOptions<PolledQueuePair>> change)
            throws VerbsException {
        var sender =
                sendersDomain.newQueuePair(
                        change.apply(QueuePairOptions.xrcSend(sent).sends(RECEIVES)));
        var receiver = xrcDomain.newReceiveQueuePair();
        receiver.connect(sender.endpoint());
        sender.connect(receiver.endpoint());
        senders.add(sender);
        receivers.add(receiver);
    }

    Inbox newInbox() throws VerbsException {
        return Inbox.in(device, xrcDomain, options -> options);
    }

    Device device() {
        return device;
    }

    XrcDomain xrcDomain() {
        return xrcDomain;
    }

    ProtectionDomain sendersDomain() {
        return sendersDomain;
    }

    CompletionQueue sentQueue() {
        return sent;
    }

    CompletionCursor sentCursor() {
        return sentCursor;
    }

    PolledQueuePair sender(int connection) {
        return senders.get(connection);
    }

    XrcReceiveQueuePair receiver(int connection) {
        return receivers.get(connection);
    }

    /** Returns a slot for sent messages. */
    MemorySlice out(int place, long bytes) {
        return outgoing.slice((long) place * PLACE_BYTES, bytes);
    }

    /** Returns a slot for sent messages, and fills it with one repeated byte. */
    MemorySlice out(int place, int bytes, int value) {
        var slice = out(place, bytes);
        slice.segment().fill((byte) value);
        return slice;
    }

    void post(PreparedRequest<?> request) throws VerbsException {
        assertThat(request.tryPost()).as("posted").isTrue();
    }

    /** Waits for the next send requests to complete, and returns their completions. */
    List<Side.Numbered> sent(int count) {
        return Side.take(sentCursor, count);
    }

    @Override
    public void close() {
        device.close();
    }
}
