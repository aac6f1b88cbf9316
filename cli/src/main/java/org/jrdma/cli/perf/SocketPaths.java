package org.jrdma.cli.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.jrdma.sockets.FabricSockets;
import org.jrdma.sockets.OpenConnections;
import org.jrdma.sockets.Transports;
import org.jrdma.sockets.model.FabricSocketChannel;
import org.jrdma.sockets.model.Transport;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.model.DeviceDescription;
import org.jrdma.verbs.model.TransportType;

/** The paths over sockets that the command can measure, one for each transport. */
final class SocketPaths {

    private static final int LARGEST = 1 << 30;

    static final String RSOCKET = "rsocket";

    private final SisciPaths sisci;
    private final Optional<String> device;

    /**
     * The SISCI transport of all listeners of this process. It is created with the first listener.
     */
    private Optional<Transport> listeningOverSisci = Optional.empty();

    /**
     * Creates the socket paths.
     *
     * @param device the RDMA device for rsockets; if empty, the first device that rsockets can use
     */
    SocketPaths(SisciPaths sisci, Optional<String> device) {
        this.sisci = sisci;
        this.device = device;
    }

    List<Path> all() {
        return List.of(
                path(Transports.supersockets(), ControlChannel::host),
                path(
                        "sisci",
                        "sockets over sisci" + sisci.fabric().suffix(),
                        sisci.provider(),
                        (peer, measures) ->
                                measures ? connectOverSisci(peer) : acceptOverSisci(peer)),
                path(Transports.rsocket(), this::hostOverRdma),
                path(Transports.smc(), ControlChannel::host),
                path(Transports.tcp(), ControlChannel::host));
    }

    /** Determines the address at which a transport reaches the peer. */
    @FunctionalInterface
    private interface Host {
        String of(ControlChannel peer) throws IOException;
    }

    /**
     * Returns the address of the peer for rsockets. Rsockets cannot use loopback addresses, so a
     * peer on this machine is reached at the address of the RDMA device.
     */
    private String hostOverRdma(ControlChannel peer) throws IOException {
        return InetAddress.ofLiteral(peer.host()).isLoopbackAddress()
                ? rdmaAddress(device)
                : peer.host();
    }

    /** Returns the IPv4 address of an RDMA device, or of the first device that has one. */
    static String rdmaAddress(Optional<String> name) throws IOException {
        for (var each : Verbs.system().devices()) {
            if (name.isPresent() ? !each.name().equals(name.get()) : isIwarp(each)) {
                continue;
            }
            try (var opened = Verbs.system().open(each.name())) {
                var address = opened.chooseGid(1).best().flatMap(entry -> entry.gid().ipv4());
                if (address.isPresent()) {
                    return address.get().getHostAddress();
                }
            }
        }
        throw new IOException(
                name.map(device -> "The RDMA device %s has no".formatted(device))
                                .orElse("No RDMA device has an")
                        + " IPv4 address for rsockets.");
    }

    private static boolean isIwarp(DeviceDescription device) {
        return device.transportType() == TransportType.IWARP;
    }

    private static Path path(Transport transport, Host host) {
        return path(
                transport.name(),
                "sockets over " + transport.name(),
                PathDeviceAndAvailability.ofSockets(transport.whyNot()),
                (peer, measures) ->
                        measures
                                ? connect(transport, host.of(peer), peer)
                                : accept(transport, peer));
    }

    /** Opens the channel of one side of a path. */
    @FunctionalInterface
    private interface Side {
        FabricSocketChannel open(ControlChannel peer, boolean measures) throws IOException;
    }

    private static Path path(
            String name, String description, PathDeviceAndAvailability provider, Side side) {
        return new Path(
                name,
                description,
                provider,
                1,
                LARGEST,
                true,
                (peer, largest, measures) -> new SocketLink(side.open(peer, measures), largest));
    }

