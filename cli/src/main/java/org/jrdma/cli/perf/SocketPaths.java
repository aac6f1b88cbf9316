package org.jrdma.cli.perf;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.sockets.FabricSocketChannel;
import org.jrdma.sockets.FabricSockets;
import org.jrdma.sockets.Transport;

/** What sockets do, on each transport: streams of bytes. */
final class SocketPaths {

    private static final int LARGEST = 1 << 30;

    private SocketPaths() {}

    static List<Path> all() {
        return Stream.of(
                        Transport.supersockets(),
                        Transport.rsocket(),
                        Transport.smc(),
                        Transport.tcp())
                .map(SocketPaths::path)
                .toList();
    }

    private static Path path(Transport transport) {
        return new Path(
                transport.name(),
                "sockets over " + transport.name(),
                1,
                LARGEST,
                true,
                transport.whyNot(),
                (peer, largest, measures) ->
                        new SocketLink(
                                measures ? connect(transport, peer) : accept(transport, peer),
                                largest));
    }

    private static FabricSocketChannel connect(Transport transport, ControlChannel peer)
            throws IOException {
        var port = Integer.parseInt(peer.hear());
        return FabricSockets.connect(
                peer.host(), port, List.of(transport), ControlChannel.PATIENCE);
    }

    private static FabricSocketChannel accept(Transport transport, ControlChannel peer)
            throws IOException {
        try (var listener = FabricSockets.listen(new InetSocketAddress(0), List.of(transport))) {
            peer.say(((InetSocketAddress) listener.getLocalAddress()).getPort());
            listener.socket().setSoTimeout((int) ControlChannel.PATIENCE.toMillis());
            return (FabricSocketChannel) listener.socket().accept().getChannel();
        }
    }

    private static final class SocketLink implements Link {

        private final FabricSocketChannel channel;
        private final Arena arena = Arena.ofShared();
        private final MemorySegment buffer;

        SocketLink(FabricSocketChannel channel, int largest) throws IOException {
            this.channel = channel;
            this.buffer = arena.allocate(largest);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
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
            read((int) JAVA_BYTE.byteSize()); // which says that all has been read
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
                var fresh = channel.read(buffer.asSlice(have, bytes - have));
                if (fresh < 0) {
                    throw new IOException("The other side has left.");
                }
                have += fresh;
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
