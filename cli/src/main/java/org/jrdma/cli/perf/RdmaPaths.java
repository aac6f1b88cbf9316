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

/** What RDMA does: writes, reads and atomics of the peer's memory, and messages to it. */
final class RdmaPaths {

    private static final int LARGEST = 1 << 30;

    private final Paths.Fabric fabric;
    private final Optional<String> wanted;
    private final Provider provider;

    /**
     * The paths of a device.
     *
     * @param wanted its name; else the first
     */
    RdmaPaths(Paths.Fabric fabric, Optional<String> wanted) {
        this.fabric = fabric;
        this.wanted = wanted;
        this.provider = provider();
    }

    List<Path> all() {
        return List.of(
                path("write", "RDMA WRITE", 1, LARGEST, true, WriteLink::new),
                path("read", "RDMA READ", 1, LARGEST, false, side -> read(side)),
                path("send", "RDMA SEND", 1, LARGEST, true, SendLink::new),
                path("fetch-add", "RDMA FETCH AND ADD", 8, 8, false, side -> fetchAndAdd(side)),
                path("swap", "RDMA COMPARE AND SWAP", 8, 8, false, side -> compareAndSwap(side)));
    }

    private Path path(
            String name,
            String description,
            int smallest,
            int largest,
            boolean isRoundTrip,
            Maker maker) {
        return new Path(
                name,
                description + fabric.suffix(),
                provider,
                smallest,
                largest,
                isRoundTrip,
                (peer, most, _) -> {
                    var side = new RdmaSide(device(), peer, most);
                    try {
                        var link = maker.make(side);
                        RdmaSide.becomeReady(peer);
                        return link;
                    } catch (IOException | RuntimeException e) {
                        side.close();
                        throw e;
                    }
                });
    }

    /** Makes a link of a connection, which it closes at its end. */
    @FunctionalInterface
    private interface Maker {
        Link make(RdmaSide side) throws IOException;
    }

    private Provider provider() {
        try {
            var device = description();
            return new Provider(
                    Optional.of(fabric),
                    Optional.of(device.name()),
                    whyNot(device),
                    whyItEndsHere(device.name()));
        } catch (FabricException e) {
            return new Provider(
                    Optional.of(fabric),
                    Optional.empty(),
                    Optional.of(e.getMessage()),
                    Optional.empty());
        }
    }

    private static Optional<String> whyNot(DeviceDescription device) {
        return device.transportType() == TransportType.IWARP
                ? Optional.of("iWARP connects through rdma_cm only, which this does not use")
                : Optional.empty();
    }

    private Optional<String> whyItEndsHere(String device) throws FabricException {
        if (fabric == Paths.Fabric.SYSTEM) {
            return Optional.empty();
        }
        try (var opened = verbs().open(device)) {
            return opened.chooseGid(1)
                    .best()
                    .flatMap(entry -> entry.gid().ipv4())
                    .filter(InetAddress::isLoopbackAddress)
                    .map(address ->
                            "the software device is at %s, where other machines do not reach it; JRDMA_JAVA_OPTIONS=-Djrdma.soft.devices=eth0 puts it at the address of eth0, say"
                                    .formatted(address.getHostAddress()));
        }
    }

    private Verbs verbs() throws FabricException {
        return fabric == Paths.Fabric.SYSTEM ? Verbs.system() : Verbs.software();
    }

    private DeviceDescription description() throws FabricException {
        var devices = verbs().devices();
        return devices.stream()
                .filter(device -> wanted.isEmpty() || device.name().equals(wanted.get()))
                .findFirst()
                .orElseThrow(() ->
                        new FabricException(
                                wanted.map(name -> "there is no device " + name)
                                        .orElse("there is no RDMA device")));
    }

    private Device device() throws FabricException {
        return verbs().open(description().name());
    }

    /**
     * Each side writes into the other's memory, and looks at its own until the last byte changes.
     */
    private static final class WriteLink implements Link {

        private static final VarHandle BYTE = JAVA_BYTE.varHandle();

        private final RdmaSide side;
        private final PreparedWrite write;
        private byte round;

