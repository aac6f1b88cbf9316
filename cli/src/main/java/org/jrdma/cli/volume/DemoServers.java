package org.jrdma.cli.volume;

import static java.util.stream.Collectors.joining;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.jrdma.cli.perf.ChildProcessPeer;
import org.jrdma.cli.perf.FreePorts;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.ServerQuery;
import org.jrdma.volume.model.ServerStatus;
import org.jrdma.volume.net.NodeAddresses;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;

/** The servers of the demo, each in a child process. */
final class DemoServers implements AutoCloseable {

    private static final NodeOptions SOCKETS = NodeOptions.of(TransportKind.SOCKETS);
    private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
    private static final Duration EXIT_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration PAUSE = Duration.ofMillis(50);

    /** A server. The address is that of its sockets. */
    record Server(String name, String address, Process process) {}

    private final List<Server> servers = new ArrayList<>();

    private DemoServers() {}

    /**
     * Starts servers. One of them becomes the coordinator.
     *
     * @param lease the lease of the coordinator, and the timeout of the sessions of clients
     */
    static DemoServers start(
            Path drive, List<TransportKind> transports, Duration lease, List<String> names)
            throws IOException {
        var addresses =
                FreePorts.of(names.size()).stream().map(port -> "127.0.0.1:" + port).toList();
        var started = new DemoServers();
        try {
            for (var i = 0; i < names.size(); i++) {
                var process =
                        ChildProcessPeer.start(
                                List.of(
                                        "volume",
                                        "serve",
                                        "--json",
                                        ChildProcessPeer.OPTION,
                                        "--name=" + names.get(i),
                                        "--drive=" + drive,
                                        "--listen=" + addresses.get(i),
                                        "--servers=" + String.join(",", addresses),
                                        "--transports="
                                                + transports.stream()
                                                        .map(TransportKind::toString)
                                                        .collect(joining(",")),
                                        "--lease=" + lease.toMillis(),
                                        "--session=" + lease.toMillis()));
                started.servers.add(new Server(names.get(i), addresses.get(i), process));
            }
            for (var server : started.servers) {
                var _ = await(server, ServerStatus::isServingBlocks);
            }
            return started;
        } catch (IOException | RuntimeException e) {
            started.close();
            throw e;
        }
    }

    private static ServerStatus await(Server server, Predicate<ServerStatus> condition)
            throws IOException {
        var deadline = Deadline.after(START_TIMEOUT);
        while (true) {
            var state = query(server);
            if (state.filter(condition).isPresent()) {
                return state.get();
            }
            if (!server.process.isAlive() || deadline.hasPassed()) {
                throw new IOException(
                        server.process.isAlive()
                                ? "The server %s did not start within %d s."
                                        .formatted(server.name, START_TIMEOUT.toSeconds())
                                : "The server %s ended before it had started."
                                        .formatted(server.name));
            }
            pause();
        }
    }

    private static void pause() throws InterruptedIOException {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("Interrupted while waiting for a server.");
        }
    }

    private static Optional<ServerStatus> query(Server server) {
        try (var query = ServerQuery.open(addresses(server), SOCKETS, QUERY_TIMEOUT)) {
            return Optional.of(query.server());
        } catch (FabricException _) { // it does not listen yet
            return Optional.empty();
        }
    }

    private static List<String> addresses(Server server) {
        return NodeAddresses.servers(server.address).getFirst();
    }

    /** Returns the states of the servers that were not killed. */
    List<ServerStatus> states() throws IOException {
        var states = new ArrayList<ServerStatus>();
        for (var server : servers) {
            states.add(await(server, _ -> true));
        }
        return states;
    }

    /** Waits until a server is the coordinator. */
    ServerStatus coordinator() throws IOException {
        var deadline = Deadline.after(START_TIMEOUT);
        while (!deadline.hasPassed()) {
            for (var state : states()) {
                if (state.isCoordinator()) {
                    return state;
                }
            }
            pause();
        }
        throw new IOException("No server became the coordinator in time.");
    }

    /**
     * Kills a server by the signal SIGKILL, which it cannot handle.
     *
     * @return the id of its process
     */
    long kill(ServerStatus state) throws IOException {
        var killed =
                servers.stream()
                        .filter(server -> server.name.equals(state.name()))
                        .findAny()
                        .orElseThrow();
        servers.remove(killed);
        killed.process.destroyForcibly().onExit().join();
        killed.process.getOutputStream().close();
        return killed.process.pid();
    }

    /** Stops the servers. */
    @Override
    public void close() throws IOException {
        for (var server : servers) {
            if (server.process.isAlive()) {
                server.process.getOutputStream().close(); // makes the child exit
            }
        }
        for (var server : servers) {
            try {
                if (!server.process.waitFor(EXIT_TIMEOUT)) {
                    server.process.destroyForcibly();
                }
            } catch (InterruptedException _) {
                server.process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }
}
