package org.jrdma.cli.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.function.IntConsumer;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.PreparedReceive;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.PreparedSend;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.TransportType;

/** The RDMA paths: writes, reads, atomics and messages. */
final class RdmaPaths {

    private static final int LARGEST = 1 << 30;

    private final Paths.Fabric fabric;
    private final Optional<String> deviceName;
    private final PathDeviceAndAvailability provider;

    /**
     * Creates the paths of a device.
     *
     * @param deviceName the name of the device; if empty, the first device
     */
    RdmaPaths(Paths.Fabric fabric, Optional<String> deviceName) {
        this.fabric = fabric;
        this.deviceName = deviceName;
        this.provider = provider();
    }

    List<Path> all() {
        return List.of(
                path("write", "RDMA WRITE", 1, LARGEST, true, WriteLink::new),
                path("read", "RDMA READ", 1, LARGEST, false, connection -> read(connection)),
                path("send", "RDMA SEND", 1, LARGEST, true, SendLink::new),
                path(
                        "fetch-add",
                        "RDMA FETCH AND ADD",
                        8,
                        8,
                        false,
                        connection -> fetchAndAdd(connection)),
                path(
                        "swap",
                        "RDMA COMPARE AND SWAP",
                        8,
                        8,
                        false,
                        connection -> compareAndSwap(connection)));
    }

    private Path path(
            String name,
            String description,
            int smallest,
            int largest,
            boolean isRoundTrip,
            LinkFactory factory) {
        return new Path(
                name,
                description + fabric.suffix(),
                provider,
                smallest,
                largest,
                isRoundTrip,
                (peer, maxBytes, _) -> {
                    var connection = new RdmaConnection(device(), peer, maxBytes);
                    try {
                        var link = factory.create(connection);
                        RdmaConnection.awaitReady(peer);
                        return link;
                    } catch (IOException | RuntimeException e) {
                        connection.close();
                        throw e;
                    }
                });
    }

    /** Creates a link, which then owns the connection. */
    @FunctionalInterface
    private interface LinkFactory {
        LinkEnd create(RdmaConnection connection) throws IOException;
    }

    private PathDeviceAndAvailability provider() {
        try {
            var device = description();
            return new PathDeviceAndAvailability(
                    Optional.of(fabric),
                    Optional.of(device.name()),
                    unsupportedReason(device),
                    localOnlyReason(device.name()));
        } catch (FabricException e) {
            return new PathDeviceAndAvailability(
                    Optional.of(fabric),
                    Optional.empty(),
                    Optional.of(e.getMessage()),
                    Optional.empty());
        }
    }

    private static Optional<String> unsupportedReason(DeviceDescription device) {
        return device.transportType() == TransportType.IWARP
                ? Optional.of("iWARP connects through rdma_cm only, which jrdma perf does not use")
                : Optional.empty();
    }

    private Optional<String> localOnlyReason(String device) throws FabricException {
        if (fabric == Paths.Fabric.SYSTEM) {
            return Optional.empty();
        }
        try (var opened = verbs().open(device)) {
            return opened.ipAddress()
                    .filter(InetAddress::isLoopbackAddress)
                    .map(address ->
                            "the software device uses %s, which other machines cannot reach; to use the address of eth0, set JRDMA_JAVA_OPTIONS=-Djrdma.soft.devices=eth0"
                                    .formatted(address.getHostAddress()));
        }
    }

    private Verbs verbs() throws FabricException {
        return fabric == Paths.Fabric.SYSTEM ? Verbs.system() : Verbs.software();
    }

    private DeviceDescription description() throws FabricException {
        var devices = verbs().devices();
        return devices.stream()
                .filter(device -> deviceName.isEmpty() || device.name().equals(deviceName.get()))
                .findFirst()
                .orElseThrow(() ->
                        new FabricException(
                                deviceName
                                        .map(name -> "there is no device " + name)
                                        .orElse("there is no RDMA device")));
    }

    private Device device() throws FabricException {
        return verbs().open(description().name());
    }

    /**
     * A link over RDMA WRITE. Each side writes to the peer's memory, and polls its own memory until
     * the last byte of the message changes.
     */
    private static final class WriteLink implements LinkEnd {

        private static final VarHandle BYTE = JAVA_BYTE.varHandle();

        private final RdmaConnection connection;
        private final PreparedWrite write;
        private byte round;

