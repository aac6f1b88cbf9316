package org.jrdma.cli.net;

import static java.time.Duration.ofSeconds;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.sockets.FabricSockets;
import org.jrdma.sockets.Transports;
import org.jrdma.sockets.model.ConnectionsMXBean;
import org.jrdma.sockets.model.Transport;

/** A program with connections to itself over TCP and SISCI. It runs until its input ends. */
final class SelfConnectedProgram {

    private static final int BYTES = 3;

    private SelfConnectedProgram() {}

    /** Opens a connection over each named transport, then prints "ready". */
    static void main(String... transports) throws Exception {
        var open = new ArrayList<SocketChannel>();
        for (var name : transports) {
            open.addAll(
                    name.equals("sisci")
                            ? pair(Transports.sisci(), Transports.sisci())
                            : pair(Transports.tcp(), Transports.supersockets(), Transports.tcp()));
        }
        while (transports.length > 0 && System.getProperty(ConnectionsMXBean.PROPERTY) == null) {
            Thread.sleep(10); // the bean is registered soon after the first connection
        }
        System.out.println("ready");
        while (System.in.read() >= 0) {
            // the parent writes nothing
        }
        System.out.println("ends with %d open".formatted(open.size()));
        System.exit(0);
    }

    private static List<SocketChannel> pair(Transport accepting, Transport... connecting)
            throws IOException {
        try (var listener =
                FabricSockets.listen(
                        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                        List.of(accepting))) {
            var port = ((InetSocketAddress) listener.getLocalAddress()).getPort();
            var client =
                    FabricSockets.connect("127.0.0.1", port, List.of(connecting), ofSeconds(60));
            var server = listener.accept();
            client.write(ByteBuffer.allocate(BYTES));
            for (var received = ByteBuffer.allocate(BYTES); received.hasRemaining(); ) {
                server.read(received);
            }
            return List.of(client, server);
        }
    }
}
