package org.jrdma.cli.perf;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.WRITE;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.Transports;
import org.jrdma.volume.Volume;
import org.jrdma.volume.VolumeOptions;
import org.jrdma.volume.drive.NvmeBlockDrive;
import org.jrdma.volume.drive.ReopeningDrive;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.net.NodeOptions;

/**
 * A volume that this process uses over one path, and its server, which is a child process. The file
 * to measure has {@value #FILE_BYTES} bytes.
 */
final class MeasuredVolume implements AutoCloseable {

    static final int FILE_BYTES = 32 << 20;

    static final int MAX_ACCESS_BYTES = 4 << 20;

    private static final Duration DRIVE_TIMEOUT = Duration.ofSeconds(5);

    /** The node of the server in the SISCI fabric, far from the numbers that are free first. */
    private static final int SERVER_NODE = 200;

    private static final String HOST = "127.0.0.1";

    /** The line of a server that has started. */
    private static final Pattern STARTED =
            Pattern.compile(
                    "\"event\":\"started\".*\"addresses\":\\[(?<addresses>.*)],\"missing\":\\[(?<missing>.*)]");

    private static final Pattern COORDINATOR = Pattern.compile("\"event\":\"coordinator\"");

    /** The resources to close, the last first. */
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    private final VolumeDataPathKind path;

    /** The borrowed drive, or empty unless the path is direct. */
    private final Optional<NvmeDrive> drive;

    private final Volume volume;
    private final FileChannel file;
    private final ByteBuffer buffer;
    private final ProcessorTimePerByte.Processes processes;

    private MeasuredVolume(VolumeDataPathKind path, LentSoftwareDrive lent, Path folder)
            throws IOException {
        this.path = path;
        try {
            drive =
                    path == VolumeDataPathKind.DIRECT
                            ? Optional.of(keep(lent.borrow()).drive())
                            : Optional.empty();
            var server = startServer(lent, folder);
            processes =
                    new ProcessorTimePerByte.Processes(
                            ProcessHandle.current(), server.toHandle(), lent.process());
            var options =
                    VolumeOptions.of("perf-" + path, List.of(addresses(server)))
                            .node(nodeOptions(folder));
            volume = keep(Volume.open(drive.isPresent() ? direct(options) : options));
            file = keep(FileChannel.open(volume.path("/data"), CREATE, READ, WRITE));
            buffer = volume.newBuffer(MAX_ACCESS_BYTES);
            fill();
        } catch (Throwable e) {
            try {
                close();
            } catch (IOException failure) {
                e.addSuppressed(failure);
            }
            throw e;
        }
    }

    /**
     * Starts a server and opens the volume.
     *
     * @param lent the drive, which contains a volume
     * @param folder a folder for temporary files
     */
    static MeasuredVolume open(VolumeDataPathKind path, LentSoftwareDrive lent, Path folder)
            throws IOException {
        return new MeasuredVolume(path, lent, folder);
    }

    private <T extends AutoCloseable> T keep(T resource) {
        resources.push(resource);
        return resource;
    }

    private Process startServer(LentSoftwareDrive lent, Path folder) throws IOException {
        var settings =
                Files.writeString(
                        folder.resolve("settings"),
                        "datagram.reads=" + (path == VolumeDataPathKind.VERBS_DATAGRAMS));
        var address = "%s:%d".formatted(HOST, FreePorts.of(1).getFirst());
        var server =
                ChildProcessPeer.start(
                        List.of(
                                "volume",
                                "serve",
                                "--json",
                                ChildProcessPeer.OPTION,
                                "--config=" + settings,
                                "--name=server",
                                "--drive=" + lent.ofServer(),
                                "--listen=" + address,
                                "--servers=" + address,
                                "--transports=" + path.transport()),
                        Map.of(
                                "jrdma.sisci.node",
                                Integer.toString(SERVER_NODE),
                                "jrdma.sockets.transports",
                                path.streams()));
        keep(() -> ChildProcessPeer.close(server));
        return server;
    }

    /** Waits until the server is the coordinator, and returns its addresses. */
    private static List<String> addresses(Process server) throws IOException {
        var started = ChildProcessPeer.awaitLine(server, STARTED);
        if (!started.group("missing").isEmpty()) {
            throw new IOException("The server has no " + started.group("missing"));
        }
        var _ = ChildProcessPeer.awaitLine(server, COORDINATOR);
        return List.of(started.group("addresses").replace("\"", "").split(",", -1));
    }

    private NodeOptions nodeOptions(Path folder) throws IOException {
        var options = NodeOptions.of(path.transport());
        return switch (path) {
            case SISCI_SOCKETS -> {
                var hosts = "HOSTNAME: %s%nADAPTER: server %d 0%n".formatted(HOST, SERVER_NODE);
                var table = Files.writeString(folder.resolve("hosts"), hosts);
                yield options.streams(List.of(Transports.sisci(Sisci.configured(), table)));
            }
            case VERBS_DATAGRAMS -> options.datagramReads(true);
            default -> options.streams(List.of(Transports.tcp()));
        };
    }

    /** Uses the drive without a {@link ReopeningDrive}, which would copy the data. */
    private VolumeOptions direct(VolumeOptions options) throws IOException {
        var borrowed = drive.orElseThrow();
        return options.drive(
                keep(
                        new NvmeBlockDrive(
                                borrowed, borrowed.namespaces().getFirst(), DRIVE_TIMEOUT)));
    }

    /** Writes the whole file, so that the accesses allocate nothing. */
    private void fill() throws IOException {
        for (var position = file.size(); position < FILE_BYTES; position += MAX_ACCESS_BYTES) {
            var _ = file.write(buffer.clear(), position);
        }
        file.force(true);
    }

    VolumeDataPathKind path() {
        return path;
    }

    /**
     * Returns the drive if the path is direct. Its last {@value #FILE_BYTES} bytes contain no
     * metadata, so that a measurement of the driver can overwrite them.
     */
    Optional<NvmeDrive> drive() {
        return drive;
    }

    FileChannel file() {
        return file;
    }

    /** Returns the buffer for accesses of a size. The drive can access it if the path is direct. */
    ByteBuffer buffer(int bytes) {
        return buffer.slice(0, bytes);
    }

    ProcessorTimePerByte.Processes processes() {
        return processes;
    }

    /** Returns the description of the path to the data. */
    String connection() {
        return volume.state()
                .data()
                .connection()
                .map(ConnectionDescription::description)
                .orElse("direct");
    }

    @Override
    public void close() throws IOException {
        Resources.closeAll(resources);
    }
}
