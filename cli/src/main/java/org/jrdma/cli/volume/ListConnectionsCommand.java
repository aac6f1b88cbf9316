package org.jrdma.cli.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ConnectionDescription;
import org.jrdma.volume.model.DataPathState;
import org.jrdma.volume.model.RequestRedirection;
import org.jrdma.volume.model.ServerStatus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the connections of the clients of a volume. */
@Command(
        name = "net",
        description = {
            "Lists the connections of the clients of a volume: the transport, the reason why no preferred transport is used, and whether the client accesses the drive itself or its data is redirected, with the reason.",
            "The clients report this to the coordinator several times per session timeout. The servers are clients too."
        },
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done",
            "1:no server is the coordinator",
            "2:invalid command line or system property"
        })
public final class ListConnectionsCommand implements Callable<Integer> {

    /** The path of a client to metadata or data. */
    enum Path {
        NONE,
        CONNECTED,
        DIRECT,
        REDIRECTED
    }

    /** The purpose of a connection. */
    enum Purpose {
        METADATA,
        DATA
    }

    /** A connection of a client, as the output has it. */
    record Connection(
            String client,
            Purpose purpose,
            Path path,
            Optional<String> server,
            Optional<String> transport,
            Optional<String> description,
            List<String> whyNotFaster,
            Optional<String> reason,
            int switches) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;
    @Mixin private SettingsOptions settings;

    @Override
    public Integer call() throws IOException {
        var servers = QueriedServer.all(settings.read());
        var coordinator =
                servers.stream()
                        .filter(server ->
                                server.state().filter(ServerStatus::isCoordinator).isPresent())
                        .findAny()
                        .orElseThrow(() -> new IOException(missing(servers)));
        if (coordinator.problem().isPresent()) {
            throw new IOException(coordinator.problem().get());
        }
        var states = servers.stream().flatMap(server -> server.state().stream()).toList();
        var name = coordinator.state().orElseThrow().name();
        var connections = new ArrayList<Connection>();
        for (var client : coordinator.clients()) {
            connections.add(metadata(client, name));
            connections.add(data(client, states));
        }
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(connections));
        } else {
            connections.forEach(each -> out.println(PrintableText.of(line(each))));
        }
        return 0;
    }

    private static String missing(List<QueriedServer> servers) {
        var problems = servers.stream().flatMap(server -> server.problem().stream()).toList();
        return problems.isEmpty()
                ? "No server is the coordinator yet. Repeat the command when a standby has taken over."
                : "No server is the coordinator. %s. %s"
                        .formatted(String.join(". ", problems), QueriedServer.HINT);
    }

    static Connection metadata(ClientReport client, String coordinator) {
        var connection = client.coordinator();
        var redirection = client.redirection();
        return new Connection(
                client.name(),
                Purpose.METADATA,
                redirection.isPresent() ? Path.REDIRECTED : Path.CONNECTED,
                Optional.of(redirection.map(RequestRedirection::server).orElse(coordinator)),
                Optional.of(connection.transport()),
                Optional.of(connection.description()),
                connection.unused(),
                redirection.map(RequestRedirection::reason),
                0);
    }

    private static Connection data(ClientReport client, List<ServerStatus> servers) {
        var data = client.data();
        return new Connection(
                client.name(),
                Purpose.DATA,
                path(data.kind()),
                data.connection().flatMap(connection -> name(connection, servers)),
                data.connection().map(ConnectionDescription::transport),
                data.connection().map(ConnectionDescription::description),
                data.connection().map(ConnectionDescription::unused).orElse(List.of()),
                Optional.of(data.reason()),
                data.switches());
    }

    private static Path path(DataPathState.Kind kind) {
        return switch (kind) {
            case NONE -> Path.NONE;
            case DIRECT -> Path.DIRECT;
            case REDIRECTED -> Path.REDIRECTED;
        };
    }

    private static Optional<String> name(
            ConnectionDescription connection, List<ServerStatus> servers) {
        return servers.stream()
                .filter(server -> isSame(server, connection))
                .map(ServerStatus::name)
                .findAny();
    }

    /** Compares the first addresses: hosts can have the same loopback addresses behind them. */
    private static boolean isSame(ServerStatus server, ConnectionDescription connection) {
        var known = connection.server();
        return !known.isEmpty()
                && server.addresses().stream().limit(known.size()).toList().equals(known);
    }

    static String line(Connection connection) {
        var text =
                new StringBuilder(
                        "%s, %s: %s"
                                .formatted(
                                        connection.client(),
                                        Json.name(connection.purpose()),
                                        Json.name(connection.path())));
        connection.server().ifPresent(server -> text.append(" to ").append(server));
        connection.description().ifPresent(details -> text.append(" over ").append(details));
        connection.reason().ifPresent(reason -> text.append(" (").append(reason).append(')'));
        connection.whyNotFaster().forEach(reason -> text.append("; not ").append(reason));
        return text.toString();
    }
}
