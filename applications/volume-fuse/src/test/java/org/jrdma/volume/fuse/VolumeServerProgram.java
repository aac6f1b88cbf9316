package org.jrdma.volume.fuse;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;

/** A server of a volume in a process of its own, which a test can kill. */
final class VolumeServerProgram {

    private static final Duration LEASE = Duration.ofSeconds(2);

    private VolumeServerProgram() {}

    static String address(int port) {
        return "sockets:127.0.0.1:" + port;
    }

    /** Runs a server: the name of the drive, its port, and the port of the other server. */
    public static void main(String... arguments) throws Exception {
        var port = Integer.parseInt(arguments[1]);
        var others =
                Stream.of(arguments)
                        .skip(2)
                        .map(other -> List.of(address(Integer.parseInt(other))));
        var local = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        var _ =
                VolumeServer.start(
                        new DriveName(arguments[0]).open(),
                        ServerOptions.named("server-" + port)
                                .others(others.toList())
                                .node(NodeOptions.of(TransportKind.SOCKETS).socketAddress(local))
                                .lease(LEASE)
                                .sessionTimeout(LEASE));
        Thread.currentThread().join();
    }
}
