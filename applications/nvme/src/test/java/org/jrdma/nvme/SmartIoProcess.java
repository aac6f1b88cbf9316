package org.jrdma.nvme;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.ffi.FabricException;
import org.jrdma.nvme.pcie.BorrowedController;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.smartio.BorrowMode;
import org.jrdma.sisci.smartio.SmartIo;
import org.jspecify.annotations.Nullable;

/**
 * A process of a software fabric: a borrower that reads and writes random pages of a controller, or
 * a lender.
 */
final class SmartIoProcess implements AutoCloseable {

    private static final int BATCH = 500;
    private static final int DEPTH = 16;

    private final Process process;
    private final BufferedReader output;
    private final BufferedWriter input;

    private SmartIoProcess(Process process) {
        this.process = process;
        this.output = process.inputReader(UTF_8);
        this.input = process.outputWriter(UTF_8);
    }

    /**
     * Starts a borrower, and waits until it is ready.
     *
     * @param manager the Unix-domain socket of the manager; null if the process opens the
     *     controller and is the manager on the {@link #socket}
     * @param firstPage the first of the pages of 4,096 bytes that the process uses
     */
    static SmartIoProcess start(
            TemporarySisciFabric fabric,
            long device,
            @Nullable Path manager,
            int firstPage,
            int pages)
            throws IOException {
        var process =
                start(
                        fabric,
                        Long.toString(device),
                        manager == null ? "" : manager.toString(),
                        Integer.toString(firstPage),
                        Integer.toString(pages));
        assertThat(process.nextLine()).isEqualTo("ready");
        return process;
    }

    /** Returns the Unix-domain socket of a process that opens the controller. */
    static Path socket(TemporarySisciFabric fabric) {
        return Path.of(fabric.folder() + ".manager");
    }

    /** Starts a process that lends a controller. Its first line is the id of the device. */
    static SmartIoProcess startLender(TemporarySisciFabric fabric) throws IOException {
        return start(fabric);
    }

    private static SmartIoProcess start(TemporarySisciFabric fabric, String... arguments)
            throws IOException {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "--enable-native-access=ALL-UNNAMED",
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                "-cp",
                                classPath(),
                                SmartIoProcess.class.getName(),
                                fabric.folder().toString()));
        command.addAll(List.of(arguments));
        return new SmartIoProcess(
                new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
    }

    private static String classPath() {
        return Stream.of(
                        "target/test-classes",
                        "target/classes",
                        System.getProperty("jdk.module.path", ""),
                        System.getProperty("java.class.path", ""))
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
    }

    /** Lets the process execute operations. It prints "progress" after each batch. */
    void begin(int operations) throws IOException {
        input.write(operations + "\n");
        input.flush();
    }

    /** Returns the next line that the process prints, or null at the end. */
    @Nullable String nextLine() throws IOException {
        return output.readLine();
    }

    /** Returns the next line that is not "progress". */
    @Nullable String result() throws IOException {
        var line = output.readLine();
        while ("progress".equals(line)) {
            line = output.readLine();
        }
        return line;
    }

    /** Maps the segments of the process, whose memory remains after the end of the process. */
    List<MemorySegment> mapSegments(Arena arena) throws IOException {
        var segments = new ArrayList<MemorySegment>();
        try (var descriptors = Files.list(Path.of("/proc/%d/fd".formatted(process.pid())))) {
            for (var descriptor : descriptors.toList()) {
                if (Files.readSymbolicLink(descriptor).toString().contains(".segment.")) {
                    try (var file =
                            FileChannel.open(
                                    descriptor,
                                    StandardOpenOption.READ,
                                    StandardOpenOption.WRITE)) {
                        segments.add(file.map(MapMode.READ_WRITE, 0, file.size(), arena));
                    }
                }
            }
        }
        return segments;
    }

    /** Kills the process with SIGKILL. */
    void kill() {
        process.destroyForcibly();
    }

    /** Lets the process end, and waits for it. */
    void end() throws IOException, InterruptedException {
        input.close();
        assertThat(process.waitFor()).isZero();
    }

    @Override
    public void close() {
        kill();
        var _ = process.onExit().join();
    }

    public static void main(String... arguments) throws Exception {
        var fabric = new TemporarySisciFabric(Path.of(arguments[0]));
        var commands = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        if (arguments.length == 1) {
            try (var lender = new LendingNode(fabric)) {
                System.out.println(lender.deviceId());
                var _ = commands.readLine();
            }
        } else {
            borrow(fabric, commands, arguments);
        }
    }

    private static void borrow(
            TemporarySisciFabric fabric, BufferedReader commands, String... arguments)
            throws Exception {
        var id = Long.parseLong(arguments[1]);
        try (var node = Sisci.from(fabric.library()).open();
                var device = SmartIo.of(node).borrow(id, BorrowMode.SHARED);
                var access = BorrowedController.of(node, device);
                var drive = open(access, arguments[2]);
                var _ = arguments[2].isEmpty() ? startManager(drive, fabric) : null) {
            var firstPage = Integer.parseInt(arguments[3]);
            var pages = Integer.parseInt(arguments[4]);
            var transfers = new VerifiedTransfers(drive, DEPTH, firstPage, pages, firstPage + 1);
            System.out.println("ready");
            for (var line = commands.readLine(); line != null; line = commands.readLine()) {
                execute(transfers, Integer.parseInt(line));
            }
        }
    }

    private static NvmeDrive open(BorrowedController access, String manager)
            throws FabricException {
        return manager.isEmpty()
                ? Nvme.open(access, NvmeOptions.DEFAULTS)
                : Nvme.join(access, UnixDomainSocketAddress.of(manager), NvmeOptions.DEFAULTS);
    }

    private static SharedControllerManager startManager(
            NvmeDrive drive, TemporarySisciFabric fabric) throws IOException {
        return SharedControllerManager.start(drive, UnixDomainSocketAddress.of(socket(fabric)));
    }

    private static void execute(VerifiedTransfers transfers, int operations) {
        try {
            for (var left = operations; left > 0; left -= BATCH) {
                transfers.run(Math.min(left, BATCH));
                System.out.println("progress");
            }
            System.out.println("done");
        } catch (FabricException | AssertionError e) {
            System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }
}
