package org.jrdma.cli.volume;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.NodeSettings;
import org.jrdma.volume.ServerQuery;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ServerStatus;

/**
 * The answer of a server.
 *
 * @param addresses the addresses of the queried server in the settings
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

    /**
     * Queries all servers of the settings at the same time. If none of them is the coordinator, a
     * standby forwards a query to the coordinator, which is then the last of the result.
     */
    static List<QueriedServer> all(NodeSettings settings) {
        var servers = new ArrayList<>(named(settings));
        if (servers.stream().noneMatch(QueriedServer::isCoordinator)) {
            servers.stream()
                    .filter(server -> server.state.isPresent())
                    .map(standby -> query(settings, standby.addresses, true))
                    .filter(QueriedServer::isCoordinator)
                    .findFirst()
                    .ifPresent(servers::add);
        }
        return servers;
    }

    private boolean isCoordinator() {
        return state.filter(ServerStatus::isCoordinator).isPresent();
    }

    private static List<QueriedServer> named(NodeSettings settings) {
        try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var queries =
                    settings.servers().stream()
                            .map(server ->
                                    CompletableFuture.supplyAsync(
                                            () -> query(settings, server, false), threads))
                            .toList();
            return queries.stream().map(CompletableFuture::join).toList();
        }
    }

    private static QueriedServer query(
            NodeSettings settings, List<String> addresses, boolean isRedirected) {
        Optional<ServerStatus> state = Optional.empty();
        try (var query = ServerQuery.open(addresses, settings.nodeOptions(), TIMEOUT)) {
            if (isRedirected) {
                query.redirect();
            }
            state = Optional.of(query.server());
            var clients = state.get().isCoordinator() ? query.clients() : List.<ClientReport>of();
            return new QueriedServer(addresses, state, clients, Optional.empty());
        } catch (FabricException e) {
            return new QueriedServer(addresses, state, List.of(), Optional.of(e.getMessage()));
        }
    }
}
