package org.jrdma.sockets.rsocket;

import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.doctor.MachineFiles;

/**
 * The IP addresses of this machine that RDMA devices can use: those of the network interfaces of
 * the devices. iWARP devices are excluded, because they share their ports with TCP. Safe for use by
 * multiple threads.
 */
final class RdmaAddresses {

    private static final String DEVICES = "sys/class/infiniband";

    /**
     * The time for which the names of the interfaces are cached. They are expensive to read,
     * because the GID table of a device consists of a thousand files.
     */
    private static final Duration CACHE_LIFETIME = Duration.ofSeconds(10);

    private final MachineFiles machine;

    private Set<String> known = Set.of();
    private Deadline knownUntil = Deadline.after(Duration.ZERO);

    RdmaAddresses(MachineFiles machine) {
        this.machine = machine;
    }

    /**
     * Returns the reason why no RDMA device of this machine can be used; empty if a device has a
     * network interface.
     */
    Optional<String> whyNone() {
        var devices = machine.names(DEVICES);
        if (devices.isEmpty()) {
            return Optional.of("this machine has no RDMA device");
        }
        if (devices.stream().allMatch(this::isIwarp)) {
            return Optional.of(
                    "all RDMA devices are iWARP devices, which share their ports with TCP");
        }
        return interfaces().isEmpty()
                ? Optional.of(
                        "no RDMA device has a network interface: " + String.join(", ", devices))
                : Optional.empty();
    }

    /** Returns the names of the network interfaces of the RDMA devices. */
    synchronized Set<String> interfaces() {
        if (knownUntil.hasPassed()) {
            known =
                    machine.names(DEVICES).stream()
                            .filter(device -> !isIwarp(device))
                            .flatMap(device -> interfacesOf(device).stream())
                            .collect(Collectors.toUnmodifiableSet());
            knownUntil = Deadline.after(CACHE_LIFETIME);
        }
        return known;
    }

    private boolean isIwarp(String device) {
        return machine.line("%s/%s/node_type".formatted(DEVICES, device))
                .filter(type -> type.endsWith("RNIC"))
                .isPresent();
    }

    private Set<String> interfacesOf(String device) {
        var folder = DEVICES + "/" + device;
        var names = new TreeSet<>(machine.names(folder + "/device/net"));
        for (var port : machine.names(folder + "/ports")) {
            var table = "%s/ports/%s/gid_attrs/ndevs".formatted(folder, port);
            for (var row : machine.names(table)) {
                machine.line(table + "/" + row).ifPresent(names::add);
            }
        }
        return names;
    }

    /** Returns true if {@code address} is an address of an RDMA device. */
    boolean has(InetAddress address) {
        try {
            var owner = NetworkInterface.getByInetAddress(address);
            return owner != null && interfaces().contains(owner.getName());
        } catch (SocketException e) {
            return false;
        }
    }

    /** Returns the addresses of all RDMA devices, except for link-local addresses. */
    List<InetAddress> all() {
        return interfaces().stream()
                .sorted()
                .flatMap(name -> addressesOf(name).stream())
                .filter(address -> !address.isLinkLocalAddress())
                .toList();
    }

    private static List<InetAddress> addressesOf(String name) {
        try {
            var found = NetworkInterface.getByName(name);
            return found == null ? List.of() : Collections.list(found.getInetAddresses());
        } catch (SocketException e) {
            return List.of();
        }
    }
}