        WriteLink(RdmaConnection connection) {
            this.connection = connection;
            this.write =
                    connection.queuePair.prepareWrite(
                            connection.source.slice(), connection.peerMemory);
            write.id(RdmaConnection.REQUEST);
        }

        @Override
        public void prepare(int bytes) {
            round = 0;
            connection.target.segment().set(JAVA_BYTE, bytes - 1, round);
            write.local(connection.source, 0, bytes);
        }

        @Override
        public void exchange(int bytes) throws IOException {
            round++;
            signal(bytes);
            awaitSignal(bytes);
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            for (var exchange = 0; exchange < count; exchange++) {
                round++;
                awaitSignal(bytes);
                signal(bytes);
            }
            connection.awaitRequests();
        }

        private void signal(int bytes) throws IOException {
            connection.source.segment().set(JAVA_BYTE, bytes - 1, round);
            connection.post(write);
        }

        private void awaitSignal(int bytes) throws IOException {
            var target = connection.target.segment();
            SpinWait.until(() -> {
                connection.pollCompletions(); // Fails if the peer has disconnected.
                return (byte) BYTE.getAcquire(target, bytes - 1L) == round;
            });
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                connection.post(write);
            }
            connection.awaitRequests();
        }

        @Override
        public void close() throws IOException {
            connection.close();
        }
    }

    /**
     * A link over RDMA SEND. The measuring side sends a message, and the peer replies with another
     * message.
     */
    private static final class SendLink implements LinkEnd {

        private final RdmaConnection connection;
        private final PreparedSend send;
        private final PreparedReceive receive;
        private int arrived;

        SendLink(RdmaConnection connection) throws IOException {
            this.connection = connection;
            this.send = connection.queuePair.prepareSend(connection.source.slice());
            this.receive = connection.queuePair.prepareReceive(connection.target.slice());
            send.id(RdmaConnection.REQUEST);
            receive.id(RdmaConnection.RECEIVE);
            while (receive.tryPost()) {
                // The loop fills the receive queue.
            }
        }

        @Override
        public void prepare(int bytes) {
            send.local(connection.source, 0, bytes);
        }

        @Override
        public void exchange(int bytes) throws IOException {
            connection.post(send);
            awaitMessages(1);
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            for (var exchange = 0; exchange < count; exchange++) {
                awaitMessages(1);
                connection.post(send);
            }
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                connection.post(send);
            }
            awaitMessages(1); // This message confirms that the peer has received all messages.
        }

        @Override
        public void absorb(int bytes, int count) throws IOException {
            awaitMessages(count);
            connection.post(send);
        }

        private void awaitMessages(int expected) throws IOException {
            SpinWait.until(() -> {
                var count = connection.pollReceived();
                for (var message = 0; message < count; message++) {
                    receive.tryPost();
                }
                arrived += count;
                return arrived >= expected;
            });
            arrived -= expected;
        }

        @Override
        public void close() throws IOException {
            connection.close();
        }
    }

    private static LinkEnd read(RdmaConnection connection) {
        var read =
                connection.queuePair.prepareRead(connection.target.slice(), connection.peerMemory);
        return new OneSidedLink(connection, read, bytes -> read.local(connection.target, 0, bytes));
    }

    private static LinkEnd fetchAndAdd(RdmaConnection connection) {
        return new OneSidedLink(
                connection,
                connection
                        .queuePair
                        .prepareFetchAndAdd(
                                connection.source.slice(0, 8), connection.peerMemory.slice(0, 8))
                        .delta(1),
                _ -> {});
    }

    private static LinkEnd compareAndSwap(RdmaConnection connection) {
        return new OneSidedLink(
                connection,
                connection
                        .queuePair
                        .prepareCompareAndSwap(
                                connection.source.slice(0, 8), connection.peerMemory.slice(0, 8))
                        .values(0, 0),
                _ -> {});
    }

    /**
     * A link over a one-sided operation (READ or atomic), which the peer's device performs without
     * the peer's program.
     */
    private record OneSidedLink(RdmaConnection rdma, PreparedRequest<?> request, IntConsumer size)
            implements LinkEnd {

        OneSidedLink {
            request.id(RdmaConnection.REQUEST);
        }

        @Override
        public void prepare(int bytes) {
            size.accept(bytes);
        }

        @Override
        public void exchange(int bytes) throws IOException {
            rdma.post(request);
            rdma.awaitRequests();
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                rdma.post(request);
            }
            rdma.awaitRequests();
        }

        @Override
        public void close() throws IOException {
            rdma.close();
        }
    }
}
