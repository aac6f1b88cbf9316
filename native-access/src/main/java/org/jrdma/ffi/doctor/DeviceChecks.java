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

/** The kernel's RDMA devices: their files in /dev, their ports and addresses. */
public final class DeviceChecks {

    private static final String DEVICES = "sys/class/infiniband";
    private static final String VERBS = "sys/class/infiniband_verbs";
    private static final String NO_GID = "0000:0000:0000:0000:0000:0000:0000:0000";

    /** What RoCE's headers take of a frame's payload at most. */
    private static final int HEADERS = 100;

    private static final int LARGEST_MTU = 4096;
    private static final int SMALLEST_MTU = 256;

    private DeviceChecks() {}

    /** Whether the kernel has any. */
    public static boolean hasDevices(Machine machine) {
        return !machine.names(DEVICES).isEmpty();
    }

    /** All of them. */
    public static Stream<Finding> on(Machine machine) {
        if (!hasDevices(machine)) {
            return Stream.of(
                    Finding.absent(
                            "RDMA devices",
                            "none",
                            "Load the adapter's driver, or make one of a network interface with \"rdma link add rxe0 type rxe netdev eth0\"."
                                    + " The software fabric needs none: -Djrdma.fabric=software."));
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

    private static Finding file(String device, Machine machine) {
        for (var verbs : machine.names(VERBS)) {
            if (machine.line(VERBS + "/" + verbs + "/ibdev").equals(Optional.of(device))) {
                return usable(device, "/dev/infiniband/" + verbs, "the device", machine);
            }
        }
        return Finding.broken(
                device,
                "the kernel offers it to no program",
                "the device cannot be opened",
                "modprobe ib_uverbs");
    }

    private static Finding managerFile(Machine machine) {
        var name = "rdma_cm";
        return machine.has("dev/infiniband/rdma_cm") || machine.has("sys/class/misc/rdma_cm")
                ? usable(name, "/dev/infiniband/rdma_cm", "a connection by address", machine)
                : Finding.broken(
                        name,
                        "/dev/infiniband/rdma_cm is missing",
                        "no connection by address can be made",
                        "modprobe rdma_ucm");
    }

    private static Finding usable(String subject, String path, String what, Machine machine) {
        var file = machine.file(path.substring(1));
        if (!Files.exists(file)) {
            return Finding.broken(
                    subject,
                    path + " is missing",
                    what + " cannot be opened",
                    "In a container, pass it in: --device " + path + ".");
        }
        if (!Files.isReadable(file) || !Files.isWritable(file)) {
            return Finding.broken(
                    subject,
                    path + " is not for this user",
                    what + " cannot be opened",
                    "chmod a+rw " + path + ", for good by a rule of udev");
        }
        return Finding.fine(subject, path + " can be opened");
    }

    private static List<Finding> port(String device, String port, Machine machine) {
        var folder = "%s/%s/ports/%s".formatted(DEVICES, device, port);
        var subject = "%s port %s".formatted(device, port);
        var state = machine.line(folder + "/state").orElse("unknown");
        var interfaces = interfaces(folder, machine);
        if (!state.endsWith("ACTIVE")) {
            return List.of(
                    Finding.broken(
                            subject,
                            "its state is " + state,
                            "nothing can be sent or received by it",
                            interfaces.isEmpty()
                                    ? "Plug the cable in; on InfiniBand, see to it that a subnet manager runs."
                                    : "ip link set %s up".formatted(interfaces.getFirst())));
        }
        var findings = new ArrayList<>(List.of(Finding.fine(subject, "active")));
        if (isRoce(device, folder, machine)) {
            findings.add(addresses(subject, folder, interfaces, machine));
            interfaces.forEach(name -> mtu(subject, name, machine).ifPresent(findings::add));
        }
        return findings;
    }

    private static boolean isRoce(String device, String folder, Machine machine) {
        var isIwarp =
                machine.line("%s/%s/node_type".formatted(DEVICES, device))
                        .map(type -> type.endsWith("RNIC"))
                        .orElse(false);
        return machine.line(folder + "/link_layer").equals(Optional.of("Ethernet")) && !isIwarp;
    }

    /** A peer's cannot be seen; but who has two of his own most likely has forgotten one. */
    private static Optional<Finding> unequalMtus(Machine machine) {
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
        var remedies =
                mtus.entrySet().stream()
                        .filter(entry -> entry.getValue() < most)
                        .map(entry -> "ip link set %s mtu %d".formatted(entry.getKey(), most))
                        .collect(Collectors.joining("; "));
        return Optional.of(
                Finding.doubtful(
                        "MTU",
                        "not the same on all interfaces: " + mtus,
                        "between two that differ small messages arrive, and large ones do not",
                        remedies + "; if their peers and the switches between have as much"));
    }

    /** Those that the rows of the GID table belong to. */
    private static List<String> interfaces(String folder, Machine machine) {
        var table = folder + "/gid_attrs/ndevs";
        return machine.names(table).stream()
                .flatMap(row -> machine.line(table + "/" + row).stream())
                .distinct()
                .toList();
    }

    private static Finding addresses(
            String subject, String folder, List<String> interfaces, Machine machine) {
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
        var remedy = "ip address add ADDRESS/24 dev " + name;
        if (gids.isEmpty()) {
            return Finding.broken(
                    subject + " addresses",
                    "there is no GID",
                    "no queue pair can be connected",
                    remedy);
        }
        if (routed.isEmpty()) {
            return Finding.doubtful(
                    subject + " addresses",
                    "no GID of RoCE v2 but such as are for this link only",
                    "peers beyond the link cannot be reached, and peers that choose another type do not answer",
                    remedy);
        }
        return Finding.fine(
                subject + " addresses",
                "%d GIDs, %d of them of RoCE v2 and not for this link only"
                        .formatted(gids.size(), routed.size()));
    }

    private static boolean isUsed(String folder, String row, Machine machine) {
        return machine.line(folder + "/gids/" + row).map(gid -> !gid.equals(NO_GID)).orElse(false);
    }

    private static Optional<Finding> mtu(String subject, String name, Machine machine) {
        return machine.line("sys/class/net/" + name + "/mtu")
                .map(Integer::parseInt)
                .map(mtu -> {
                    var payload = LARGEST_MTU;
                    while (payload > SMALLEST_MTU && payload + HEADERS > mtu) {
                        payload /= 2;
                    }
                    var seen =
                            "%s has %d, which leaves %d for a packet's payload"
                                    .formatted(name, mtu, payload);
                    return payload == LARGEST_MTU
                            ? Finding.fine(subject + " MTU", seen)
                            : Finding.doubtful(
                                    subject + " MTU",
                                    seen,
                                    "large transfers are slower; and where the peer has another MTU, the larger packets are lost",
                                    "ip link set %s mtu 4200, on both sides and on the switches between"
                                            .formatted(name));
                });
    }
}
