package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.verbs.model.GidEntry;
import picocli.CommandLine.Option;

/** The options that select the peer and the device of a measurement. */
final class PeerOptions {

    private static final int PORT = 18_516;

    @Option(
            names = "--serve",
            arity = "0..1",
            paramLabel = "PORT",
            fallbackValue = "" + PORT,
            converter = WholeNumberConverter.Port.class,
            description =
                    "Respond to measurements of jrdma on other machines, until interrupted. Any host that reaches the port can use it: 8 callers at a time, 2 of each address. (default: ${FALLBACK-VALUE})")
    private Optional<Integer> served = Optional.empty();

    @Option(
            names = "--connect",
            paramLabel = "HOST[:PORT]",
            description =
                    "Measure to the machine where \"jrdma perf --serve\" runs. By default the peer is a second process on this machine.")
    private Optional<String> host = Optional.empty();

    @Option(
            names = "--fabric",
            converter = Paths.FabricConverter.class,
            paramLabel = "FABRIC",
            description =
                    "system or software. By default system, or software if this machine has no device.")
    private Optional<Paths.Fabric> fabric = Optional.empty();

    @Option(
            names = {"-d", "--device"},
            paramLabel = "NAME",
            description = "The local RDMA device. By default the first.")
    private Optional<String> device = Optional.empty();

    @Option(names = ChildProcessPeer.OPTION, hidden = true)
    private boolean isChild;

    /** Returns the paths to the peer. */
    List<Path> paths() throws IOException {
        var paths = Paths.all(fabric, device);
        return isRemote() ? paths.stream().map(Path::toRemotePeer).toList() : paths;
    }

    private boolean isRemote() throws IOException {
        if (host.isEmpty()) {
            return false;
        }
        var address = Peer.parse(host.get(), PORT).address();
        return !address.isUnresolved() && ControlChannel.isRemote(address.getAddress());
    }

    /**
     * Returns the C programs for comparison with a path.
     *
     * @throws IOException if no C programs perform this measurement; the message is the reason
     */
    NativeBaseline nativeBaseline(String path) throws IOException {
        if (host.isPresent()) {
            throw new IOException("the peer is on another machine");
        }
        return path.equals(SocketPaths.RSOCKET)
                ? new RstreamProgramBaseline(
                        SocketPaths.rdmaAddress(device), ClientServerProgramRunner.inPath())
                : perftest();
    }

    private PerftestBaseline perftest() throws IOException {
        if (Paths.rdmaFabric(fabric) == Paths.Fabric.SOFTWARE) {
            throw new IOException(
                    "the C programs need an RDMA device and cannot use the software fabric");
        }
        try (var opened = Paths.device(device)) {
            return new PerftestBaseline(
                    opened.name(),
                    opened.chooseGid(1).best().map(GidEntry::index).orElse(0),
                    ClientServerProgramRunner.inPath());
        }
    }

    boolean isServer() {
        return served.isPresent();
    }

    /** Runs the remote side of measurements that clients request, until the process ends. */
    void serve(PrintWriter out, PrintWriter errors) throws IOException {
        var address =
                isChild
                        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)
                        : new InetSocketAddress(served.orElseThrow());
        try (var listener = new ServerSocket()) {
            bind(listener, address);
            if (isChild) {
                ChildProcessPeer.exitWithParent();
            }
            out.println(ChildProcessPeer.WAITING + listener.getLocalPort());
            out.flush();
            // A child process prints no errors, because its parent reports them.
            var printed = isChild ? new PrintWriter(Writer.nullWriter()) : errors;
            new MeasurementServer(paths(), printed).serve(listener);
        }
    }

    private static void bind(ServerSocket listener, InetSocketAddress address) throws IOException {
        try {
            listener.bind(address);
        } catch (IOException e) {
            throw new IOException(
                    "Cannot listen on port %d: %s".formatted(address.getPort(), e.getMessage()), e);
        }
    }

    /**
     * Returns the peer that the option {@code --connect} specifies. Without this option, starts a
     * child process as the peer.
     */
    Peer peer(String command) throws IOException {
        if (host.isPresent()) {
            return Peer.parse(host.get(), PORT);
        }
        var childOptions = new ArrayList<String>();
        fabric.ifPresent(name -> childOptions.addAll(List.of("--fabric", name.toString())));
        device.ifPresent(name -> childOptions.addAll(List.of("--device", name)));
        return ChildProcessPeer.start(command, childOptions);
    }
}
