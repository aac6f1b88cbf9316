package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.soft.roce.connection.Connection;
import org.jrdma.soft.roce.connection.ConnectionEvent;
import org.jrdma.soft.roce.connection.PrivateDataHeader;
import org.jrdma.soft.roce.connection.ServiceListener;
import org.jrdma.soft.roce.connection.SidrServer;
import org.jspecify.annotations.Nullable;

/** A listening {@code rdma_cm_id} on one or more devices, which share one backlog. */
final class Listener {

    private static final int MAX_BACKLOG = 1_024;

    private final IdentifierObject listener;
    private final IdentifierEvents events;
    private final long serviceId;
    private final List<ConnectionDevice> devices;

    /** The number of connect requests that the backlog can still take. */
    private final AtomicInteger freeSlots;

    /**
     * Creates a listener and starts to listen.
     *
     * @param devices the devices to listen on, each of which already counts this listener as a user
     */
    Listener(
            IdentifierObject listener,
            long serviceId,
            int backlog,
            List<ConnectionDevice> devices) {
        this.listener = listener;
        this.events = listener.events();
        this.serviceId = serviceId;
        this.devices = devices;
        this.freeSlots =
                new AtomicInteger(backlog > 0 && backlog < MAX_BACKLOG ? backlog : MAX_BACKLOG);
        for (var device : devices) {
            device.run(manager -> manager.listen(serviceId, new DeviceListener(device)));
        }
    }

    /** Frees a slot of the backlog. Called when the program has received a connect request. */
    void requestTaken() {
        freeSlots.incrementAndGet();
    }

    void stop() {
        for (var device : devices) {
            device.run(manager -> manager.stopListening(serviceId));
        }
    }

    List<ConnectionDevice> devices() {
        return devices;
    }

    private final class DeviceListener implements ServiceListener {

        private final ConnectionDevice device;

        DeviceListener(ConnectionDevice device) {
            this.device = device;
        }

        @Override
        public int transport() {
            return listener.type().canAccept() ? listener.type().transport() : -1;
        }

        @Override
        public ConnectionEvent.@Nullable Receiver requested(
                Connection connection, PrivateDataHeader header, MemorySegment data) {
            if (listener.type().isDatagram()) {
                return null;
            }
            var request = connection.request();
            var path = request.path();
            var incoming = listener.incoming(device, header, path.mtu());
            incoming.options().trafficClass = path.trafficClass();
            incoming.options().flowLabel = path.flowLabel();
            incoming.exchange(new ConnectionExchange(device, connection, incoming.options()));
            var receiver = ConnectionExchange.reportingTo(incoming.events());
            return report(
                            incoming,
                            parameters -> ConnectionParameterCodec.write(request, parameters),
                            data)
                    ? receiver
                    : null;
        }

        @Override
        public boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data) {
            if (!listener.type().isDatagram()) {
                return false;
            }
            var incoming = listener.incoming(device, header, device.mtu());
            incoming.exchange(new SidrServerExchange(device, server));
            return report(incoming, IdentifierEvents::withoutParameters, data);
        }

        private boolean report(
                IdentifierObject incoming, Consumer<MemorySegment> parameters, MemorySegment data) {
            if (freeSlots.getAndUpdate(left -> Math.max(0, left - 1)) == 0) {
                return false;
            }
            var reported = false;
            try {
                reported =
                        events.report(
                                incoming.events(),
                                new PendingEvent(
                                        incoming,
                                        listener,
                                        rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(),
                                        0,
                                        parameters,
                                        data));
                return reported;
            } finally {
                if (!reported) {
                    freeSlots.incrementAndGet();
                }
            }
        }
    }
}
