package org.jrdma.volume.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sisci.InterruptOptions;
import org.jrdma.sisci.LocalDataInterrupt;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SisciException;

/** Accepts connections over SISCI. A data interrupt receives the requests. */
final class SisciWireListener implements WireListener {

    private final NodeOptions options;
    private final Node node;
    private final LocalDataInterrupt requests;

    SisciWireListener(NodeOptions options) throws FabricException {
        this.options = options;
        this.node = Sisci.configured().open();
        try {
            this.requests =
                    node.newDataInterrupt(
                            options.sisciNumber == 0
                                    ? InterruptOptions.ANY
                                    : InterruptOptions.number(options.sisciNumber));
        } catch (SisciException | RuntimeException e) {
            node.close();
            throw e;
        }
    }

    @Override
    public TransportKind transport() {
        return TransportKind.SISCI;
    }

    @Override
    public List<String> addresses() {
        return List.of("%s:%d:%d".formatted(transport(), node.id(), requests.number()));
    }

    @Override
    public WireRequest next() throws IOException {
        var request = ByteBuffer.wrap(requests.receive(Deadline.NEVER.duration()));
        return new EndpointRequest(request, options);
    }

    private record EndpointRequest(ByteBuffer request, NodeOptions options) implements WireRequest {

        @Override
        public Wire accept(Deadline deadline) throws IOException {
            return SisciWire.accept(SisciEndpoint.decode(request), options, deadline);
        }

        @Override
        public void reject() {
            // the peer's attempt times out
        }
    }

    @Override
    public void close() {
        requests.close();
        node.close();
    }
}
