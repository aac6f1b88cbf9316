package org.jrdma.nvme.soft;

import java.net.Inet6Address;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jrdma.nvme.model.ConnectData;
import org.jrdma.nvme.model.ConnectPrivateData;
import org.jrdma.nvme.model.DiscoveryEntry;
import org.jrdma.nvme.model.DiscoveryLog;
import org.jrdma.nvme.model.QualifiedName;
import org.jrdma.nvme.model.Status;
import org.jspecify.annotations.Nullable;

/**
 * The subsystems of a target, the hosts that may use them, and their controllers. Safe for use by
 * multiple threads.
 */
final class ExportedSubsystems {

    private static final int PORT_ID = 1;
    private static final int OTHER_PORT_ID = 0;

    /**
     * A subsystem.
     *
     * @param hosts the names of the hosts that may use it; null for all hosts
     */
    private record Export(Subsystem subsystem, @Nullable Set<String> hosts) {
        boolean allows(String hostName) {
            return hosts == null || hosts.contains(hostName);
        }
    }

    /** A controller id is unique only within its subsystem. */
    private record ControllerKey(String subsystemName, int controllerId) {}

    private final Map<String, Export> exports = new LinkedHashMap<>();
    private final Map<ControllerKey, TargetController> controllers = new ConcurrentHashMap<>();
    private final List<InetSocketAddress> referrals;
    private long generation;

    ExportedSubsystems(List<InetSocketAddress> referrals) {
        this.referrals = referrals;
    }

    synchronized void add(Subsystem subsystem, @Nullable Set<String> hosts) {
        var export = new Export(subsystem, hosts == null ? null : Set.copyOf(hosts));
        var name = subsystem.qualifiedName();
        if (name.equals(QualifiedName.DISCOVERY) || exports.putIfAbsent(name, export) != null) {
            throw new IllegalArgumentException(
                    "The subsystem %s is exported already".formatted(name));
        }
        generation++;
    }

    /**
     * Returns the subsystem to which a host connects.
     *
     * @param local the address at which the host has reached the target
     */
    synchronized Subsystem subsystem(ConnectData data, InetSocketAddress local)
            throws CommandException {
        if (data.subsystemName().equals(QualifiedName.DISCOVERY)) {
            return Subsystem.discovery(() -> discoveryLog(data.hostName(), local));
        }
        // the target has just started: a host that connects again must not give up
        CommandException.require(!exports.isEmpty(), Status.CONNECT_BUSY);
        var export = exports.get(data.subsystemName());
        if (export == null) {
            throw new CommandException(Status.CONNECT_PARAMETERS);
        }
        CommandException.require(export.allows(data.hostName()), Status.CONNECT_HOST);
        return export.subsystem();
    }

    private synchronized DiscoveryLog discoveryLog(String hostName, InetSocketAddress local) {
        var entries = new ArrayList<DiscoveryEntry>();
        for (var export : exports.values()) {
            if (export.allows(hostName)
                    && entries.size() < DiscoveryLog.MAX_ENTRIES - referrals.size()) {
                entries.add(
                        entry(
                                DiscoveryEntry.NVM_SUBSYSTEM,
                                PORT_ID,
                                export.subsystem().qualifiedName(),
                                local));
            }
        }
        for (var referral : referrals) {
            entries.add(
                    entry(
                            DiscoveryEntry.REFERRAL,
                            OTHER_PORT_ID,
                            QualifiedName.DISCOVERY,
                            referral));
        }
        return new DiscoveryLog(generation, List.copyOf(entries));
    }

    private static DiscoveryEntry entry(
            int kind, int portId, String name, InetSocketAddress address) {
        return new DiscoveryEntry(
                DiscoveryEntry.RDMA,
                address.getAddress() instanceof Inet6Address
                        ? DiscoveryEntry.IPV6
                        : DiscoveryEntry.IPV4,
                kind,
                portId,
                ConnectData.ANY_CONTROLLER,
                ConnectPrivateData.ADMIN_ENTRIES,
                Integer.toString(address.getPort()),
                name,
                address.getAddress().getHostAddress());
    }

    void add(ConnectData data, TargetController controller) {
        controllers.put(new ControllerKey(data.subsystemName(), controller.id()), controller);
    }

    void remove(ConnectData data, TargetController controller) {
        controllers.remove(new ControllerKey(data.subsystemName(), controller.id()), controller);
    }

    /** Returns the controller to which the I/O queue of a host belongs. */
    TargetController controller(ConnectData data) throws CommandException {
        var controller =
                controllers.get(new ControllerKey(data.subsystemName(), data.controllerId()));
        if (controller == null) {
            throw new CommandException(Status.CONNECT_PARAMETERS);
        }
        return controller;
    }
}
