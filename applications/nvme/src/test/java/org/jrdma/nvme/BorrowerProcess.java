package org.jrdma.nvme;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
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

/** A process that borrows a controller, and reads and writes until it has done its operations. */
final class BorrowerProcess implements AutoCloseable {

    private static final int BATCH = 500;
    private static final int DEPTH = 16;

    private final Process process;
    private final BufferedReader lines;

    private BorrowerProcess(Process process) {
        this.process = process;
        this.lines = process.inputReader(UTF_8);
    }

    static BorrowerProcess start(
            TestFabric fabric, long device, int firstPage, int pages, int operations)
            throws IOException {
        return start(
                BorrowerProcess.class,
                fabric,
                Long.toString(device),
                Integer.toString(firstPage),
                Integer.toString(pages),
                Integer.toString(operations));
    }

    private static BorrowerProcess start(Class<?> main, TestFabric fabric, String... arguments)
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
                                main.getName(),
                                fabric.folder().toString()));
        command.addAll(List.of(arguments));
        return new BorrowerProcess(
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

    /** Returns the next line that the process prints, or null at the end. */
    @Nullable String nextLine() throws IOException {
        return lines.readLine();
    }

    /** Kills the process with SIGKILL and waits until it has ended. */
    void kill() throws InterruptedException {
        var _ = process.destroyForcibly().waitFor();
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }

    /** Prints "ready", and "progress" after each batch of operations, and at last the result. */
    public static void main(String... arguments) throws Exception {
        var fabric = new TestFabric(Path.of(arguments[0]));
        var id = Long.parseLong(arguments[1]);
        try (var node = Sisci.from(fabric.library()).open();
                var device = SmartIo.of(node).borrow(id, BorrowMode.SHARED);
                var access = BorrowedController.of(node, device);
                var drive = open(access)) {
            var firstPage = Integer.parseInt(arguments[2]);
            var pages = Integer.parseInt(arguments[3]);
            var transfers = new VerifiedTransfers(drive, DEPTH, firstPage, pages, firstPage + 1);
            System.out.println("ready");
            for (var left = Integer.parseInt(arguments[4]); left > 0; left -= BATCH) {
                transfers.run(Math.min(left, BATCH));
                System.out.println("progress");
            }
            System.out.println("done");
        } catch (FabricException e) {
            System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
        }
    }

    private static NvmeDrive open(BorrowedController access) throws FabricException {
        return Nvme.open(access, NvmeOptions.DEFAULTS);
    }
}
