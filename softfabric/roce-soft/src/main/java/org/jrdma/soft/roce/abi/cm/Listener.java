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

/** A listening identifier: listens at one or more devices, with a common backlog. */
final class Listener {

    private static final int MOST_BACKLOG = 1_024;

    private final IdentifierObject listener;
    private final IdentifierEvents events;
    private final long serviceId;
    private final List<ConnectionDevice> devices;

    /** How many more requests may come before the program takes one. */
    private final AtomicInteger room;

    /**
     * Starts to listen.
     *
     * @param devices the devices to listen at, which the listener then uses
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
        this.room =
                new AtomicInteger(backlog > 0 && backlog < MOST_BACKLOG ? backlog : MOST_BACKLOG);
        for (var device : devices) {
            device.run(manager -> manager.listen(serviceId, new DeviceListener(device)));
        }
    }

    /** The program has taken a request. */
    void requestTaken() {
        room.incrementAndGet();
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
            var made = listener.incoming(device, header, request.path().mtu());
            made.exchange(new ConnectionExchange(device, connection, made.options()));
            return report(
                            made,
                            parameters -> ConnectionParameterCodec.write(request, parameters),
                            data)
                    ? ConnectionExchange.telling(made.events())
                    : null;
        }

        @Override
        public boolean asked(SidrServer server, PrivateDataHeader header, MemorySegment data) {
            if (!listener.type().isDatagram()) {
                return false;
            }
            var made = listener.incoming(device, header, device.mtu());
            made.exchange(new SidrServerExchange(device, server));
            return report(made, IdentifierEvents::withoutParameters, data);
        }

        private boolean report(
                IdentifierObject made, Consumer<MemorySegment> parameters, MemorySegment data) {
            return room.getAndUpdate(left -> Math.max(0, left - 1)) > 0
                    && events.report(
                            made.events(),
                            new PendingEvent(
                                    made,
                                    listener,
                                    rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(),
                                    0,
                                    parameters,
                                    data));
        }
    }
}
