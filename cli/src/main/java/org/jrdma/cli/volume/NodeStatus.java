package org.jrdma.cli.volume;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.model.ServerStatus;
import org.jrdma.volume.model.VolumeUse;
import org.jrdma.volume.net.TransportKind;

/**
 * A node of a volume, as the output of {@code jrdma volume nodes} has it.
 *
 * @param name the name; the addresses of a server that does not answer
 * @param services the services of a server: metadata and blocks
 * @param interfaces the addresses of a server, the most preferred first
 * @param unavailable the transports that a server cannot use, with the reasons
 * @param problem the reason for which a server does not answer
 */
record NodeStatus(
        String name,
        Role role,
        Optional<String> version,
        Optional<Long> epoch,
        List<String> services,
        List<Interface> interfaces,
        List<String> unavailable,
        Optional<Drive> drive,
        Optional<String> problem) {

    /** The role of a node. */
    enum Role {
        COORDINATOR,
        STANDBY,
        CLIENT,
        UNREACHABLE
    }

    /** An address of a server. */
    record Interface(String transport, String address, boolean isRdma) {}

    /** The drive of a server, and the use of the volume, which the coordinator reports. */
    record Drive(
            String description,
            long bytes,
            Optional<Long> dataBytes,
            Optional<Long> freeBytes,
            Optional<Long> files) {}

    /** Returns the servers, and the clients that are not servers. */
    static List<NodeStatus> all(List<QueriedServer> servers) {
        var nodes = new ArrayList<NodeStatus>();
        var names = new HashSet<String>();
        for (var server : servers) {
            nodes.add(
                    server.state()
                            .map(state -> of(state, server.problem()))
                            .orElseGet(() -> unreachable(server)));
            server.state().ifPresent(state -> names.add(state.name()));
        }
        for (var server : servers) {
            server.clients().stream()
                    .filter(client -> !names.contains(client.name())) // a server is a client too
                    .forEach(client -> nodes.add(of(client)));
        }
        return nodes;
    }

    private static NodeStatus of(ServerStatus state, Optional<String> problem) {
        var services = new ArrayList<String>();
        if (state.isCoordinator()) {
            services.add("metadata");
        }
        if (state.isServingBlocks()) {
            services.add("blocks");
        }
        return new NodeStatus(
                state.name(),
                state.isCoordinator() ? Role.COORDINATOR : Role.STANDBY,
                Optional.of(state.version()),
                state.isCoordinator() ? Optional.of(state.epoch()) : Optional.empty(),
                services,
                state.addresses().stream().map(NodeStatus::place).toList(),
                state.unavailable(),
                Optional.of(
                        new Drive(
                                state.drive(),
                                state.driveBytes(),
                                state.use().map(VolumeUse::totalBytes),
                                state.use().map(VolumeUse::freeBytes),
                                state.use().map(VolumeUse::files))),
                problem);
    }

    private static Interface place(String address) {
        var transport = address.substring(0, Math.max(0, address.indexOf(':')));
        return new Interface(transport, address, transport.equals(TransportKind.VERBS.toString()));
    }

    private static NodeStatus unreachable(QueriedServer server) {
        return new NodeStatus(
                String.join("+", server.addresses()),
                Role.UNREACHABLE,
                Optional.empty(),
                Optional.empty(),
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                server.problem());
    }

    private static NodeStatus of(ClientReport client) {
        return new NodeStatus(
                client.name(),
                Role.CLIENT,
                Optional.of(client.version()),
                Optional.empty(),
                List.of(),
                List.of(),
                List.of(),
                Optional.empty(),
                Optional.empty());
    }
}
