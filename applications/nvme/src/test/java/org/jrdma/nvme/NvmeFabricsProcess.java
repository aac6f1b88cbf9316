package org.jrdma.nvme;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.ProcessBuilder.Redirect;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.NvmeTarget;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.nvme.soft.TargetOptions;
import org.jrdma.verbs.Verbs;

/** A process with a target, or with a host that uses a target, on the software fabric. */
final class NvmeFabricsProcess implements AutoCloseable {

    static final String NAME = "nqn.2014-08.org.jrdma:process";
    static final int BLOCKS = 8192;
    static final Duration KEEP_ALIVE = Duration.ofSeconds(1);

    private static final int BLOCK_BYTES = 512;
    private static final int QUEUES = 4;
    private static final int READ_DEPTH = 8;
    private static final int READ_BYTES = 65_536;

    /** A timeout for emulated machines. */
    private static final Duration SLOW = Duration.ofMinutes(10);

    private final Process process;
    private final BufferedReader output;

    private NvmeFabricsProcess(Process process) {
        this.process = process;
        this.output = process.inputReader(UTF_8);
    }

    /** Starts a target with a file, and waits until it listens. */
    static NvmeFabricsProcess startTarget(Path file, InetSocketAddress address) throws IOException {
        var devices =
                address.getAddress().isAnyLocalAddress()
                        ? ""
                        : address.getAddress().getHostAddress();
        return start(devices, "target", file.toString(), text(address));
    }

    /** Starts a host, and waits until it has completed its first commands. */
    static NvmeFabricsProcess startHost(InetSocketAddress target) throws IOException {
        return start("", "host", "", text(target));
    }

    private static String text(InetSocketAddress address) {
        return address.getAddress().getHostAddress() + " " + address.getPort();
    }

