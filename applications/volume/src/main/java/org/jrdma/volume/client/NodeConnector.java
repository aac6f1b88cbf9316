package org.jrdma.volume.client;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.BulkData;
import org.jrdma.volume.net.NodeBuffer;
import org.jrdma.volume.net.NodeConnection;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.SkippedTransport;
import org.jrdma.volume.protocol.PeerConnection;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Connects over the transports of a node. */
public final class NodeConnector implements ServerConnector {

    private static final Logger LOG = LoggerFactory.getLogger(NodeConnector.class);

    /** Each request of a client for a lease or lock occupies a call while it waits. */
    private static final int CALLS = 256;

    private static final int MAX_TRANSFER_BYTES = 1 << 20;

    private final NodeOptions options;

    /** Creates a connector. */
    public NodeConnector(NodeOptions options) {
        this.options = withCalls(options);
    }

    /** Returns options with the number of calls that clients and servers need. */
    public static NodeOptions withCalls(NodeOptions options) {
        return options.calls(CALLS);
    }

    private record Link(NodeConnection connection) implements PeerConnection {
        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
            return NodeConnector.call(connection, request, timeout);
        }
    }

    /** Returns a link that makes calls over a connection. Links of one connection are equal. */
    public static PeerConnection link(NodeConnection connection) {
        return new Link(connection);
    }

    private static ByteBuffer call(NodeConnection connection, ByteBuffer request, Duration timeout)
            throws FabricException {
        try {
            return connection.call(request, Deadline.after(timeout));
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private static FabricException failure(IOException e) {
        return e instanceof FabricException known
                ? known
                : new VolumeException(String.valueOf(e.getMessage()), e);
    }

    @Override
    public Connection connect(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException {
        try {
            var connection =
                    NodeConnection.connect(
                            addresses,
                            options,
                            request -> incoming.apply(request.message()),
                            Deadline.after(timeout));
            for (var attempt : connection.attempts()) {
                LOG.info("Connected over {}, because {}", connection.transport(), attempt);
            }
            return new NodeLinkConnection(connection, addresses);
        } catch (IOException e) {
            throw failure(e);
        }
    }

    private static final class NodeLinkConnection implements Connection {

        private final NodeConnection connection;
        private final List<String> addresses;
        private final int bufferBytes;
        private final Queue<NodeBuffer> unused = new ConcurrentLinkedQueue<>();

        NodeLinkConnection(NodeConnection connection, List<String> addresses) {
            this.connection = connection;
            this.addresses = addresses;
            this.bufferBytes = Math.min(MAX_TRANSFER_BYTES, connection.maxBulkBytes());
        }

        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
            return NodeConnector.call(connection, request, timeout);
        }

        @Override
        public String transport() {
            return connection.transport().toString();
        }

        @Override
        public ConnectionDescription state() {
            return new ConnectionDescription(
                    addresses,
                    transport(),
                    connection.toString(),
                    connection.attempts().stream().map(SkippedTransport::toString).toList());
        }

        @Override
        public int maxTransferBytes() {
            return bufferBytes;
        }

        @Override
        public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration timeout)
                throws FabricException {
            return withBuffer(buffer -> {
                MemorySegment.copy(source, 0, buffer.memory(), 0, source.byteSize());
                return call(request, buffer.toPeer(0, (int) source.byteSize()), timeout);
            });
        }

        @Override
        public ByteBuffer receive(ByteBuffer request, MemorySegment target, Duration timeout)
                throws FabricException {
            return withBuffer(buffer -> {
                var reply = call(request, buffer.fromPeer(0, (int) target.byteSize()), timeout);
                MemorySegment.copy(buffer.memory(), 0, target, 0, target.byteSize());
                return reply;
            });
        }

        private ByteBuffer call(ByteBuffer request, BulkData bulk, Duration timeout)
                throws IOException {
            return connection.call(request, bulk, Deadline.after(timeout));
        }

        @FunctionalInterface
        private interface Exchange {
            ByteBuffer run(NodeBuffer buffer) throws IOException;
        }

        private ByteBuffer withBuffer(Exchange exchange) throws FabricException {
            var buffer = unused.poll();
            if (buffer == null) {
                buffer = connection.newBuffer(bufferBytes);
            }
            var isReusable = false;
            try {
                var reply = exchange.run(buffer);
                isReusable = true;
                return reply;
            } catch (IOException e) {
                throw failure(e);
            } catch (IllegalStateException e) { // the end of the connection has freed the buffer
                var end = connection.end();
                if (end.isPresent()) {
                    throw new VolumeException(end.get().getMessage(), e);
                }
                throw e;
            } finally {
                if (isReusable) {
                    unused.add(buffer);
                } else {
                    buffer.close(); // the peer may still access it
                }
            }
        }

        @Override
        public void close() {
            connection.close();
        }
    }
}
