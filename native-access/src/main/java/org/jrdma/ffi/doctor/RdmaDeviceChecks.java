package org.jrdma.ffi.doctor;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Checks of the kernel's RDMA devices: their files in /dev, ports and addresses. */
public final class RdmaDeviceChecks {

    private static final String DEVICES = "sys/class/infiniband";
    private static final String VERBS = "sys/class/infiniband_verbs";
    private static final String NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

    /**
     * The maximum size in bytes of the headers of a RoCE packet, which the MTU of the Ethernet
     * interface includes.
     */
    private static final int HEADERS = 100;

    private static final int LARGEST_MTU = 4096;
    private static final int SMALLEST_MTU = 256;

    private RdmaDeviceChecks() {}

    /** Returns true if the kernel has an RDMA device. */
    public static boolean hasDevices(MachineFiles machine) {
        return !machine.names(DEVICES).isEmpty();
    }

    /** Runs all checks of this class on a machine. */
    public static Stream<Finding> on(MachineFiles machine) {
        if (!hasDevices(machine)) {
            return Stream.of(
                    Finding.absent(
                            "RDMA devices",
                            "none",
                            "Load the adapter's driver, or create a device for a network interface with \"rdma link add rxe0 type rxe netdev eth0\"."
                                    + " The software fabric needs no device: -Djrdma.fabric=software."));
        }
        var findings = new ArrayList<Finding>();
        for (var device : machine.names(DEVICES)) {
            findings.add(file(device, machine));
            for (var port : machine.names(DEVICES + "/" + device + "/ports")) {
                findings.addAll(port(device, port, machine));
            }
        }
        unequalMtus(machine).ifPresent(findings::add);
        findings.add(managerFile(machine));
        return findings.stream();
    }

    private static Finding file(String device, MachineFiles machine) {
        for (var verbs : machine.names(VERBS)) {
            if (machine.line(VERBS + "/" + verbs + "/ibdev").equals(Optional.of(device))) {
                return usable(device, "/dev/infiniband/" + verbs, "the device", machine);
            }
        }
        return Finding.broken(
                device,
                "the kernel provides no device file",
                "the device cannot be opened",
                "modprobe ib_uverbs");
    }

    private static Finding managerFile(MachineFiles machine) {
        var name = "rdma_cm";
        return machine.has("dev/infiniband/rdma_cm") || machine.has("sys/class/misc/rdma_cm")
                ? usable(name, "/dev/infiniband/rdma_cm", "a connection by address", machine)
                : Finding.broken(
                        name,
                        "/dev/infiniband/rdma_cm is missing",
                        "connections by address are not possible",
                        "modprobe rdma_ucm");
    }

    private static Finding usable(
            String subject, String path, String affected, MachineFiles machine) {
        var file = machine.file(path.substring(1));
        if (!Files.exists(file)) {
            return Finding.broken(
                    subject,
                    path + " is missing",
                    affected + " cannot be opened",
                    "In a container, add the option --device " + path + ".");
        }
        if (!Files.isReadable(file) || !Files.isWritable(file)) {
            return Finding.broken(
                    subject,
                    "this user may not open " + path,
                    affected + " cannot be opened",
                    "chmod a+rw " + path + ", or permanently by a udev rule");
        }
        return Finding.fine(subject, path + " can be opened");
    }

    private static List<Finding> port(String device, String port, MachineFiles machine) {
        var folder = "%s/%s/ports/%s".formatted(DEVICES, device, port);
        var subject = "%s port %s".formatted(device, port);
        var state = machine.line(folder + "/state").orElse("unknown");
        var interfaces = interfaces(folder, machine);
        if (!state.endsWith("ACTIVE")) {
            return List.of(
                    Finding.broken(
                            subject,
                            "the state is " + state,
                            "the port cannot send or receive",
                            interfaces.isEmpty()
                                    ? "Check the cable and, on InfiniBand, that a subnet manager is running."
                                    : "ip link set %s up".formatted(interfaces.getFirst())));
        }
        var findings = new ArrayList<>(List.of(Finding.fine(subject, "active")));
        if (isRoce(device, folder, machine)) {
            findings.add(addresses(subject, folder, interfaces, machine));
            interfaces.forEach(name -> mtu(subject, name, machine).ifPresent(findings::add));
        }
        return findings;
    }

