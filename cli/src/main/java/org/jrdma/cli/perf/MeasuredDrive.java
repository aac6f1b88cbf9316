package org.jrdma.cli.perf;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrdma.cli.drive.BorrowedDrive;
import org.jrdma.cli.output.FabricDeviceId;
import org.jrdma.cli.output.Json;
import org.jrdma.nvme.FabricsOptions;
import org.jrdma.nvme.HostIdentity;
import org.jrdma.nvme.Nvme;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeFabrics;
import org.jrdma.nvme.NvmeOptions;
import org.jrdma.nvme.pcie.ControllerAccess;
import org.jrdma.nvme.pcie.InProcessControllerAccess;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.device.DeviceHost;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A drive to measure, and its resources. */
final class MeasuredDrive implements AutoCloseable {

    private static final int BLOCKS = 16_384;
    private static final int BLOCK_BYTES = 4096;
    private static final int BAR_BYTES = 0x4000;
    private static final int BORROWER = 1;
    private static final Pattern TARGET =
            Pattern.compile(
                    "\"name\":\"(?<name>[^\"]+)\",\"addresses\":\\[\"(?<host>[^\"]+):(?<port>\\d+)\"");

    /** The place of a controller. */
    enum Kind {
        LOCAL("a controller in this process"),
        BORROWED("a controller of another process, borrowed by SmartIO"),
        RDMA("a controller of another process, over RDMA");

        private final String description;

        Kind(String description) {
            this.description = description;
        }

        String description() {
            return description;
        }
    }

    /** Parses the name of a kind. */
    static final class KindConverter implements ITypeConverter<Kind> {
        @Override
        public Kind convert(String text) {
            return Arrays.stream(Kind.values())
                    .filter(kind -> Json.name(kind).equals(text))
                    .findFirst()
                    .orElseThrow(() ->
                            new TypeConversionException(
                                    "there is no controller \"%s\"".formatted(text)));
        }
    }

    /** The resources to close, the last first. */
    private final Deque<AutoCloseable> resources = new ArrayDeque<>();

    private final NvmeDrive drive;

    private MeasuredDrive(Kind kind) throws IOException {
        try {
            drive =
                    keep(
                            switch (kind) {
                                case LOCAL -> Nvme.open(host(), NvmeOptions.DEFAULTS);
                                case BORROWED -> borrow();
                                case RDMA -> connect();
                            });
        } catch (Throwable e) {
            try {
                close();
            } catch (IOException failure) {
                e.addSuppressed(failure);
            }
            throw e;
        }
    }

    static MeasuredDrive open(Kind kind) throws IOException {
        return new MeasuredDrive(kind);
    }

    NvmeDrive drive() {
        return drive;
    }

    private <T extends AutoCloseable> T keep(T resource) {
        resources.push(resource);
        return resource;
    }

    private ControllerAccess host() {
        var subsystem = new Subsystem("software", "jrdma software drive");
        var _ = subsystem.addNamespace(keep(BlockStorage.inMemory(BLOCKS, BLOCK_BYTES)));
        var bar = keep(Arena.ofShared()).allocate(BAR_BYTES, BLOCK_BYTES);
        var host = keep(DeviceHost.start(subsystem.newController(), List.of(bar)));
        return keep(new InProcessControllerAccess(host, bar, BORROWER));
    }

    private NvmeDrive borrow() throws IOException {
        var id = start(LentSoftwareDrive.DEVICE, "lend", "--json", ChildProcessPeer.OPTION, "nvme");
        return keep(BorrowedDrive.open(
                        Sisci.from(new SoftSisci()),
                        FabricDeviceId.parse(id.group(1)),
                        NvmeOptions.DEFAULTS))
                .drive();
    }

    private NvmeDrive connect() throws IOException {
        var target =
                start(
                        TARGET,
                        "nvme",
                        "serve",
                        "--json",
                        ChildProcessPeer.OPTION,
                        "--address=0.0.0.0:0",
                        "--block=" + BLOCK_BYTES,
                        "memory");
        var address =
                new InetSocketAddress(target.group("host"), Integer.parseInt(target.group("port")));
        return NvmeFabrics.connect(
                address,
                target.group("name"),
                FabricsOptions.of(HostIdentity.of(UUID.randomUUID())));
    }

    /** Starts jrdma in a child process, and returns the parts of the first line of its output. */
    private Matcher start(Pattern pattern, String... words) throws IOException {
        var child = ChildProcessPeer.start(List.of(words));
        keep(() -> ChildProcessPeer.close(child));
        return ChildProcessPeer.awaitLine(child, pattern);
    }

    /** Closes all resources, and throws the first failure afterwards. */
    @Override
    public void close() throws IOException {
        IOException failure = null;
        while (!resources.isEmpty()) {
            try {
                resources.pop().close();
            } catch (Exception e) {
                if (failure == null) {
                    failure = new IOException("Cannot close the drive: " + e.getMessage(), e);
                } else {
                    failure.addSuppressed(e);
                }
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
