package org.jrdma.cli.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jrdma.cli.InvalidCommandLineAssertions;
import org.jrdma.cli.JrdmaProcess;
import org.jrdma.nvme.FabricsOptions;
import org.jrdma.nvme.HostIdentity;
import org.jrdma.nvme.NvmeDrive;
import org.jrdma.nvme.NvmeFabrics;
import org.jrdma.nvme.NvmeQueue;
import org.jrdma.processes.Program;
import org.jrdma.verbs.Verbs;
import org.jrdma.verbs.cm.ConnectionManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the commands for NVMe over RDMA: serves a drive in one process, and uses the drive in other
 * processes, on the software fabric.
 */
class NvmeCommandTest {

    private static final Pattern ADDRESS = Pattern.compile(" at ([0-9.:]+):");
    private static final String NAME = "nqn.2014-08.org.jrdma:disk";
    private static final String BORROWED_AND_RETURNED =
            "device 0x401: borrowed by node 8, borrows: 1\ndevice 0x401: returned by node 8, borrows: 0\n";

    @TempDir private Path folder;

    private static Program start(String... arguments) throws IOException {
        var words = new ArrayList<>(List.of("nvme"));
        words.addAll(List.of(arguments));
        return JrdmaProcess.start(
                List.of("-Djrdma.fabric=software", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
                words);
    }

    private String run(String... arguments) throws Exception {
        var words = new ArrayList<>(List.of(arguments));
        words.add("--host-id=" + folder.resolve("host"));
        try (var program = start(words.toArray(String[]::new))) {
            assertThat(program.await()).as(program.output()).isZero();
            return program.output();
        }
    }

    private static String address(Program server) throws IOException {
        var matcher = ADDRESS.matcher(server.output());
        assertThat(matcher.find()).as(server.output()).isTrue();
        return matcher.group(1);
    }

    @Test
    @Tag("slow")
    void shouldServeDiscoverAndListADrive() throws Exception {
        var file = folder.resolve("blocks");
        try (var server =
                start("serve", "-s", "1", "-a", "0.0.0.0:0", "-n", NAME, file.toString())) {
            server.awaitOutput("until Ctrl+C\n");
            assertThat(server.output()).endsWith(": 2,048 blocks of 512 bytes, until Ctrl+C\n");
            var address = address(server);

            assertThat(run("discover", address))
                    .startsWith(NAME + "  nvm at 127.0.0.")
                    .endsWith(", by rdma\n");
            assertThat(run("discover", "--json", address))
                    .startsWith("[{\"name\":\"" + NAME + "\",\"kind\":\"nvm\",");
            assertThat(run("list", address, NAME))
                    .startsWith(NAME + ": jrdma target, serial number jrdma-")
                    .endsWith("\nnamespace 1: 2,048 blocks of 512 bytes\n");
            assertThat(run("list", "--json", address, NAME))
                    .endsWith("\"namespaces\":[{\"id\":1,\"blocks\":2048,\"blockBytes\":512}]}\n");
            try (var refused = start("list", address, NAME + "x")) {
                assertThat(refused.await()).isOne();
                assertThat(refused.output())
                        .contains("invalid parameter of the Connect command (0x182)")
                        .hasLineCount(1);
            }
        }
        assertThat(Files.size(file)).isEqualTo(1 << 20);
    }

    @Test
    void shouldDiscoverTheSubsystemsOfReferrals() throws Exception {
        try (var first = start("serve", "-a", "0.0.0.0:0", "-n", NAME + "1", "memory")) {
            first.awaitOutput("until Ctrl+C\n");
            var referred = address(first);
            var host = referred.substring(0, referred.lastIndexOf(':'));
            try (var second =
                    start(
                            "serve",
                            "-a",
                            "0.0.0.0:0",
                            "-n",
                            NAME + "2",
                            "--refer",
                            referred,
                            "--refer=" + host + ":1",
                            "memory")) {
                second.awaitOutput("until Ctrl+C\n");
                assertThat(run("discover", address(second)))
                        .contains(NAME + "1  nvm at ", NAME + "2  nvm at ", "  referral at ")
                        .contains("Cannot follow the referral to " + host + ", port 1, by rdma: ");
            }
        }
    }

    @Test
    void shouldServeAFileThatGrows() throws Exception {
        var file = Files.write(folder.resolve("blocks"), new byte[8192]);
        try (var server = start("serve", "-a", "0.0.0.0:0", "-n", NAME, file.toString())) {
            server.awaitOutput("until Ctrl+C\n");
            try (var drive = connect(address(server), NAME)) {
                assertThat(drive.namespaces().getFirst().blocks()).isEqualTo(16);
                Files.write(file, new byte[4096], StandardOpenOption.APPEND);
                server.awaitOutput("The file has grown, and so has its namespace.\n");
                var end = System.nanoTime() + 60_000_000_000L;
                while (drive.namespaces().getFirst().blocks() != 24) {
                    assertThat(System.nanoTime()).isLessThan(end);
                    Thread.sleep(10);
                }
                assertThat(exchange(drive, 5)).isZero();

                Files.delete(file);
                Files.createSymbolicLink(file, file); // its size cannot be determined
                server.awaitOutput("The size of the file is not followed any more: ");
                assertThat(exchange(drive, 6)).isEqualTo(5);
            }
        }
    }

    /** Reads do not change the data, so that a drive that is in use can be measured. */
    @Test
    @Tag("slow")
    void shouldMeasureADrive() throws Exception {
        var content = new byte[65_536];
        Arrays.fill(content, (byte) 7);
        var file = Files.write(folder.resolve("blocks"), content);
        try (var server = start("serve", "-a", "0.0.0.0:0", "-n", NAME, file.toString())) {
            server.awaitOutput("until Ctrl+C\n");
            var address = address(server);
            assertThat(run("perf", "-d", "1,3", "-t", "20", address, NAME))
                    .contains("rdma read: ")
                    .containsPattern("(?m)^ +1 .*[1-9]")
                    .containsPattern("(?m)^ +3 .*[1-9]")
                    .doesNotContain("rdma write");
            assertThat(Files.readAllBytes(file)).isEqualTo(content);
            assertThat(run("perf", "-d", "2", "-t", "20", "--json", "--write", address, NAME))
                    .startsWith("[{\"controller\":\"rdma\",\"operation\":\"read\",\"depth\":2,")
                    .contains("\"operation\":\"write\"");
            assertThat(Files.readAllBytes(file)).isNotEqualTo(content);
        }
    }

    @Test
    void shouldNotMeasureANamespaceThatIsSmallerThanAnAccess() throws Exception {
        var file = Files.write(folder.resolve("blocks"), new byte[2048]);
        try (var server = start("serve", "-a", "0.0.0.0:0", "-n", NAME, file.toString())) {
            server.awaitOutput("until Ctrl+C\n");
            try (var refused =
                    start("perf", "--host-id=" + folder.resolve("host"), address(server), NAME)) {
                assertThat(refused.await()).isOne();
                assertThat(refused.output())
                        .contains("is missing, or smaller than 4,096 bytes")
                        .hasLineCount(1);
            }
        }
    }

    @Test
    void shouldNotFollowAFileThatWasReplacedOrTruncated() throws Exception {
        var file = Files.write(folder.resolve("blocks"), new byte[8192]);
        var subsystem = ServeCommand.newSubsystem(UUID.randomUUID(), NAME);
        try (var storage = ServedStorage.inFile(file, 8192, 512)) {
            var blocks = storage.namespaces().getFirst();
            var growth =
                    new FileGrowth(
                            file, storage.id(), subsystem, subsystem.addNamespace(blocks), blocks);
            assertThat(growth.follow()).isFalse();
            Files.write(file, new byte[100], StandardOpenOption.APPEND); // no whole block
            assertThat(growth.follow()).isFalse();
            Files.write(file, new byte[4096], StandardOpenOption.APPEND);
            assertThat(growth.follow()).isTrue();
            assertThat(blocks.blocks()).isEqualTo(24);
            assertThat(growth.follow()).isFalse();
            Files.move(file, folder.resolve("moved"));
            assertThat(growth.follow()).isFalse();
            Files.write(file, new byte[16_384]);
            assertThat(growth.follow()).isFalse();
            assertThat(blocks.blocks()).isEqualTo(24);
        }
    }

    @Test
    void shouldGiveEachDriveNamesOfItsOwn() throws Exception {
        var file = folder.resolve("blocks");
        var names = new ArrayList<String>();
        for (var isFile : List.of(false, false, true, true)) {
            try (var storage =
                    isFile
                            ? ServedStorage.inFile(file, 4096, 512)
                            : ServedStorage.inMemory(4096, 512)) {
                names.add(ServeCommand.newSubsystem(storage.id(), null).qualifiedName());
            }
        }
        assertThat(names).allMatch(name -> name.startsWith("nqn.2014-08.org.nvmexpress:uuid:"));
        assertThat(Set.copyOf(names)).hasSize(3);
        assertThat(names.get(2)).isEqualTo(names.get(3));
        assertThat(ServeCommand.newSubsystem(UUID.randomUUID(), NAME).qualifiedName())
                .isEqualTo(NAME);
    }

    /**
     * A lent drive is served to hosts without SISCI, and returned when the server ends. It keeps
     * its blocks.
     */
    @Test
    void shouldServeABorrowedDrive() throws Exception {
        var fabric = "-Djrdma.sisci.fabric=" + Files.createDirectory(folder.resolve("fabric"));
        try (var lender = JrdmaProcess.start(List.of(fabric), List.of("lend", "nvme"))) {
            lender.awaitOutput("device 0x401: nvme, lent by node 4 until Ctrl+C\n");
            var names = new ArrayList<String>();
            for (var run = 0; run < 2; run++) {
                try (var server =
                        JrdmaProcess.start(
                                List.of("-Djrdma.fabric=software", fabric),
                                List.of("nvme", "serve", "-a", "0.0.0.0:0", "0x401"))) {
                    server.awaitOutput("until Ctrl+C\n");
                    assertThat(server.output())
                            .endsWith(": 16,384 blocks of 4,096 bytes, until Ctrl+C\n");
                    names.add(server.output().substring(0, server.output().indexOf(" at ")));
                    assertThat(lender.output()).endsWith("borrowed by node 8, borrows: 1\n");
                    assertThat(run("list", address(server), names.getLast()))
                            .endsWith("\nnamespace 1: 16,384 blocks of 4,096 bytes\n");
                    try (var drive = connect(address(server), names.getLast())) {
                        assertThat(exchange(drive, run + 1)).isEqualTo(run);
                    }
                }
                lender.awaitOutput(BORROWED_AND_RETURNED.repeat(run + 1));
            }
            assertThat(names).allMatch(name -> name.startsWith("nqn.2014-08.org.nvmexpress:uuid:"));
            assertThat(Set.copyOf(names)).hasSize(1);
        }
    }

    private static NvmeDrive connect(String address, String name) throws IOException {
        var separator = address.lastIndexOf(':');
        return NvmeFabrics.connect(
                Verbs.software(),
                ConnectionManager.software(),
                new InetSocketAddress(
                        address.substring(0, separator),
                        Integer.parseInt(address.substring(separator + 1))),
                name,
                FabricsOptions.of(HostIdentity.of(new UUID(1, 2))));
    }

    /** Writes a value to a block of a drive, and returns the value that the block had. */
    private static long exchange(NvmeDrive drive, long value) throws IOException {
        var namespace = drive.namespaces().getFirst();
        try (var queue = drive.newQueue(2);
                var memory = drive.newMemory(namespace.blockBytes())) {
            assertThat(queue.read(namespace, 9, 1, memory, 0, 1)).isTrue();
            complete(queue);
            var previous = memory.segment().get(JAVA_LONG, 0);
            memory.segment().set(JAVA_LONG, 0, value);
            assertThat(queue.write(namespace, 9, 1, memory, 0, 1)).isTrue();
            complete(queue);
            return previous;
        }
    }

    private static void complete(NvmeQueue queue) throws IOException {
        queue.await(Duration.ofSeconds(30));
        assertThat(queue.succeeded()).isTrue();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "nvme | Missing required subcommand. See jrdma nvme --help.",
                "nvme discover 1:2:3 | Invalid value for positional parameter at index 0 (TARGET): \"1:2:3\" is not an address such as 10.0.0.1, 10.0.0.1:4420 or [fd00::1]:4420. See jrdma nvme discover --help.",
                "nvme discover 1.2.3.4:70000 | Invalid value for positional parameter at index 0 (TARGET): The port 70000 is too large. See jrdma nvme discover --help.",
                "nvme serve -s 1 0x401 | The options --size and --block apply to a file or memory, not to a drive. See jrdma nvme serve --help.",
                "nvme serve -b 512 0000:01:00.0 | The options --size and --block apply to a file or memory, not to a drive. See jrdma nvme serve --help.",
                "nvme serve -s 0 memory | The size must be positive, but is 0. See jrdma nvme serve --help.",
                "nvme serve --refer 0.0.0.0 memory | Cannot refer hosts to 0.0.0.0:4420. A referral needs the IP address and the port of another target. See jrdma nvme serve --help.",
                "nvme perf -d 0 1.2.3.4 nqn.x | Invalid value for option '--depths' (DEPTH): \"0\" is not a whole number from 1 to 2147483647. See jrdma nvme perf --help.",
                "nvme perf 1.2.3.4 | Missing required parameter: 'NQN'. See jrdma nvme perf --help.",
                "nvme list 1.2.3.4 | Missing required parameter: 'NQN'. See jrdma nvme list --help."
            })
    void shouldRejectAnInvalidCommandLineInOneLine(String words, String message) {
        assertThat(InvalidCommandLineAssertions.errors(words)).isEqualTo(message + "\n");
    }
}
