package org.jrdma.volume.net;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.nio.channels.Channel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.List;
import org.jrdma.ffi.Deadline;
import org.jrdma.sockets.FabricSockets;

/** Accepts connections over streams. */
final class SocketWireListener implements WireListener {

    private final ServerSocketChannel channel;
    private final NodeOptions options;
    private final List<String> addresses;

    SocketWireListener(NodeOptions options) throws IOException {
        this.options = options;
        this.channel =
                options.streams.isPresent()
                        ? FabricSockets.listen(options.socketAddress, options.streams.get())
                        : FabricSockets.listen(options.socketAddress);
        try {
            this.addresses = addresses((InetSocketAddress) channel.getLocalAddress());
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Returns the addresses of all network interfaces for a wildcard address. */
    private static List<String> addresses(InetSocketAddress bound) throws SocketException {
        var hosts =
                bound.getAddress().isAnyLocalAddress()
                        ? NetworkInterface.networkInterfaces()
                                .flatMap(NetworkInterface::inetAddresses)
                                .filter(address -> !address.isLinkLocalAddress())
                                .sorted((one, other) ->
                                        Boolean.compare(
                                                one.isLoopbackAddress(), other.isLoopbackAddress()))
                                .toList()
                        : List.of(bound.getAddress());
        return hosts.stream()
                .map(host -> HostAndPort.of(new InetSocketAddress(host, bound.getPort())))
                .map(host -> host.toString(TransportKind.SOCKETS))
                .toList();
    }

    @Override
    public TransportKind transport() {
        return TransportKind.SOCKETS;
    }

    @Override
    public List<String> addresses() {
        return addresses;
    }

    @Override
    public WireRequest next() throws IOException {
        return new AcceptedStream(channel.accept(), options);
    }

    private record AcceptedStream(SocketChannel stream, NodeOptions options)
            implements WireRequest {

        @Override
        public Wire accept(Deadline deadline) throws IOException {
            try {
                return new SocketWire(stream, options);
            } catch (IOException | RuntimeException e) {
                reject();
                throw e;
            }
        }

        @Override
        public void reject() {
            close(stream);
        }
    }

    private static void close(Channel channel) {
        try {
            channel.close();
        } catch (IOException _) {
            // the channel is closed in any case
        }
    }

    @Override
    public void close() {
        close(channel);
    }
}
