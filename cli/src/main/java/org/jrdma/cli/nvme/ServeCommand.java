package org.jrdma.cli.nvme;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.perf.ChildProcess;
import org.jrdma.nvme.model.QualifiedName;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.NvmeTarget;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.nvme.soft.TargetOptions;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.Verbs;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Serves a file or memory as a drive. */
@Command(
        name = "serve",
        description =
                "Serves a file or memory as a drive until it is stopped by Ctrl+C. There is no authentication and no encryption: use a trusted network.",
        mixinStandardHelpOptions = true)
public final class ServeCommand implements Callable<Integer> {

    private static final String MEMORY = "memory";
    private static final String DEFAULT_SIZE = "64";
    private static final long MEBIBYTE = 1 << 20;
    private static final int SERIAL_DIGITS = 14;

    /** The first line of the output. */
    record Served(String name, List<String> addresses, long blocks, int blockBytes) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "STORAGE",
            description =
                    "A file, which is created if it does not exist; or memory, which is lost at the end.")
    private String storage;

    @Option(
            names = {"-a", "--address"},
            paramLabel = "ADDRESS",
            converter = AddressConverter.class,
            description =
                    "The address to listen at, with the port 4420 by default (default: all RDMA devices).")
    private InetSocketAddress address = new InetSocketAddress("0.0.0.0", NvmeTarget.PORT);

    @Option(
            names = {"-n", "--nqn"},
            paramLabel = "NQN",
            description =
                    "The qualified name of the subsystem (default: a name that a file keeps while it is neither moved nor replaced).")
    private @Nullable String name;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "MIB",
            description =
                    "The size in MiB (default: the size of the file, or " + DEFAULT_SIZE + ").")
    private long mebibytes;

    @Option(
            names = {"-b", "--block"},
            paramLabel = "BYTES",
            description = "The size of a block, 512 to 4,096 (default: ${DEFAULT-VALUE}).")
    private int blockBytes = 512;

    @Option(
            names = "--allow",
            paramLabel = "NQN",
            description =
                    "The name of a host that may connect. Can be repeated (default: all hosts).")
    private Set<String> hosts = Set.of();

    @Option(names = ChildProcess.OPTION, hidden = true)
    private boolean isChild;

    @Override
    public Integer call() throws IOException {
        if (isChild) {
            ChildProcess.exitWithParent();
        }
        try (var _ = openSoftwareDevice();
                var blocks = open()) {
            var subsystem = newSubsystem(storage, name);
            var _ = subsystem.addNamespace(blocks);
            try (var target = NvmeTarget.listen(address, TargetOptions.DEFAULTS)) {
                if (hosts.isEmpty()) {
                    target.export(subsystem);
                } else {
                    target.export(subsystem, hosts);
                }
                print(subsystem, target, blocks);
                awaitInterrupt();
            }
        }
        return 0;
    }

    /** Opens a device, without which the software fabric has no address. */
    private static Device openSoftwareDevice() throws IOException {
        return Verbs.configured().openFirst();
    }

    /**
     * Creates a subsystem with names that no other drive has, because hosts take drives with the
     * same names for one drive.
     */
    static Subsystem newSubsystem(String storage, @Nullable String name) throws IOException {
        var id = storage.equals(MEMORY) ? UUID.randomUUID() : FileIdentity.of(Path.of(storage));
        return new Subsystem(
                "jrdma-" + id.toString().replace("-", "").substring(0, SERIAL_DIGITS),
                "jrdma target",
                name == null ? QualifiedName.of(id) : name);
    }

    private BlockStorage open() throws IOException {
        if (mebibytes < 0) {
            throw new ParameterException(
                    command.commandLine(), "The size must be positive, but is " + mebibytes);
        }
        var isMemory = storage.equals(MEMORY);
        var file = Path.of(storage);
        var bytes =
                mebibytes > 0
                        ? mebibytes * MEBIBYTE
                        : !isMemory && Files.exists(file) && Files.size(file) > 0
                                ? Files.size(file)
                                : Long.parseLong(DEFAULT_SIZE) * MEBIBYTE;
        return isMemory
                ? BlockStorage.inMemory(bytes / blockBytes, blockBytes)
                : BlockStorage.inFile(file, bytes / blockBytes, blockBytes);
    }

    private void print(Subsystem subsystem, NvmeTarget target, BlockStorage blocks) {
        var served =
                new Served(
                        subsystem.qualifiedName(),
                        target.addresses().stream()
                                .map(each ->
                                        "%s:%d"
                                                .formatted(
                                                        each.getAddress().getHostAddress(),
                                                        each.getPort()))
                                .toList(),
                        blocks.blocks(),
                        blockBytes);
        command.commandLine()
                .getOut()
                .println(
                        output.isJson()
                                ? Json.of(served)
                                : "%s at %s: %,d blocks of %,d bytes, until Ctrl+C"
                                        .formatted(
                                                served.name(),
                                                String.join(", ", served.addresses()),
                                                served.blocks(),
                                                served.blockBytes()));
        command.commandLine().getOut().flush();
    }

    private static void awaitInterrupt() {
        try {
            Thread.sleep(Long.MAX_VALUE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // this command ends
        }
    }
}