        WriteLink(RdmaSide side) {
            this.side = side;
            this.write = side.queuePair.prepareWrite(side.source.slice(), side.peerMemory);
            write.id(RdmaSide.REQUEST);
        }

        @Override
        public void prepare(int bytes) {
            round = 0;
            side.target.segment().set(JAVA_BYTE, bytes - 1, round);
            write.local(side.source, 0, bytes);
        }

        @Override
        public void exchange(int bytes) throws IOException {
            round++;
            throwBall(bytes);
            awaitBall(bytes);
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            for (var exchange = 0; exchange < count; exchange++) {
                round++;
                awaitBall(bytes);
                throwBall(bytes);
            }
            side.awaitRequests();
        }

        private void throwBall(int bytes) throws IOException {
            side.source.segment().set(JAVA_BYTE, bytes - 1, round);
            side.post(write);
        }

        private void awaitBall(int bytes) throws IOException {
            var target = side.target.segment();
            Spin.until(() -> {
                side.takeCompletions(); // which fail if the peer has left
                return (byte) BYTE.getAcquire(target, bytes - 1L) == round;
            });
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                side.post(write);
            }
            side.awaitRequests();
        }

        @Override
        public void close() throws IOException {
            side.close();
        }
    }

    /** A message to the peer is received, and another comes back. */
    private static final class SendLink implements Link {

        private final RdmaSide side;
        private final PreparedSend send;
        private final PreparedReceive receive;
        private int arrived;

        SendLink(RdmaSide side) throws IOException {
            this.side = side;
            this.send = side.queuePair.prepareSend(side.source.slice());
            this.receive = side.queuePair.prepareReceive(side.target.slice());
            send.id(RdmaSide.REQUEST);
            receive.id(RdmaSide.RECEIVE);
            while (receive.tryPost()) {
                // as many as there is room for
            }
        }

        @Override
        public void prepare(int bytes) {
            send.local(side.source, 0, bytes);
        }

        @Override
        public void exchange(int bytes) throws IOException {
            side.post(send);
            awaitMessages(1);
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            for (var exchange = 0; exchange < count; exchange++) {
                awaitMessages(1);
                side.post(send);
            }
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                side.post(send);
            }
            awaitMessages(1); // which says that all have been received
        }

        @Override
        public void absorb(int bytes, int count) throws IOException {
            awaitMessages(count);
            side.post(send);
        }

        private void awaitMessages(int count) throws IOException {
            Spin.until(() -> {
                var fresh = side.takeReceived();
                for (var message = 0; message < fresh; message++) {
                    receive.tryPost();
                }
                arrived += fresh;
                return arrived >= count;
            });
            arrived -= count;
        }

        @Override
        public void close() throws IOException {
            side.close();
        }
    }

    private static Link read(RdmaSide side) {
        var read = side.queuePair.prepareRead(side.target.slice(), side.peerMemory);
        return new OneSidedLink(side, read, bytes -> read.local(side.target, 0, bytes));
    }

    private static Link fetchAndAdd(RdmaSide side) {
        return new OneSidedLink(
                side,
                side.queuePair
                        .prepareFetchAndAdd(side.source.slice(0, 8), side.peerMemory.slice(0, 8))
                        .delta(1),
                _ -> {});
    }

    private static Link compareAndSwap(RdmaSide side) {
        return new OneSidedLink(
                side,
                side.queuePair
                        .prepareCompareAndSwap(side.source.slice(0, 8), side.peerMemory.slice(0, 8))
                        .values(0, 0),
                _ -> {});
    }

    /** What the peer's adapter does without the peer. */
    private record OneSidedLink(RdmaSide side, PreparedRequest<?> request, IntConsumer size)
            implements Link {

        OneSidedLink {
            request.id(RdmaSide.REQUEST);
        }

        @Override
        public void prepare(int bytes) {
            size.accept(bytes);
        }

        @Override
        public void exchange(int bytes) throws IOException {
            side.post(request);
            side.awaitRequests();
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                side.post(request);
            }
            side.awaitRequests();
        }

        @Override
        public void close() throws IOException {
            side.close();
        }
    }
}
