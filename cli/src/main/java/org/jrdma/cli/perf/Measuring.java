package org.jrdma.cli.perf;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jrdma.verbs.model.GidEntry;
import picocli.CommandLine.Option;

/** What the commands that measure have in common: where the other side is, and what it is. */
final class Measuring {

    private static final int PORT = 18_516;

    @Option(
            names = "--serve",
            arity = "0..1",
            paramLabel = "PORT",
            fallbackValue = "" + PORT,
            description =
                    "Be the other side for a jrdma on another machine, until you end it. Whoever reaches the port can use it. (${FALLBACK-VALUE})")
    private Optional<Integer> served = Optional.empty();

    @Option(
            names = "--connect",
            paramLabel = "HOST[:PORT]",
            description =
                    "Measure towards the machine where another jrdma is told to --serve. Without it, a second process of this machine is the other side.")
    private Optional<String> peer = Optional.empty();

    @Option(
            names = "--fabric",
            paramLabel = "FABRIC",
            description =
                    "${COMPLETION-CANDIDATES}. By default the machine's own, and the software fabrics where it has no device.")
    private Optional<Paths.Fabric> fabric = Optional.empty();

    @Option(
            names = {"-d", "--device"},
            paramLabel = "NAME",
            description = "The RDMA device of this side; by default the first.")
    private Optional<String> device = Optional.empty();

    @Option(names = ChildProcess.OPTION, hidden = true)
    private boolean isChild;

    /** What there is to measure; towards where the other side is. */
    List<Path> paths() throws IOException {
        var paths = Paths.all(fabric, device);
        return leadsAway() ? paths.stream().map(Path::towardsAnotherMachine).toList() : paths;
    }

    private boolean leadsAway() throws IOException {
        if (peer.isEmpty()) {
            return false;
        }
        var address = OtherSide.at(peer.get(), PORT).address();
        return !address.isUnresolved() && ControlChannel.leadsAway(address.getAddress());
    }

    /** The programs in C that do the same, or why there are none for what is measured here. */
    ProgramsInC programsInC(String path) throws IOException {
        if (peer.isPresent()) {
            throw new IOException("the other side is on another machine");
        }
        return path.equals(SocketPaths.RSOCKET)
                ? new Rstream(SocketPaths.rdmaAddress(device), Installed.inPath())
                : perftest();
    }

    private Perftest perftest() throws IOException {
        if (Paths.rdmaFabric(fabric) == Paths.Fabric.SOFTWARE) {
            throw new IOException(
                    "the programs in C need an RDMA device, and this is the software fabric");
        }
        try (var opened = Paths.device(device)) {
            return new Perftest(
                    opened.name(),
                    opened.chooseGid(1).best().map(GidEntry::index).orElse(0),
                    Installed.inPath());
        }
    }

    boolean isServer() {
        return served.isPresent();
    }

    /** Serves one after the other. Returns when this process is to end. */
    void serve(PrintWriter out, PrintWriter errors) throws IOException {
        var address =
                isChild
                        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)
                        : new InetSocketAddress(served.orElseThrow());
        try (var listener = new ServerSocket()) {
            bind(listener, address);
            if (isChild) {
                ChildProcess.endWithParent();
            }
            out.println(ChildProcess.WAITING + listener.getLocalPort());
            out.flush();
            // what fails in a child, the parent says
            serve(listener, paths(), isChild ? new PrintWriter(Writer.nullWriter()) : errors);
        }
    }

    /** Does its part for whoever calls, until nobody can any more. */
    static void serve(ServerSocket listener, List<Path> paths, PrintWriter errors)
            throws IOException {
        while (true) {
            help(listener.accept(), paths, errors);
        }
    }

    private static void help(Socket socket, List<Path> paths, PrintWriter errors) {
        try (var channel = new ControlChannel(socket)) {
            new Helper(channel, paths).help();
        } catch (IOException | RuntimeException e) {
            errors.println(Reason.of(e));
        }
    }

    private static void bind(ServerSocket listener, InetSocketAddress address) throws IOException {
        try {
            listener.bind(address);
        } catch (IOException e) {
            throw new IOException(
                    "Port %d cannot be listened at: %s"
                            .formatted(address.getPort(), e.getMessage()),
                    e);
        }
    }

    /** Where the other side is: on another machine, or a process that is started for it. */
    OtherSide otherSide(String command) throws IOException {
        if (peer.isPresent()) {
            return OtherSide.at(peer.get(), PORT);
        }
        var options = new ArrayList<String>();
        fabric.ifPresent(name -> options.addAll(List.of("--fabric", name.toString())));
        device.ifPresent(name -> options.addAll(List.of("--device", name)));
        return ChildProcess.start(command, options);
    }
}
