package org.jrdma.cli;

import java.io.PrintWriter;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.Output;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists what there is to send data with. */
@Command(
        name = "devices",
        description =
                "Lists the RDMA devices of this machine, their ports and addresses, and its SISCI adapters; of the software fabrics, too; and which ways sockets can take.",
        mixinStandardHelpOptions = true)
final class DevicesCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private Output output;

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
            head("RDMA", library.fabric(), library.library(), library.missing(), out);
            library.devices().forEach(device -> print(device, out));
        }
        for (var library : devices.sisci()) {
            head("SISCI", library.fabric(), library.library(), library.missing(), out);
            for (var adapter : library.adapters()) {
                out.printf(
                        "  adapter %d: this is node %d%s%n",
                        adapter.number(),
                        adapter.node(),
                        adapter.linkOperational()
                                .map(operational -> operational ? ", link up" : ", link down")
                                .orElse(""));
            }
        }
        out.println("Sockets, over the first that leads to the peer:");
        for (var transport : devices.sockets()) {
            out.printf(
                    "  %s: %s%n",
                    transport.name(),
                    transport.missing().map(why -> "not here: " + why).orElse("available"));
        }
    }

    private static void head(
            String kind,
            String fabric,
            Optional<String> library,
            Optional<String> missing,
            PrintWriter out) {
        out.printf(
                "%s, %s: %s%n",
                kind,
                fabric,
                library.map(found -> found + missing.map(why -> ": " + why).orElse(""))
                        .or(() -> missing)
                        .orElseThrow());
    }

    private static void print(Devices.RdmaDevice device, PrintWriter out) {
        out.printf(
                "  %s: %s, %s%s%n",
                device.name(),
                device.node(),
                device.transport(),
                device.problem().map(problem -> ": " + problem).orElse(""));
        for (var port : device.ports()) {
            out.printf(
                    "    port %d: %s, %s, MTU %d%s%n",
                    port.number(),
                    port.state(),
                    port.link(),
                    port.mtu(),
                    port.addresses().isEmpty() ? ", no address" : "");
            var mark = "chosen";
            for (var address : port.addresses()) {
                out.printf(
                        "      %-6s GID %d: %s%s: %s%n",
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
