package org.jrdma.volume.net;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.jrdma.verbs.cm.ConnectionRequest;
import org.jrdma.verbs.cm.Listener;

/** Accepts connections over the RDMA devices of this machine. */
final class VerbsWireListener implements WireListener {

    private final NodeOptions options;

    /** A device of the software fabric has an address only while it is open. */
    private final List<Device> devices = new ArrayList<>();

    private final Listener listener;

    VerbsWireListener(NodeOptions options) throws FabricException {
        this.options = options;
        var verbs = Verbs.configured();
        try {
            for (var device : verbs.devices()) {
                devices.add(verbs.open(device.name()));
            }
            if (devices.isEmpty()) {
                throw new FabricException("This machine has no RDMA device.");
            }
            this.listener = ConnectionManager.configured().listen(options.verbsAddress);
        } catch (FabricException | RuntimeException e) {
            devices.forEach(Device::close);
            throw e;
        }
    }

    @Override
    public TransportKind transport() {
        return TransportKind.VERBS;
    }

    @Override
    public List<String> addresses() {
        return listener.localAddresses().stream()
                .map(address -> HostAndPort.of(address).toString(transport()))
                .toList();
    }

    @Override
    public WireRequest next() throws IOException {
        return new QueuePairRequest(listener.next(Deadline.NEVER.duration()), options);
    }

    private record QueuePairRequest(ConnectionRequest request, NodeOptions options)
            implements WireRequest {

        @Override
        public Wire accept(Deadline deadline) throws IOException {
            try (request) {
                return VerbsWire.open(
                        request.deviceName(),
                        request.devicePort(),
                        Optional.of(request),
                        options,
                        (domain, chosen) ->
                                request.accept(domain, chosen, VerbsWire.remaining(deadline)));
            }
        }

        @Override
        public void reject() {
            request.close();
        }
    }

    @Override
    public void close() {
        listener.close();
        devices.forEach(Device::close);
    }
}