    /**
     * Connects with a temporary host table that contains only the peer, so that this machine needs
     * no host table.
     */
    private FabricSocketChannel connectOverSisci(ControlChannel peer) throws IOException {
        var hosts =
                "HOSTNAME: %s%nADAPTER: other_side %s 0%n".formatted(peer.host(), peer.receive());
        return connect(overSisci(hosts), peer.host(), peer);
    }

    private FabricSocketChannel acceptOverSisci(ControlChannel peer) throws IOException {
        var transport = listeningOverSisci();
        try (var node = sisci.sisci().open()) {
            peer.send(node.id());
        }
        return accept(transport, peer);
    }

    /**
     * Returns the SISCI transport of all listeners. Synchronized, because several clients may be
     * served at the same time.
     */
    private synchronized Transport listeningOverSisci() throws IOException {
        if (listeningOverSisci.isEmpty()) {
            listeningOverSisci = Optional.of(overSisci(""));
        }
        return listeningOverSisci.get();
    }

    private Transport overSisci(String hosts) throws IOException {
        var table = Files.createTempFile("jrdma", ".hosts");
        try {
            var transport = Transports.sisci(sisci.sisci(), Files.writeString(table, hosts));
            // Creating the node reads the host table, which is deleted below.
            var reason = transport.whyNot();
            if (reason.isPresent()) {
                throw new IOException(reason.get());
            }
            return transport;
        } finally {
            Files.delete(table);
        }
    }

    private static FabricSocketChannel connect(
            Transport transport, String host, ControlChannel peer) throws IOException {
        var port = Integer.parseInt(peer.receive());
        return FabricSockets.connect(host, port, List.of(transport), ControlChannel.TIMEOUT);
    }

    private static FabricSocketChannel accept(Transport transport, ControlChannel peer)
            throws IOException {
        try (var listener = FabricSockets.listen(new InetSocketAddress(0), List.of(transport))) {
            peer.send(((InetSocketAddress) listener.getLocalAddress()).getPort());
            listener.socket().setSoTimeout((int) ControlChannel.TIMEOUT.toMillis());
            return (FabricSocketChannel) listener.socket().accept().getChannel();
        }
    }

    private static final class SocketLink implements LinkEnd {

        private final FabricSocketChannel channel;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment buffer;

        SocketLink(FabricSocketChannel channel, int largest) throws IOException {
            this.channel = channel;
            this.buffer = arena.allocate(largest);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }

        @Override
        public Optional<String> connection() {
            var connection = OpenConnections.of(channel);
            return Optional.of(
                    "to %s by %s%s"
                            .formatted(
                                    channel.socket().getInetAddress().getHostAddress(),
                                    connection.transport(),
                                    connection.isFallback()
                                            ? " (%s)".formatted(connection.whyNotFaster())
                                            : ""));
        }

        @Override
        public void exchange(int bytes) throws IOException {
            write(bytes);
            read(bytes);
        }

        @Override
        public void answer(int bytes, int count) throws IOException {
            for (var exchange = 0; exchange < count; exchange++) {
                read(bytes);
                write(bytes);
            }
        }

        @Override
        public void stream(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                write(bytes);
            }
            // This message confirms that the peer has read all messages.
            read((int) JAVA_BYTE.byteSize());
        }

        @Override
        public void absorb(int bytes, int count) throws IOException {
            for (var message = 0; message < count; message++) {
                read(bytes);
            }
            write((int) JAVA_BYTE.byteSize());
        }

        private void write(int bytes) throws IOException {
            channel.write(buffer.asSlice(0, bytes));
        }

        private void read(int bytes) throws IOException {
            for (var have = 0L; have < bytes; ) {
                var count = channel.read(buffer.asSlice(have, bytes - have));
                if (count < 0) {
                    throw new IOException("The peer closed the connection.");
                }
                have += count;
            }
        }

        @Override
        public void close() throws IOException {
            try (arena) {
                channel.close();
            }
        }
    }
}
