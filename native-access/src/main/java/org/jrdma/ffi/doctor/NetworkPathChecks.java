package org.jrdma.ffi.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** Checks of the network path between this machine and its peers. */
public final class NetworkPathChecks {

    /** The UDP port 4791 of RoCE v2 in hexadecimal, as in /proc/net/udp. */
    private static final String ROCE_PORT = ":12B7";

    private static final String ANY_IPV4 = "00000000";
    private static final String ANY_IPV6 = "0".repeat(32);
    private static final String INFINIBAND_INTERFACE = "32";

    private NetworkPathChecks() {}

    /** Runs all checks of this class on a machine. */
    public static Stream<Finding> on(MachineFiles machine) {
        return Stream.of(
                        Stream.of(rocePort(machine), firewall(machine), resolver(machine)),
                        ipOverInfiniband(machine))
                .flatMap(findings -> findings);
    }

    /**
     * Checks which sockets use UDP port 4791. The kernel driver rdma_rxe uses the port at all
     * addresses, and a device of the software fabric at its own address.
     */
    private static Finding rocePort(MachineFiles machine) {
        var holders =
                Stream.of("proc/net/udp", "proc/net/udp6")
                        .flatMap(table -> machine.lines(table).stream())
                        .map(line -> line.strip().split("\\s+", -1))
                        .filter(fields -> fields.length > 1 && fields[1].endsWith(ROCE_PORT))
                        .map(fields -> fields[1].substring(0, fields[1].indexOf(':')))
                        .toList();
        if (holders.contains(ANY_IPV4) || holders.contains(ANY_IPV6)) {
            return Finding.doubtful(
                    "UDP port 4791",
                    "in use at all addresses, most likely by rdma_rxe",
                    "the software fabric cannot create a device in this network namespace",
                    "Use another network namespace, such as that of a container, or delete the device with \"rdma link delete rxe0\".");
        }
        return Finding.fine(
                "UDP port 4791",
                holders.isEmpty()
                        ? "free"
                        : "in use at %d of this machine's addresses".formatted(holders.size()));
    }

    private static Finding firewall(MachineFiles machine) {
        var subject = "firewall";
        if (!machine.isLocal()) {
            return Finding.unknown(subject, "the checked files are not those of this machine");
        }
        try {
            var process =
                    new ProcessBuilder("nft", "list", "ruleset")
                            .redirectError(ProcessBuilder.Redirect.DISCARD)
                            .start();
            var rules =
                    new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8)
                            .lines()
                            .toList();
            return process.waitFor() == 0
                    ? firewall(rules)
                    : Finding.unknown(subject, "this user may not list its rules");
        } catch (IOException e) {
            return Finding.unknown(subject, "nft, which lists its rules, is not installed");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Finding.unknown(subject, "interrupted");
        }
    }

    /**
     * Checks whether firewall rules, as listed by {@code nft list ruleset}, block UDP port 4791.
     */
    public static Finding firewall(List<String> rules) {
        return new FirewallRules(rules)
                .blockedBy()
                .map(reason ->
                        Finding.doubtful(
                                "firewall",
                                reason,
                                "RoCE packets from other machines do not arrive",
                                "With firewalld: firewall-cmd --add-port=4791/udp. Otherwise: nft insert rule inet filter input udp dport 4791 accept"))
                .orElse(Finding.fine("firewall", "the nft rules do not block UDP port 4791"));
    }

    /**
     * Checks whether the address resolver ibacm is running: librdmacm then queries it before each
     * connection, which can take long.
     */
    public static Finding resolver(MachineFiles machine) {
        var runs =
                machine.names("proc").stream()
                        .filter(name -> Character.isDigit(name.charAt(0)))
                        .anyMatch(process ->
                                machine.line("proc/" + process + "/comm")
                                        .map(name -> name.equals("ibacm"))
                                        .orElse(false));
        return runs
                ? Finding.doubtful(
                        "ibacm",
                        "running",
                        "librdmacm queries it before each connection by name or address, and waits if it has no answer",
                        "systemctl stop ibacm.socket ibacm.service")
                : Finding.fine("ibacm", "not running");
    }

    /**
     * Checks the mode (connected or datagram) of each interface that carries IP over InfiniBand.
     */
    public static Stream<Finding> ipOverInfiniband(MachineFiles machine) {
        return machine.names("sys/class/net").stream()
                .filter(name ->
                        machine.line("sys/class/net/" + name + "/type")
                                .map(INFINIBAND_INTERFACE::equals)
                                .orElse(false))
                .map(name -> {
                    var mode = machine.line("sys/class/net/" + name + "/mode").orElse("unknown");
                    return mode.equals("connected")
                            ? Finding.doubtful(
                                    name,
                                    "IP over InfiniBand in connected mode",
                                    "connections can stall when a peer disappears, and newer drivers do not support this mode",
                                    "echo datagram > /sys/class/net/%s/mode".formatted(name))
                            : Finding.fine(name, "IP over InfiniBand in mode " + mode);
                });
    }
}