    private static boolean isRoce(String device, String folder, MachineFiles machine) {
        var isIwarp =
                machine.line("%s/%s/node_type".formatted(DEVICES, device))
                        .map(type -> type.endsWith("RNIC"))
                        .orElse(false);
        return machine.line(folder + "/link_layer").equals(Optional.of("Ethernet")) && !isIwarp;
    }

    /**
     * Checks that all RDMA interfaces of this machine have the same MTU. The MTU of a peer cannot
     * be checked, but different MTUs on one machine suggest that an interface was not configured.
     */
    private static Optional<Finding> unequalMtus(MachineFiles machine) {
        var mtus = new TreeMap<String, Integer>();
        for (var device : machine.names(DEVICES)) {
            for (var port : machine.names(DEVICES + "/" + device + "/ports")) {
                var folder = "%s/%s/ports/%s".formatted(DEVICES, device, port);
                if (isRoce(device, folder, machine)) {
                    for (var name : interfaces(folder, machine)) {
                        machine.line("sys/class/net/" + name + "/mtu")
                                .ifPresent(mtu -> mtus.put(name, Integer.parseInt(mtu)));
                    }
                }
            }
        }
        if (new HashSet<>(mtus.values()).size() < 2) {
            return Optional.empty();
        }
        var most = Collections.max(mtus.values());
        var fixes =
                mtus.entrySet().stream()
                        .filter(entry -> entry.getValue() < most)
                        .map(entry -> "ip link set %s mtu %d".formatted(entry.getKey(), most))
                        .collect(Collectors.joining("; "));
        return Optional.of(
                Finding.doubtful(
                        "MTU",
                        "different on the interfaces: " + mtus,
                        "between interfaces with different MTUs, large messages do not arrive",
                        fixes + "; if the peers and the switches support this MTU"));
    }

    /** Returns the names of the network interfaces that the port's GID table contains. */
    private static List<String> interfaces(String folder, MachineFiles machine) {
        var table = folder + "/gid_attrs/ndevs";
        return machine.names(table).stream()
                .flatMap(row -> machine.line(table + "/" + row).stream())
                .distinct()
                .toList();
    }

    private static Finding addresses(
            String subject, String folder, List<String> interfaces, MachineFiles machine) {
        var gids =
                machine.names(folder + "/gids").stream()
                        .filter(row -> isUsed(folder, row, machine))
                        .toList();
        var routed =
                gids.stream()
                        .filter(row ->
                                machine.line(folder + "/gid_attrs/types/" + row)
                                        .map(type -> type.equals("RoCE v2"))
                                        .orElse(false))
                        .filter(row ->
                                !machine.line(folder + "/gids/" + row)
                                        .orElse(NO_GID)
                                        .startsWith("fe80:"))
                        .toList();
        var name = interfaces.isEmpty() ? "eth0" : interfaces.getFirst();
        var fix = "ip address add ADDRESS/24 dev " + name;
        if (gids.isEmpty()) {
            return Finding.broken(
                    subject + " addresses",
                    "there is no GID",
                    "queue pairs cannot be connected",
                    fix);
        }
        if (routed.isEmpty()) {
            return Finding.doubtful(
                    subject + " addresses",
                    "all GIDs of RoCE v2 are link-local",
                    "peers beyond the link cannot be reached, and peers that use another GID type do not respond",
                    fix);
        }
        return Finding.fine(
                subject + " addresses",
                "%d GIDs, of which %d are of RoCE v2 and not link-local"
                        .formatted(gids.size(), routed.size()));
    }

    private static boolean isUsed(String folder, String row, MachineFiles machine) {
        return machine.line(folder + "/gids/" + row).map(gid -> !gid.equals(NO_GID)).orElse(false);
    }

    private static Optional<Finding> mtu(String subject, String name, MachineFiles machine) {
        return machine.line("sys/class/net/" + name + "/mtu")
                .map(Integer::parseInt)
                .map(mtu -> {
                    var payload = LARGEST_MTU;
                    while (payload > SMALLEST_MTU && payload + HEADERS > mtu) {
                        payload /= 2;
                    }
                    var observation =
                            "%s has %d, which leaves %d for the payload of a packet"
                                    .formatted(name, mtu, payload);
                    return payload == LARGEST_MTU
                            ? Finding.fine(subject + " MTU", observation)
                            : Finding.doubtful(
                                    subject + " MTU",
                                    observation,
                                    "large transfers are slower, and if the peer has a smaller MTU, large packets are lost",
                                    "ip link set %s mtu 4200, on both sides and on the switches in between"
                                            .formatted(name));
                });
    }
}