    private static NvmeFabricsProcess start(
            String devices, String kind, String file, String address) throws IOException {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--enable-native-access=ALL-UNNAMED",
                                "-XX:TieredStopAtLevel=1",
                                "-XX:+UseSerialGC",
                                "-Djrdma.fabric=software",
                                "-Djrdma."
                                        + (devices.isEmpty()
                                                ? "leaks=report"
                                                : "soft.devices=" + devices),
                                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                "-cp",
                                classPath(),
                                NvmeFabricsProcess.class.getName(),
                                kind,
                                file));
        command.addAll(List.of(address.split(" ", -1)));
        return new NvmeFabricsProcess(
                new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
    }

    /** Returns the path of all classes, which the JVM of the tests has on two paths. */
    private static String classPath() {
        return Stream.of("java.class.path", "jdk.module.path")
                        .map(System::getProperty)
                        .filter(Objects::nonNull)
                        .collect(Collectors.joining(File.pathSeparator))
                + File.pathSeparator
                + Path.of("target", "test-classes").toAbsolutePath();
    }

    /** Waits for the next line of the output. */
    String nextLine() throws IOException {
        return Objects.requireNonNull(output.readLine(), "The process has ended");
    }

    void kill() {
        process.destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        kill();
    }

    static void main(String... arguments) throws Exception {
        var address =
                new InetSocketAddress(
                        InetAddress.getByName(arguments[2]), Integer.parseInt(arguments[3]));
        switch (arguments[0]) {
            case "target" -> serve(Path.of(arguments[1]), address);
            case "host" -> use(address);
            case "verify" -> verify(address, Integer.parseInt(arguments[1]));
            case "watch" -> watch(address);
            case "read" -> read(address, Duration.ofSeconds(Integer.parseInt(arguments[1])));
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void serve(Path file, InetSocketAddress address) throws Exception {
        var subsystem = new Subsystem("serial 3", "jrdma process", NAME);
        var blocks = Files.exists(file) ? Math.max(Files.size(file) / BLOCK_BYTES, BLOCKS) : BLOCKS;
        try (var _ = Verbs.configured().openFirst(); // chooses the address of a software device
                var storage = BlockStorage.inFile(file, blocks, BLOCK_BYTES)) {
            var _ = subsystem.addNamespace(storage);
            try (var target = NvmeTarget.listen(address, TargetOptions.DEFAULTS)) {
                target.export(subsystem);
                var bound = target.addresses().getFirst();
                System.out.println(bound.getAddress().getHostAddress());
                System.out.println(bound.getPort());
                changeNamespaces(subsystem);
                Thread.sleep(Duration.ofHours(1));
            }
        }
    }

    /** Executes the lines of the input: add BLOCKS, resize ID BLOCKS, and remove ID. */
    private static void changeNamespaces(Subsystem subsystem) throws IOException {
        var input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
        for (var line = input.readLine(); line != null; line = input.readLine()) {
            var words = line.split(" ", -1);
            switch (words[0]) {
                case "add" -> {
                    var storage = BlockStorage.inMemory(Long.parseLong(words[1]), BLOCK_BYTES);
                    var _ = subsystem.addNamespace(storage);
                }
                case "resize" ->
                        subsystem.resizeNamespace(
                                Integer.parseInt(words[1]), Long.parseLong(words[2]));
                case "remove" -> subsystem.removeNamespace(Integer.parseInt(words[1]));
                default -> throw new IllegalArgumentException(line);
            }
        }
    }

    /** Prints the ids and the sizes of the namespaces when they change. */
    private static void watch(InetSocketAddress target) throws Exception {
        try (var drive = NvmeFabrics.connect(target, NAME, slowOptions())) {
            for (var last = List.<NvmeNamespace>of(); ; Thread.sleep(20)) {
                if (!drive.namespaces().equals(last)) {
                    last = drive.namespaces();
                    System.out.println(
                            last.stream()
                                    .map(each -> " %d:%d".formatted(each.id(), each.bytes()))
                                    .collect(Collectors.joining("", "namespaces", "")));
                }
            }
        }
    }

    private static void use(InetSocketAddress target) throws Exception {
        var options = FabricsOptions.of(HostIdentity.of(new UUID(3, 4))).keepAlive(KEEP_ALIVE);
        try (var drive = NvmeFabrics.connect(target, NAME, options)) {
            var verifier = new FabricVerifier(drive, 4, 0, BLOCKS / 2);
            Thread.ofPlatform()
                    .daemon()
                    .start(() -> {
                        TestWaits.await(() -> verifier.completed() > 10);
                        System.out.println("ready");
                    });
            var _ = verifier.run(Integer.MAX_VALUE);
        }
    }

    private static FabricsOptions slowOptions() {
        return FabricsOptions.of(HostIdentity.of(new UUID(3, 4)))
                .connectTimeout(SLOW)
                .keepAlive(SLOW)
                .drive(NvmeOptions.DEFAULTS.adminTimeout(SLOW));
    }

    /** Verifies transfers of all sizes, and then some commands on each of four queues. */
    private static void verify(InetSocketAddress target, int commands) throws Exception {
        var options = slowOptions();
        System.out.println(NvmeFabrics.discover(target, options).entries());
        try (var drive = NvmeFabrics.connect(target, NAME, options)) {
            System.out.println(drive.identity());
            var namespace = drive.namespaces().getFirst();
            System.out.println(namespace);
            FabricVerifier.verifySizes(drive);
            FabricVerifier.verify(drive, QUEUES, commands);
            System.out.printf("verified %d commands on %d queues%n", QUEUES * commands, QUEUES);
        }
    }

    /** Prints the throughput of random reads in KiB/s, after a warm-up of the same time. */
    private static void read(InetSocketAddress target, Duration time) throws Exception {
        try (var drive = NvmeFabrics.connect(target, NAME, slowOptions());
                var queue = drive.newQueue(READ_DEPTH);
                var memory = drive.newMemory((long) READ_DEPTH * READ_BYTES)) {
            var namespace = drive.namespaces().getFirst();
            var blocks = READ_BYTES >> namespace.blockShift();
            var random = new Random(1);
            for (var context = 0; context < READ_DEPTH; context++) {
                read(queue, namespace, blocks, random, memory, context);
            }
            var completed = 0L;
            var start = System.nanoTime() + time.toNanos();
            while (System.nanoTime() - start < time.toNanos()) {
                queue.await(SLOW);
                if (!queue.succeeded()) {
                    throw queue.failure();
                }
                read(queue, namespace, blocks, random, memory, (int) queue.context());
                completed += System.nanoTime() - start >= 0 ? 1 : 0;
            }
            System.out.println(completed * (READ_BYTES >> 10) / time.toSeconds());
            while (queue.pending() > 0) {
                queue.await(SLOW);
            }
        }
    }

    private static void read(
            NvmeQueue queue,
            NvmeNamespace namespace,
            int blocks,
            Random random,
            DmaMemory memory,
            int context) {
        var block = random.nextLong(namespace.blocks() / blocks) * blocks;
        var offset = (long) context * READ_BYTES;
        if (!queue.read(namespace, block, blocks, memory, offset, context)) {
            throw new IllegalStateException("the queue is full");
        }
    }
}
