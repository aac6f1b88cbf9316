package org.jrdma.cli.volume;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.ServerQuery;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ServerStatus;

/**
 * The answer of a server.
 *
 * @param addresses the addresses of the server in the settings
 * @param state empty if the server does not answer
 * @param clients the clients; only the coordinator knows them
 * @param problem the reason for which there is no state, or there are no clients
 */
record QueriedServer(
        List<String> addresses,
        Optional<ServerStatus> state,
        List<ClientReport> clients,
        Optional<String> problem) {

    /** The hint in messages about servers that cannot be reached. */
    static final String HINT =
            "Start \"jrdma volume serve\" there first, or name other servers with --servers.";

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Queries all servers of the settings at the same time. */
    static List<QueriedServer> all(NodeSettings settings) {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var queries =
                    settings.servers().stream()
                            .map(server ->
                                    CompletableFuture.supplyAsync(
                                            () -> query(settings, server), threads))
                            .toList();
            return queries.stream().map(CompletableFuture::join).toList();
        }
    }

    private static QueriedServer query(NodeSettings settings, List<String> addresses) {
        Optional<ServerStatus> state = Optional.empty();
        try (var query = ServerQuery.open(addresses, settings.nodeOptions(), TIMEOUT)) {
            state = Optional.of(query.server());
            var clients = state.get().isCoordinator() ? query.clients() : List.<ClientReport>of();
            return new QueriedServer(addresses, state, clients, Optional.empty());
        } catch (FabricException e) {
            return new QueriedServer(addresses, state, List.of(), Optional.of(e.getMessage()));
        }
    }
}
