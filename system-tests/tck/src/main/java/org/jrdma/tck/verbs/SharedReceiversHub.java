package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.CompletionCursor;
import org.jrdma.verbs.CompletionQueue;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PolledSharedReceiveQueue;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.SharedReceiveQueueOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.VerbsException;

/**
 * Receiving queue pairs that share one receive queue. Each of them is connected to its own sending
 * queue pair. Closing the hub closes the device.
 */
final class SharedReceiversHub implements AutoCloseable {

    static final int RECEIVES = 16;

    /** The distance in bytes between the slots for messages. */
    private static final int PLACE_BYTES = 4096;

    private static final int PLACES = 64;

    private final Device device;
    private final ProtectionDomain domain;
    private final CompletionQueue completions;
    private final CompletionCursor cursor;
    private final MemoryRegion incoming;
    private final PolledSharedReceiveQueue shared;
    private final ProtectionDomain sendersDomain;
    private final CompletionQueue sent;
    private final CompletionCursor sentCursor;
    private final MemoryRegion outgoing;
    private final List<PolledQueuePair> senders = new ArrayList<>();
    private final List<PolledQueuePair> receivers = new ArrayList<>();

    private SharedReceiversHub(Device device, int receives, int elements) throws VerbsException {
        this.device = device;
        domain = device.newProtectionDomain();
        completions = device.newCompletionQueue(256);
        cursor = completions.newCursor(16);
        incoming = domain.newArena(Pair.ALL).region(PLACES * PLACE_BYTES);
        shared =
                domain.newPolledSharedReceiveQueue(
                        SharedReceiveQueueOptions.capacity(receives).elements(elements));
        sendersDomain = device.newProtectionDomain();
        sent = device.newCompletionQueue(256);
        sentCursor = sent.newCursor(16);
        outgoing = sendersDomain.newArena(Pair.ALL).region(PLACES * PLACE_BYTES);
    }

    /** Creates a hub with a number of reliable connections. */
    static SharedReceiversHub of(int connections) throws VerbsException {
        return of(connections, RECEIVES, 1, DirectConnectOptions.DEFAULT);
    }

    static SharedReceiversHub of(
            int connections, int receives, int elements, DirectConnectOptions options)
            throws VerbsException {
        var fabric = Fabric.underTest();
        fabric.needs(Feature.SHARED_RECEIVE_QUEUES);
        if (connections > 0) {
            fabric.needs(Feature.MOVING_DATA);
            fabric.needs(Feature.CONNECTING_BY_MODIFY);
        }
        var hub = new SharedReceiversHub(fabric.open(), receives, elements);
        for (var i = 0; i < connections; i++) {
            hub.connect(
                    QueuePairOptions.reliable(hub.sent),
                    QueuePairOptions.reliable(hub.completions),
                    options);
        }
        return hub;
    }

    /** Creates a sender and a receiver, and connects them. */
    void connect(
            QueuePairOptions<PolledQueuePair> sender,
            QueuePairOptions<PolledQueuePair> receiver,
            DirectConnectOptions options)
            throws VerbsException {
        var here = sendersDomain.newQueuePair(sender.sends(RECEIVES).receives(1));
        var there = domain.newQueuePair(receiver.sends(1).sharedReceives(shared));
        here.connect(there.endpoint(), options);
        there.connect(here.endpoint(), options);
        senders.add(here);
        receivers.add(there);
    }

    Device device() {
        return device;
    }

    ProtectionDomain domain() {
        return domain;
    }

    PolledSharedReceiveQueue shared() {
        return shared;
    }

    CompletionQueue completions() {
        return completions;
    }

    CompletionCursor cursor() {
        return cursor;
    }

    /** Returns the completion queue of the senders. */
    CompletionQueue sentQueue() {
        return sent;
    }

    /** Returns the queue pair that sends to the {@link #receiver} with the same index. */
    PolledQueuePair sender(int connection) {
        return senders.get(connection);
    }

    PolledQueuePair receiver(int connection) {
        return receivers.get(connection);
    }

    /** Returns a slot for received messages. */
    MemorySlice in(int place, long bytes) {
        return incoming.slice((long) place * PLACE_BYTES, bytes);
    }

    /** Returns a slot for sent messages. */
    MemorySlice out(int place, long bytes) {
        return outgoing.slice((long) place * PLACE_BYTES, bytes);
    }

    MemoryRegion incoming() {
        return incoming;
    }

    MemoryRegion outgoing() {
        return outgoing;
    }

    /** Returns the index of the connection whose receiver has the queue pair number. */
    int connectionOf(int number) {
        for (var connection = 0; connection < receivers.size(); connection++) {
            if (receivers.get(connection).number() == number) {
                return connection;
            }
        }
        throw new AssertionError("No receiver has the queue pair number " + number);
    }

    /** Prepares a receive into a slot. The ID of the receive is the index of the slot. */
    PreparedReceive prepareReceive(int place) {
        return shared.prepareReceive(in(place, PLACE_BYTES)).id(place);
    }

    /** Posts a receive into each of the first {@code count} slots. */
    void receive(int count) throws VerbsException {
        for (var place = 0; place < count; place++) {
            post(prepareReceive(place));
        }
    }

    void post(PreparedRequest<?> request) throws VerbsException {
        assertThat(request.tryPost()).as("posted").isTrue();
    }

    /** Returns the first bytes of a slot. */
    byte[] received(int place, int bytes) {
        return in(place, bytes).segment().toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * Posts a message of one repeated byte, and does not wait for its completion.
     *
     * @param value the byte, and the ID of the request
     */
    void send(int connection, int bytes, int value) throws VerbsException {
        var slice = out(value % PLACES, bytes);
        slice.segment().fill((byte) value);
        post(senders.get(connection).prepareSend(slice).id(value));
    }

    /** Waits for the next received messages, and returns their completions. */
    List<Side.Numbered> arrived(int count) {
        return Side.take(cursor, count);
    }

    /** Waits for the next sent messages, and returns their completions. */
    List<Side.Numbered> sent(int count) {
        return Side.take(sentCursor, count);
    }

    @Override
    public void close() {
        device.close();
    }
}
