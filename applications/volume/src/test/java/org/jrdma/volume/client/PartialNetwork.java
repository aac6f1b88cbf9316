package org.jrdma.volume.client;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.protocol.ReplyEncoding;

/** The network of a client, which does not lead to all servers. */
final class PartialNetwork implements ServerConnector {

    private final ServerConnector connector;
    private final Set<String> cut = ConcurrentHashMap.newKeySet();

    PartialNetwork(NodeOptions options) {
        this.connector = new NodeConnector(options);
    }

    /** Cuts the connections to a server, and refuses others. */
    PartialNetwork cut(List<String> addresses) {
        cut.addAll(addresses);
        return this;
    }

    void restore(List<String> addresses) {
        addresses.forEach(cut::remove);
    }

    private void check(List<String> addresses) throws VolumeException {
        if (addresses.stream().anyMatch(cut::contains)) {
            throw new VolumeException("cut on purpose");
        }
    }

    @Override
    public Connection connect(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException {
        check(addresses);
        return new CutConnection(
                addresses, connector.connect(addresses, guarded(addresses, incoming), timeout));
    }

    private UnaryOperator<ByteBuffer> guarded(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming) {
        return request -> {
            try {
                check(addresses);
                return incoming.apply(request);
            } catch (VolumeException e) {
                return ByteBuffer.wrap(ReplyEncoding.failure(e));
            }
        };
    }

    private final class CutConnection extends DelegatingConnection {

        private final List<String> addresses;

        CutConnection(List<String> addresses, Connection connection) {
            super(connection);
            this.addresses = addresses;
        }

        @Override
        public ByteBuffer call(ByteBuffer request, Duration timeout) throws FabricException {
            check(addresses);
            return super.call(request, timeout);
        }

        @Override
        public ByteBuffer send(ByteBuffer request, MemorySegment source, Duration timeout)
                throws FabricException {
            check(addresses);
            return super.send(request, source, timeout);
        }

        @Override
        public ByteBuffer receive(ByteBuffer request, MemorySegment target, Duration timeout)
                throws FabricException {
            check(addresses);
            return super.receive(request, target, timeout);
        }
    }
}
