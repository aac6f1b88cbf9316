package org.jrdma.cli.nvme;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jrdma.cli.output.FabricDeviceId;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.cli.perf.ChildProcessPeer;
import org.jrdma.ffi.AddressText;
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

/** Serves a file, memory or a drive. */
@Command(
        name = "serve",
        description =
                "Serves a file, memory or a drive to hosts of a network until it is stopped by Ctrl+C. There is no authentication and no encryption: use a trusted network.",
        mixinStandardHelpOptions = true)
public final class ServeCommand implements Callable<Integer> {

    private static final String MEMORY = "memory";
    private static final String DEFAULT_SIZE = "64";
    private static final String DEFAULT_BLOCK_BYTES = "512";
    private static final long MEBIBYTE = 1 << 20;
    private static final int SERIAL_DIGITS = 14;
    private static final int FIRST_NAMESPACE = 1;
    private static final Duration GROWTH_CHECK = Duration.ofSeconds(1);
    private static final Pattern PCI_FUNCTION =
            Pattern.compile("[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7]");

    /**
     * The first line of the output.
     *
     * @param blocks the number of blocks of the first namespace
     * @param blockBytes the size of its blocks
     */
    record Served(
            String name, List<String> addresses, int namespaces, long blocks, int blockBytes) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "STORAGE",
            description =
                    "A file, which is created if it does not exist; it may grow while it is served; memory, which is lost at the end; the fabric device id of a lent NVMe controller, such as 0x401; or the address of a local one without a driver or with vfio-pci, such as 0000:01:00.0.")
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
                    "The qualified name of the subsystem (default: a name that a drive keeps, and a file while it is neither moved nor replaced).")
    private @Nullable String name;

    @Option(
            names = {"-s", "--size"},
            paramLabel = "MIB",
            description =
                    "The size of a file or memory in MiB (default: the size of the file, or "
                            + DEFAULT_SIZE
                            + ").")
    private @Nullable Long mebibytes;

    @Option(
            names = {"-b", "--block"},
            paramLabel = "BYTES",
            description =
                    "The size of a block of a file or memory, 512 to 4,096 (default: "
                            + DEFAULT_BLOCK_BYTES
                            + ").")
    private @Nullable Integer blockBytes;

    @Option(
            names = "--allow",
            paramLabel = "NQN",
            description =
                    "The name of a host that may connect. Can be repeated (default: all hosts).")
    private Set<String> hosts = Set.of();

    @Option(
            names = "--refer",
            paramLabel = "ADDRESS",
            converter = AddressConverter.class,
            description =
                    "The address of another target, to which hosts that discover subsystems are referred. Can be repeated.")
    private List<InetSocketAddress> referrals = List.of();

    @Option(names = ChildProcessPeer.OPTION, hidden = true)
    private boolean isChild;

    @Override
    public Integer call() throws IOException {
        checkOptions();
        var options = targetOptions();
        if (isChild) {
            ChildProcessPeer.exitWithParent();
        }
        try (var _ = openSoftwareDevice();
                var served = open()) {
            var subsystem = newSubsystem(served.id(), name);
            for (var namespace : served.namespaces()) {
                var _ = subsystem.addNamespace(namespace);
            }
            var growth = growth(subsystem, served);
            try (var target = NvmeTarget.listen(address, options)) {
                closeAtEnd(target, served);
                if (hosts.isEmpty()) {
                    target.export(subsystem);
                } else {
                    target.export(subsystem, hosts);
                }
                print(subsystem, target, served.namespaces());
                serveUntilInterrupted(growth);
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
    static Subsystem newSubsystem(UUID id, @Nullable String name) {
        return new Subsystem(
                "jrdma-" + id.toString().replace("-", "").substring(0, SERIAL_DIGITS),
                "jrdma target",
                name == null ? QualifiedName.of(id) : name);
    }

    private void checkOptions() {
        if ((isBorrowedDrive() || isLocalDrive()) && (mebibytes != null || blockBytes != null)) {
            throw new ParameterException(
                    command.commandLine(),
                    "The options --size and --block apply to a file or memory, not to a drive");
        }
        if (mebibytes != null && mebibytes <= 0) {
            throw new ParameterException(
                    command.commandLine(), "The size must be positive, but is " + mebibytes);
        }
    }

    private TargetOptions targetOptions() {
        try {
            return TargetOptions.DEFAULTS.referrals(referrals);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(command.commandLine(), e.getMessage(), e);
        }
    }

    private boolean isBorrowedDrive() {
        return FabricDeviceId.FORM.matcher(storage).matches();
    }

    private boolean isLocalDrive() {
        return PCI_FUNCTION.matcher(storage).matches();
    }

    private ServedStorage open() throws IOException {
        if (isBorrowedDrive()) {
            return ServedStorage.onBorrowedDrive(FabricDeviceId.parse(storage));
        }
        return isLocalDrive() ? ServedStorage.onLocalDrive(storage) : openBlocks();
    }

    private ServedStorage openBlocks() throws IOException {
        var isMemory = storage.equals(MEMORY);
        var file = Path.of(storage);
        var bytes =
                mebibytes != null
                        ? mebibytes * MEBIBYTE
                        : !isMemory && Files.exists(file) && Files.size(file) > 0
                                ? Files.size(file)
                                : Long.parseLong(DEFAULT_SIZE) * MEBIBYTE;
        var bytesOfBlock = blockBytes != null ? blockBytes : Integer.parseInt(DEFAULT_BLOCK_BYTES);
        return isMemory
                ? ServedStorage.inMemory(bytes, bytesOfBlock)
                : ServedStorage.inFile(file, bytes, bytesOfBlock);
    }

    /**
     * Stops a local drive when this process ends. Otherwise, it could write to memory that belongs
     * to another process by then.
     */
    private void closeAtEnd(NvmeTarget target, ServedStorage served) {
        if (isLocalDrive()) {
            Runtime.getRuntime()
                    .addShutdownHook(
                            new Thread(() -> {
                                target.close();
                                served.close();
                            }));
        }
    }

    /** Returns false if the size of the file cannot be determined or used any more. */
    private boolean follow(FileGrowth growth) {
        var notes = command.commandLine().getErr();
        try {
            if (growth.follow()) {
                notes.println("The file has grown, and so has its namespace.");
            }
            return true;
        } catch (IOException e) { // hosts can still use the blocks
            notes.println(PrintableText.of("The size of the file is not followed any more: " + e));
            return false;
        }
    }

    private void print(Subsystem subsystem, NvmeTarget target, List<BlockStorage> namespaces) {
        var first = namespaces.getFirst();
        var served =
                new Served(
                        subsystem.qualifiedName(),
                        target.addresses().stream().map(AddressText::of).toList(),
                        namespaces.size(),
                        first.blocks(),
                        1 << first.blockShift());
        command.commandLine()
                .getOut()
                .println(
                        output.isJson()
                                ? Json.of(served)
                                : "%s at %s: %,d blocks of %,d bytes%s, until Ctrl+C"
                                        .formatted(
                                                served.name(),
                                                String.join(", ", served.addresses()),
                                                served.blocks(),
                                                served.blockBytes(),
                                                served.namespaces() == 1
                                                        ? ""
                                                        : " in the first of %d namespaces"
                                                                .formatted(served.namespaces())));
        command.commandLine().getOut().flush();
    }

    /** Follows the size of a file, unless an option has specified the size. */
    private Optional<FileGrowth> growth(Subsystem subsystem, ServedStorage served) {
        var isFile = !isBorrowedDrive() && !isLocalDrive() && !storage.equals(MEMORY);
        return isFile && mebibytes == null
                ? Optional.of(
                        new FileGrowth(
                                Path.of(storage),
                                served.id(),
                                subsystem,
                                FIRST_NAMESPACE,
                                served.namespaces().getFirst()))
                : Optional.empty();
    }

    private void serveUntilInterrupted(Optional<FileGrowth> growth) {
        var followed = growth;
        try {
            while (true) {
                Thread.sleep(GROWTH_CHECK);
                followed = followed.filter(this::follow);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // this command ends
        }
    }
}
