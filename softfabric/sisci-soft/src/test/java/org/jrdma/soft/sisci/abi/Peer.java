package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.File;
import java.io.IOException;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.soft.sisci.device.EduDevice;

/** Another process of a fabric, in a separate JVM, with a fixed role. */
final class Peer implements AutoCloseable {

    static final int SEGMENT = 7;
    static final int INTERRUPT = 3;
    static final long BYTES = 64 << 10;
    static final int BAR_BYTES = 4096;

    private static final VarHandle WORD = JAVA_LONG.varHandle();

    private final Process process;
    private final int node;

    private Peer(Process process) throws IOException {
        this.process = process;
        var line = process.inputReader().readLine();
        if (line == null || !line.startsWith("node ")) {
            throw new AssertionError("unexpected output of the peer: " + line);
        }
        this.node = Integer.parseInt(line.substring(5));
    }

    /**
     * Starts a peer and returns when the peer has prepared its role.
     *
     * @param node the node of the peer; 0 for any free node
     * @param testNode the node of the test
     */
    static Peer start(Path fabric, int node, String role, int testNode) throws IOException {
        var java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        var process =
                new ProcessBuilder(
                                List.of(
                                        java,
                                        "-XX:TieredStopAtLevel=1",
                                        "-XX:+UseSerialGC",
                                        "--enable-native-access=ALL-UNNAMED",
                                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                                        "-cp",
                                        classPath(),
                                        Peer.class.getName(),
                                        fabric.toString(),
                                        Integer.toString(node),
                                        role,
                                        Integer.toString(testNode)))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .start();
        return new Peer(process);
    }

    /** Returns the class path for a JVM that runs a class of these tests. */
    static String classPath() {
        return Stream.of(
                        "target/test-classes",
                        "target/classes",
                        System.getProperty("jdk.module.path", ""),
                        System.getProperty("java.class.path", ""))
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(File.pathSeparator));
    }

    int node() {
        return node;
    }

    /** Kills the process with SIGKILL. */
    void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** Sends a signal to the process, such as {@code STOP}. */
    void signal(String name) throws IOException, InterruptedException {
        var kill = new ProcessBuilder("sh", "-c", "kill -%s %d".formatted(name, process.pid()));
        if (kill.inheritIO().start().waitFor() != 0) {
            throw new AssertionError("cannot send the signal " + name);
        }
    }

    /** Makes the process exit without closing its objects, and returns the exit code. */
    int end() throws IOException, InterruptedException {
        process.outputWriter().close();
        return process.waitFor();
    }

    @Override
    public void close() {
        kill();
    }

    /**
     * Runs a role. Arguments: the folder of the fabric, the node, the role, and the node of the
     * test.
     */
    public static void main(String... arguments) throws Exception {
        var self =
                LibraryCaller.in(
                        SoftSisciOptions.in(Path.of(arguments[0]))
                                .node(Integer.parseInt(arguments[1])));
        var descriptor = self.open();
        var testNode = Integer.parseInt(arguments[3]);
        switch (arguments[2]) {
            case "echo" -> echo(self, descriptor);
            case "share" -> self.ok("SCIShareSegment", self.offer(descriptor, SEGMENT, BYTES), 0);
            case "use" -> {
                var remote = self.connect(descriptor, testNode, SEGMENT);
                self.mapRemote(remote, BYTES).memory().set(JAVA_LONG, 0, 1);
            }
            case "lend" -> {
                var _ = self.fabric().lend(new EduDevice());
            }
            case "borrow" -> borrow(new DeviceFunctionCaller(self, descriptor), testNode);
            default -> throw new IllegalArgumentException(arguments[2]);
        }
        IO.println("node " + self.node());
        while (System.in.read() >= 0) {
            // Waits until the parent closes the stream.
        }
    }

    /**
     * Borrows the first device of the test, maps a segment for it, and stores the I/O address in
     * BAR 0.
     */
    private static void borrow(DeviceFunctionCaller self, int testNode) {
        var device = self.borrow((long) testNode << 8 | 1, 0);
        var bar = self.bar(device, 0, BAR_BYTES);
        bar.set(JAVA_LONG, 0, self.mapLocal(self.prepare(SEGMENT, BYTES), device, 0, BYTES));
    }

    /**
     * Offers a segment. One thread repeatedly copies its first word to its second word, and another
     * thread counts triggers of an interrupt in the third word.
     */
    private static void echo(LibraryCaller self, long descriptor) {
        var memory = self.mapLocal(self.offer(descriptor, SEGMENT, BYTES), BYTES).memory();
        var interrupt = self.place();
        var number = self.place();
        number.set(java.lang.foreign.ValueLayout.JAVA_INT, 0, INTERRUPT);
        self.ok(
                "SCICreateInterrupt",
                descriptor,
                interrupt.address(),
                0,
                number.address(),
                0,
                0,
                sisci_h.SCI_FLAG_FIXED_INTNO() | sisci_h.SCI_FLAG_COUNTING_INT());
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    while (true) {
                        WORD.setVolatile(memory, 8L, (long) WORD.getVolatile(memory, 0L));
                        LockSupport.parkNanos(1_000);
                    }
                });
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    while (true) {
                        self.ok("SCIWaitForInterrupt", LibraryCaller.handle(interrupt), -1, 0);
                        WORD.getAndAdd(memory, 16L, 1L);
                    }
                });
    }
}
