package org.jrdma.cli;

import static java.util.stream.Collectors.joining;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.Paragraph;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the available devices and transports. */
@Command(
        name = "devices",
        description =
                "Lists RDMA devices with their ports and addresses, SISCI adapters, devices that SISCI nodes lend, and socket transports: those of this machine and those of the software fabrics.",
        mixinStandardHelpOptions = true)
final class DevicesCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Override
    public Integer call() {
        var devices = Devices.ofThisMachine();
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(devices));
        } else {
            print(devices, out);
        }
        return 0;
    }

    private static void print(Devices devices, PrintWriter out) {
        for (var library : devices.rdma()) {
            printLibrary("RDMA", library.fabric(), library.library(), library.missing(), out);
            library.devices().forEach(device -> print(device, out));
        }
        for (var library : devices.sisci()) {
            printLibrary("SISCI", library.fabric(), library.library(), library.missing(), out);
            for (var adapter : library.adapters()) {
                out.printf(
                        "  adapter %d: node %d%s%n",
                        adapter.number(),
                        adapter.node(),
                        adapter.linkOperational()
                                .map(operational -> operational ? ", link up" : ", link down")
                                .orElse(""));
            }
            for (var device : library.lentDevices()) {
                out.println(Paragraph.wrap("  lent device " + device.text(), 4));
            }
        }
        out.println("Socket transports, in order of preference:");
        for (var transport : devices.sockets()) {
            var line =
                    "  %-12s  %s"
                            .formatted(
                                    transport.name(),
                                    transport
                                            .missing()
                                            .map(reason ->
                                                    "unavailable: " + shortened(reason, devices))
                                            .orElse("available"));
            out.println(Paragraph.wrap(line, 16));
        }
    }

    /**
     * Returns a short text for a long reason: a reference to the library for which the same reason
     * was already printed. If there is none, returns the reason itself.
     */
    private static String shortened(String reason, Devices devices) {
        var libraries =
                Stream.concat(
                        devices.rdma().stream()
                                .filter(library -> library.missing().equals(Optional.of(reason)))
                                .map(library -> "RDMA, " + library.fabric()),
                        devices.sisci().stream()
                                .filter(library -> library.missing().equals(Optional.of(reason)))
                                .map(library -> "SISCI, " + library.fabric()));
        return libraries
                .findFirst()
                .map(library -> "see \"%s\" above".formatted(library))
                .orElse(reason);
    }

    private static void printLibrary(
            String kind,
            String fabric,
            Optional<String> library,
            Optional<String> missing,
            PrintWriter out) {
        var state = Stream.of(library, missing).flatMap(Optional::stream).collect(joining(": "));
        out.println(Paragraph.wrap("%s, %s: %s".formatted(kind, fabric, state), 2));
    }

    private static void print(Devices.RdmaDevice device, PrintWriter out) {
        var line =
                "  %s: %s, %s%s"
                        .formatted(
                                device.name(),
                                Json.name(device.node()),
                                Json.name(device.transport()),
                                device.problem().map(problem -> ": " + problem).orElse(""));
        out.println(Paragraph.wrap(line, 4));
        for (var port : device.ports()) {
            out.printf(
                    "    port %d: %s, %s, MTU %d%s%n",
                    port.number(),
                    Json.name(port.state()),
                    Json.name(port.link()),
                    port.mtu(),
                    port.addresses().isEmpty() ? ", no address" : "");
            var mark = "selected";
            for (var address : port.addresses()) {
                out.printf(
                        "      %-8s  GID %d: %s%s: %s%n",
                        mark,
                        address.index(),
                        address.gid(),
                        address.netDevice().isEmpty() ? "" : " of " + address.netDevice(),
                        address.reason());
                mark = "";
            }
        }
    }
}
