package org.jrdma.ffi.doctor;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/** What stands between this machine and its peers. */
public final class ConnectionChecks {

    /** RoCE's, as the kernel's tables say it. */
    private static final String ROCE_PORT = ":12B7";

    private static final String ANY_IPV4 = "00000000";
    private static final String ANY_IPV6 = "0".repeat(32);
    private static final String INFINIBAND_INTERFACE = "32";

    private ConnectionChecks() {}

    /** All of them. */
    public static Stream<Finding> on(Machine machine) {
        return Stream.of(
                        Stream.of(rocePort(machine), firewall(machine), resolver(machine)),
                        ipOverInfiniband(machine))
                .flatMap(findings -> findings);
    }

    /** The kernel's rdma_rxe takes it at all addresses, a software device at its own. */
    private static Finding rocePort(Machine machine) {
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
                    "taken at all addresses, by rdma_rxe most likely",
                    "the software fabric cannot have a device in this network namespace",
                    "Run it in another one, a container say; or give the device up: rdma link delete rxe0.");
        }
        return Finding.fine(
                "UDP port 4791",
                holders.isEmpty()
                        ? "free"
                        : "taken at %d of this machine's addresses".formatted(holders.size()));
    }

    private static Finding firewall(Machine machine) {
        var subject = "firewall";
        if (!machine.isThisOne()) {
            return Finding.hidden(subject, "this is not the machine that runs here");
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
                    : Finding.hidden(subject, "its rules are not for this user");
        } catch (IOException e) {
            return Finding.hidden(subject, "its rules cannot be seen without nft");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Finding.hidden(subject, "interrupted");
        }
    }

    /** Of nft's rules, as it lists them. */
    public static Finding firewall(List<String> rules) {
        return new FirewallRules(rules)
                .objection()
                .map(objection ->
                        Finding.doubtful(
                                "firewall",
                                objection,
                                "packets of RoCE from other machines do not arrive",
                                "firewall-cmd --add-port=4791/udp where firewalld runs; else nft insert rule inet filter input udp dport 4791 accept"))
                .orElse(Finding.fine("firewall", "nft's rules do not speak against UDP port 4791"));
    }

    /** The address resolver ibacm, which stalls connections. */
    public static Finding resolver(Machine machine) {
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
                        "it runs",
                        "librdmacm asks it before each connection by name or address, and waits where it knows no answer",
                        "systemctl stop ibacm.socket ibacm.service")
                : Finding.fine("ibacm", "does not run");
    }

    /** The mode of each interface that carries IP over InfiniBand. */
    public static Stream<Finding> ipOverInfiniband(Machine machine) {
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
                                    "its connections can stall when a peer goes away, and newer drivers have no such mode",
                                    "echo datagram > /sys/class/net/%s/mode".formatted(name))
                            : Finding.fine(name, "IP over InfiniBand in mode " + mode);
                });
    }
}
