package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.metadata.Decoder;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.Operation;
import org.jrdma.volume.protocol.ReplyEncoding;
import org.jrdma.volume.protocol.RequestHeader;

/** Records the requests of a client, and refuses some of them on demand. */
class RecordingConnector implements ServerConnector {

    private final ServerConnector connector;
    private final Set<Operation> refused = ConcurrentHashMap.newKeySet();
    private final Queue<Operation> requests = new ConcurrentLinkedQueue<>();

    RecordingConnector(ServerConnector connector) {
        this.connector = connector;
    }

    /** Answers requests of this kind with a failure. */
    void refuse(Operation operation) {
        refused.add(operation);
    }

    void accept(Operation operation) {
        refused.remove(operation);
    }

    /** Returns the requests in their order, with those that were refused. */
    List<Operation> requests() {
        return List.copyOf(requests);
    }

    long count(Operation operation) {
        return requests.stream().filter(operation::equals).count();
    }

    /** Runs before a request is sent. */
    void sending(Operation operation) throws FabricException {
        // for tests
    }

    /** Runs after the reply to a request, which the client does not have yet. */
    void replied(Operation operation) throws FabricException {
        // for tests
    }

    @FunctionalInterface
    private interface Exchange {
        ByteBuffer run() throws FabricException;
    }

    private ByteBuffer exchange(ByteBuffer request, Exchange exchange) throws FabricException {
        var operation = RequestHeader.decode(new Decoder(request.duplicate())).operation();
        requests.add(operation);
        sending(operation);
        if (refused.contains(operation)) {
            return ByteBuffer.wrap(
                    ReplyEncoding.failure(
                            new VolumeException("%s fails on purpose".formatted(operation))));
        }
        var reply = exchange.run();
        replied(operation);
        return reply;
    }

    @Override
    public Connection connect(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException {
        return new DelegatingConnection(connector.connect(addresses, incoming, timeout)) {
            @Override
            public ByteBuffer call(ByteBuffer request, Duration limit) throws FabricException {
                return exchange(request, () -> super.call(request, limit));
            }

            @Override
            public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration limit)
                    throws FabricException {
                return exchange(request, () -> super.send(request, source, limit));
            }
        };
    }
}
