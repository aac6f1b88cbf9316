package org.jrdma.cli.volume;

import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** Lists the nodes of a volume. */
@Command(
        name = "nodes",
        description =
                "Lists the servers of a volume with their services, their interfaces in the order of preference, their versions and the capacity, and then the clients.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:all servers answer, and one is the coordinator",
            "1:a server does not answer, or there is no coordinator",
            "2:invalid command line or system property"
        })
public final class NodesCommand implements Callable<Integer> {

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;
    @Mixin private SettingsOptions settings;

    @Override
    public Integer call() throws IOException {
        var servers = QueriedServer.all(settings.read());
        var nodes = NodeStatus.all(servers);
        var hasCoordinator =
                nodes.stream().anyMatch(node -> node.role() == NodeStatus.Role.COORDINATOR);
        if (output.isJson()) {
            out().println(Json.of(nodes));
        } else {
            nodes.forEach(this::print);
            if (!hasCoordinator) {
                print(
                        "No coordinator responds. It can be a server that --servers does not contain.");
            }
        }
        var areAllHere = servers.stream().allMatch(server -> server.problem().isEmpty());
        return hasCoordinator && areAllHere ? 0 : 1;
    }

    private void print(NodeStatus node) {
        print(
                "%s: %s%s%s"
                        .formatted(
                                node.name(),
                                Json.name(node.role()),
                                node.version().map(", version "::concat).orElse(""),
                                node.epoch().map(epoch -> ", epoch " + epoch).orElse("")));
        node.problem().ifPresent(problem -> print("  " + problem));
        if (!node.services().isEmpty()) {
            print("  services: " + String.join(", ", node.services()));
        }
        for (var place : node.interfaces()) {
            print("  " + place.address() + (place.isRdma() ? " (RDMA)" : ""));
        }
        node.unavailable().forEach(reason -> print("  without " + reason));
        node.drive().ifPresent(this::print);
    }

    private void print(NodeStatus.Drive drive) {
        var size =
                String.format(
                        Locale.ROOT, "  drive: %s, %,d bytes", drive.description(), drive.bytes());
        print(size + drive.freeBytes().map(free -> use(drive, free)).orElse(""));
    }

    private static String use(NodeStatus.Drive drive, long freeBytes) {
        return String.format(
                Locale.ROOT,
                "; %,d of %,d bytes free, %,d files and folders",
                freeBytes,
                drive.dataBytes().orElse(0L),
                drive.files().orElse(0L));
    }

    private void print(String line) {
        out().println(PrintableText.of(line));
    }

    private PrintWriter out() {
        return command.commandLine().getOut();
    }
}
