package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.perf.TemporaryFolder;
import org.jrdma.ffi.ConfiguredFabric;
import org.jrdma.ffi.FabricException;
import org.jrdma.verbs.Verbs;
import org.jrdma.volume.NodeSettings;
import org.jrdma.volume.net.TransportKind;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Shows that a volume survives the loss of its coordinator. */
@Command(
        name = "demo",
        description =
                "Starts a coordinator and a standby on a temporary file, writes files with two clients, kills the coordinator during the writes, and compares the checksums of all files. Uses the software fabric if the machine has no RDMA device.",
        mixinStandardHelpOptions = true)
public final class FailoverDemoCommand implements Callable<Integer> {

    private static final String SISCI_FABRIC = "jrdma.sisci.fabric";

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Option(
            names = {"-t", "--transports"},
            paramLabel = "TRANSPORTS",
            defaultValue = "verbs,sockets",
            description =
                    "The transports, the most preferred first: verbs, sisci, sockets (default: ${DEFAULT-VALUE}).")
    private String transports;

    @Override
    public Integer call() throws IOException {
        var settings = settings();
        var folder = TemporaryFolder.create("jrdma-volume-");
        selectFabrics(folder);
        var result = new Demo(settings.transports(), this::print).run(folder.resolve("drive"));
        if (output.isJson()) {
            command.commandLine().getOut().println(Json.of(result));
        }
        return result.isSuccess() ? 0 : 1;
    }

    private NodeSettings settings() throws IOException {
        NodeSettings settings;
        try {
            settings = NodeSettings.read(Optional.empty(), Map.of("transports", transports));
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
        if (!settings.transports().contains(TransportKind.SOCKETS)) {
            throw new ParameterException(
                    command.commandLine(),
                    "The servers of the demo find each other over sockets. Add sockets to the transports.");
        }
        return settings;
    }

    /** Selects the fabrics of this process and its children. */
    private static void selectFabrics(Path folder) {
        if (System.getProperty(ConfiguredFabric.PROPERTY) == null && !hasDevice()) {
            System.setProperty(ConfiguredFabric.PROPERTY, "software");
        }
        if (System.getProperty(SISCI_FABRIC)
                == null) { // a killed process does not delete its files
            System.setProperty(SISCI_FABRIC, folder.resolve("fabric").toString());
        }
    }

    private static boolean hasDevice() {
        try {
            return !Verbs.system().devices().isEmpty();
        } catch (FabricException _) { // there is no library
            return false;
        }
    }

    private void print(String line) {
        if (!output.isJson()) {
            command.commandLine().getOut().println(line);
            command.commandLine().getOut().flush();
        }
    }
}
