package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import org.jrdma.volume.Volume;
import org.jrdma.volume.VolumeOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.ServerStatus;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;

/** The steps of {@code jrdma volume demo}, and the lines that describe them. */
final class Demo {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final int DRIVE_MEBIBYTES = 256;
    private static final long MEBIBYTE = 1 << 20;
    private static final int FILES_BEFORE = 20;
    private static final int FILES_AFTER = 20;

    /**
     * The work of a client.
     *
     * @param coordinator the transport to the coordinator
     * @param data the transport to the data; direct if the client uses the drive itself
     * @param files the number of files that the client has written
     * @param longestMilliseconds the time of the longest write, which includes the takeover
     */
    record ClientResult(
            String name,
            String coordinator,
            String data,
            int files,
            double medianMilliseconds,
            double longestMilliseconds) {}

    /**
     * The result.
     *
     * @param equal the number of files whose checksum is that of the content that was written
     * @param problems the problems that the check has found
     */
    record Result(
            String killed,
            String successor,
            long epoch,
            List<ClientResult> clients,
            int files,
            int equal,
            List<String> problems,
            double seconds) {

        boolean isSuccess() {
            return equal == files && problems.isEmpty();
        }
    }

    private final List<TransportKind> transports;
    private final Consumer<String> output;
    private final long started = System.nanoTime();

    Demo(List<TransportKind> transports, Consumer<String> output) {
        this.transports = transports;
        this.output = output;
    }

    /** Runs the demo on a file, which is created. */
    Result run(Path file) throws IOException {
        var clients = List.<DemoClient>of();
        try (var drive = FileDrive.create(file, DRIVE_MEBIBYTES * MEBIBYTE / Drive.BLOCK_BYTES)) {
            VolumeServer.create(drive);
            print("Created a volume of %d MiB in %s.".formatted(DRIVE_MEBIBYTES, file));
            ServerStatus killed;
            ServerStatus successor;
            int equal;
            try (var servers =
                    DemoServers.start(file, transports, LEASE, List.of("node1", "node2"))) {
                servers.states().forEach(this::print);
                var addresses = servers.states().stream().map(ServerStatus::addresses).toList();
                try (var direct = Volume.open(options("direct", addresses).drive(drive));
                        var redirected = Volume.open(options("redirected", addresses))) {
                    clients =
                            List.of(
                                    new DemoClient("direct", direct, 1),
                                    new DemoClient("redirected", redirected, 2));
                    write(clients);
                    killed = servers.coordinator();
                    successor = killDuringWrites(servers, killed, clients);
                    clients.forEach(this::print);
                    equal = compare(clients);
                }
            }
            return result(drive, killed, successor, clients, equal);
        }
    }

    private VolumeOptions options(String name, List<List<String>> addresses) {
        return VolumeOptions.of(name, addresses)
                .node(NodeOptions.ALL.transports(transports).silence(LEASE))
                .callTimeout(LEASE);
    }

    private void write(List<DemoClient> clients) throws IOException {
        for (var client : clients) {
            for (var i = 0; i < FILES_BEFORE; i++) {
                client.write();
            }
            print("Client %s: %s.".formatted(client.name(), describe(client.state())));
        }
        print(
                "Each client wrote %d files of %d KiB, and continues to write."
                        .formatted(FILES_BEFORE, DemoClient.FILE_BYTES >> 10));
    }

    private ServerStatus killDuringWrites(
            DemoServers servers, ServerStatus killed, List<DemoClient> clients) throws IOException {
        var isOver = new CompletableFuture<Boolean>();
        var writers = clients.stream().map(client -> writeUntil(isOver, client)).toList();
        ServerStatus successor;
        try {
            print(
                    "kill -9 %d: killed %s, the coordinator."
                            .formatted(servers.kill(killed), killed.name()));
            successor = servers.coordinator();
            print("%s took over in epoch %d.".formatted(successor.name(), successor.epoch()));
        } finally {
            isOver.complete(true);
        }
        for (var writer : writers) {
            try {
                var _ = writer.join();
            } catch (CompletionException e) {
                throw new IOException("A write failed: " + e.getCause().getMessage(), e);
            }
        }
        return successor;
    }

    /** Writes files until the takeover, and some more. */
    private static CompletableFuture<Boolean> writeUntil(
            CompletableFuture<Boolean> isOver, DemoClient client) {
        var done = new CompletableFuture<Boolean>();
        Thread.ofPlatform()
                .daemon()
                .name("demo-" + client.name())
                .start(() -> {
                    try {
                        for (var more = FILES_AFTER; more > 0; more -= isOver.isDone() ? 1 : 0) {
                            client.write();
                        }
                        done.complete(true);
                    } catch (IOException | RuntimeException e) {
                        done.completeExceptionally(e);
                    }
                });
        return done;
    }

    /** Returns the number of files that the other client reads correctly. */
    private int compare(List<DemoClient> clients) throws IOException {
        var first = clients.getFirst();
        var last = clients.getLast();
        var equal = first.countEqual(last) + last.countEqual(first);
        print(
                "Each client read the files of the other: %d of %d checksums are equal."
                        .formatted(equal, files(clients)));
        return equal;
    }

    private static int files(List<DemoClient> clients) {
        return clients.stream().mapToInt(DemoClient::files).sum();
    }

    private Result result(
            Drive drive,
            ServerStatus killed,
            ServerStatus successor,
            List<DemoClient> clients,
            int equal)
            throws IOException {
        var problems = VolumeServer.check(drive);
        print(
                "Stopped the servers. The volume %s."
                        .formatted(
                                problems.isEmpty()
                                        ? "is consistent"
                                        : "is damaged: " + String.join("; ", problems)));
        var result =
                new Result(
                        killed.name(),
                        successor.name(),
                        successor.epoch(),
                        clients.stream().map(Demo::result).toList(),
                        files(clients),
                        equal,
                        problems,
                        (System.nanoTime() - started) / 1e9);
        print(
                "The demo %s after %.1f s."
                        .formatted(result.isSuccess() ? "succeeded" : "failed", result.seconds()));
        return result;
    }

    private static ClientResult result(DemoClient client) {
        return new ClientResult(
                client.name(),
                client.state().coordinator().transport(),
                client.state()
                        .data()
                        .connection()
                        .map(ConnectionDescription::transport)
                        .orElse("direct"),
                client.files(),
                client.medianMillis(),
                client.longestMillis());
    }

    private void print(ServerStatus server) {
        print(
                "%s: %s at %s."
                        .formatted(
                                server.name(),
                                server.isCoordinator() ? "the coordinator," : "a standby,",
                                String.join(", ", server.addresses())));
        server.unavailable().forEach(reason -> print("  without %s".formatted(reason)));
    }

    private void print(DemoClient client) {
        print("Client %s: %s.".formatted(client.name(), describe(client.state())));
        print(
                "  %d files without an error. Half of the writes took up to %.1f ms, the longest took %.1f s."
                        .formatted(
                                client.files(),
                                client.medianMillis(),
                                client.longestMillis() / 1000));
    }

    private static String describe(ClientReport state) {
        return "data %s (%s); coordinator over %s"
                .formatted(
                        state.data()
                                .connection()
                                .map(connection -> "redirected over " + connection.description())
                                .orElse("direct"),
                        state.data().reason(),
                        state.coordinator().description());
    }

    private void print(String line) {
        output.accept(line);
    }
}
