package org.jrdma.volume.history;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.processes.FreePorts;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.ServerConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;

/**
 * The volume of a test and the places that its processes share.
 *
 * @param folder contains the histories and the logs
 * @param memory a folder in memory, which contains the file with the blocks of the drive, and the
 *     directory of the software fabric over which the drive is lent
 * @param ports the ports of the servers
 */
record HistoryVolume(Path folder, Path memory, List<Integer> ports) {

    static final Duration LEASE = Duration.ofSeconds(1);
    static final Duration SESSION_TIMEOUT = Duration.ofSeconds(1);
    static final long BLOCKS = 16_384;

    /** Longer than all processes need to start on a machine with much other load. */
    static final Duration RETRY_TIMEOUT = Duration.ofMinutes(5);

    private static final int SERVERS = 3;
    private static final int ARGUMENTS = 3;

    static HistoryVolume create(Path folder) throws IOException {
        var memory = Files.createTempDirectory(Path.of("/dev/shm"), "volume-history");
        var volume = new HistoryVolume(folder, memory, FreePorts.of(SERVERS));
        Files.createDirectory(volume.fabric());
        return volume;
    }

    /** Decodes the first arguments of a program. */
    static HistoryVolume of(String... arguments) {
        return new HistoryVolume(
                Path.of(arguments[0]),
                Path.of(arguments[1]),
                Stream.of(arguments[2].split(",")).map(Integer::valueOf).toList());
    }

    /** Returns the arguments of a program: those of {@link #of}, and others. */
    String[] arguments(Object... others) {
        var ports = this.ports.stream().map(Object::toString).toList();
        return Stream.concat(Stream.of(folder, memory, String.join(",", ports)), Stream.of(others))
                .map(Object::toString)
                .toArray(String[]::new);
    }

    /** Returns an argument of a program after those of the volume. */
    static String argument(int number, String... arguments) {
        return arguments[ARGUMENTS + number];
    }

    Path driveFile() {
        return memory.resolve("drive");
    }

    Path fabric() {
        return memory.resolve("fabric");
    }

    Path history(int client) {
        return folder.resolve("history-" + client);
    }

    List<List<String>> servers() {
        return ports.stream().map(HistoryVolume::address).toList();
    }

    static List<String> address(int port) {
        return List.of("sockets:127.0.0.1:" + port);
    }

    NodeOptions nodeOptions() {
        return NodeOptions.of(TransportKind.SOCKETS);
    }

    NodeOptions nodeOptions(int port) {
        return nodeOptions()
                .socketAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
    }

    VolumeClient newClient(String name, Optional<Drive> drive) throws FabricException {
        return newClient(name, drive, new NodeConnector(nodeOptions()));
    }

    VolumeClient newClient(String name, Optional<Drive> drive, ServerConnector connector)
            throws FabricException {
        return new VolumeClient(
                new ClientOptions(
                        name, servers(), List.of(), true, Duration.ofSeconds(5), RETRY_TIMEOUT),
                connector,
                drive);
    }

    /** Deletes the drive, and the fabric, in which killed processes have left files. */
    void close() throws IOException {
        try (var files = Files.walk(memory)) {
            for (var file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
