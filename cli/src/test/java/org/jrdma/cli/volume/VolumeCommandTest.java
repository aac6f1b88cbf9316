package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.jrdma.cli.InvalidCommandLineAssertions;
import org.jrdma.cli.JrdmaInProcess;
import org.jrdma.cli.JrdmaProcess;
import org.jrdma.processes.Program;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.Volume;
import org.jrdma.volume.VolumeOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Runs the commands in this process, with a server in this process or in another one. */
class VolumeCommandTest {

    private static final int KILLED_BY_SIGTERM = 143;
    private static final Pattern DEMO_SECONDS =
            Pattern.compile("The demo succeeded after ([0-9.]+) s");

    @TempDir private Path folder;

    private final StringWriter output = new StringWriter();
    private final StringWriter errors = new StringWriter();

    private int execute(String... words) {
        var all = new ArrayList<>(List.of("volume"));
        all.addAll(List.of(words));
        output.getBuffer().setLength(0);
        errors.getBuffer().setLength(0);
        return JrdmaInProcess.run(output, errors, all.toArray(String[]::new));
    }

    private String run(String... words) {
        assertThat(execute(words)).as(errors::toString).isZero();
        assertThat(errors).asString().isEmpty();
        return output.toString();
    }

    private static Program start(String... arguments) throws IOException {
        var words = new ArrayList<>(List.of("volume"));
        words.addAll(List.of(arguments));
        return JrdmaProcess.start(List.of(), words);
    }

    private Path createVolume() {
        var file = folder.resolve("drive");
        assertThat(run("create", "--size", "16", file.toString()))
                .isEqualTo("Created a volume of 16,777,216 bytes in %s.%n".formatted(file));
        return file;
    }

    private static VolumeServer serve(Drive drive) throws Exception {
        return serve(drive, "one", List.of());
    }

    private static VolumeServer serve(Drive drive, String name, List<List<String>> others)
            throws Exception {
        var server =
                VolumeServer.start(
                        drive,
                        ServerOptions.named(name)
                                .others(others)
                                .node(
                                        NodeOptions.of(TransportKind.SOCKETS)
                                                .socketAddress(
                                                        new InetSocketAddress(
                                                                InetAddress.getLoopbackAddress(),
                                                                0)))
                                .sessionTimeout(Duration.ofSeconds(2)));
        while (!server.state().isServingBlocks()) {
            Thread.sleep(20);
        }
        return server;
    }

    /** Returns the host and the port of a server. */
    private static String address(VolumeServer server) {
        return server.addresses().getFirst().replace("sockets:", "");
    }

    @Test
    void shouldCopyFilesIntoAVolumeAndOutOfIt() throws Exception {
        var content = new byte[3_000_000];
        new Random(1).nextBytes(content);
        var local = Files.createDirectories(folder.resolve("local/sub"));
        Files.write(local.resolve("large"), content);
        Files.createFile(local.resolve("empty"));
        try (var drive = FileDrive.open(createVolume());
                var server = serve(drive)) {
            var servers = address(server);
            var config =
                    Files.writeString(
                                    folder.resolve("config"),
                                    "transports = sockets\nservers = " + servers)
                            .toString();

            assertThat(run("cp", "-c", config, "-r", local.getParent().toString(), ":/"))
                    .startsWith("Copied 3,000,000 bytes in 2 files in ")
                    .contains(" (redirected over sockets (tcp) to 127.0.0.1:");
            assertThat(run("ls", "-c", config)).matches(" +folder  \\S+Z  local\\R");
            assertThat(run("ls", "-t", "sockets", "--json", servers + ":/local/sub"))
                    .startsWith(
                            "[{\"name\":\"empty\",\"kind\":\"file\",\"bytes\":0,\"modified\":\"")
                    .contains("{\"name\":\"large\",\"kind\":\"file\",\"bytes\":3000000,");

            var copy = folder.resolve("copy");
            var drivePath = folder.resolve("drive").toString();
            var uri = "jrdma-volume://%s/local/sub/large".formatted(servers);
            assertThat(run("cp", "-t", "sockets", "-d", drivePath, uri, copy.toString()))
                    .startsWith("Copied 3,000,000 bytes in 1 file in ")
                    .endsWith(" s (direct).\n");
            assertThat(copy).hasBinaryContent(content);

            assertThat(execute("cp", "-c", config, ":/local", copy + "2")).isOne();
            assertThat(errors).asString().isEqualTo(":/local is a folder: use --recursive.\n");
            assertThat(execute("cp", "-c", config, ":/missing", copy + "2")).isOne();
            assertThat(errors).asString().isEqualTo("There is no file or folder /missing.\n");
            assertThat(Path.of(copy + "2")).doesNotExist();

            var large = local.resolve("large").toString();
            assertThat(execute("cp", "-c", config, large, ":/a/b/large")).isOne();
            assertThat(errors).asString().isEqualTo("There is no folder /a/b.\n");
            assertThat(execute("cp", "-c", config, "-r", local.toString(), ":/a/sub")).isOne();
            assertThat(errors).asString().isEqualTo("There is no folder /a.\n");
        }
        assertThat(run("check", folder.resolve("drive").toString()))
                .isEqualTo("The volume in %s is consistent.%n".formatted(folder.resolve("drive")));
    }

    @Test
    void shouldNotCopyAFileToItselfOverAnotherListOfServers() throws Exception {
        var content = Files.writeString(folder.resolve("content"), "content");
        try (var drive = FileDrive.open(createVolume());
                var server = serve(drive)) {
            var file = address(server) + ":/file";
            var sameFile = "localhost:1," + file;
            var _ = run("cp", "-t", "sockets", content.toString(), file);

            assertThat(execute("cp", "-t", "sockets", file, sameFile)).isOne();
            assertThat(errors).asString().contains("are the same file.");
            var copy = folder.resolve("copy");
            var _ = run("cp", "-t", "sockets", sameFile, copy.toString());
            assertThat(copy).hasContent("content");
        }
    }

    @Test
    void shouldReportAnIncompleteCopyIfTheVolumeIsFull() throws Exception {
        var large = folder.resolve("large");
        Files.write(large, new byte[20_000_000]);
        try (var drive = FileDrive.open(createVolume());
                var server = serve(drive)) {
            var copy = address(server) + ":/large";

            assertThat(execute("cp", "-t", "sockets", large.toString(), copy)).isOne();

            assertThat(errors)
                    .asString()
                    .startsWith(
                            "The copy /large is incomplete. The access to /large failed: The volume has no space: ");
        }
    }

    @Test
    void shouldListNodesAndConnections() throws Exception {
        try (var drive = FileDrive.open(createVolume());
                var server = serve(drive)) {
            var servers = address(server);

            assertThat(run("nodes", "-t", "sockets", "-s", servers))
                    .matches(
                            "(?s)one: coordinator, version \\S+, epoch \\d+\\R"
                                    + "  services: metadata, blocks\\R"
                                    + "  sockets:127\\.0\\.0\\.1:\\d+\\R"
                                    + "  drive: .*/drive, 16,777,216 bytes; [\\d,]+ of [\\d,]+ bytes free, 1 files and folders\\R");
            assertThat(execute("nodes", "-t", "sockets", "-s", servers + ",127.0.0.1:1")).isOne();
            assertThat(output)
                    .asString()
                    .contains(
                            "one: coordinator",
                            "\nsockets:127.0.0.1:1: unreachable\n  Cannot connect to sockets:127.0.0.1:1: Connection refused\n");

            while (run("net", "-t", "sockets", "-s", servers).isEmpty()) {
                Thread.sleep(50); // the block service reports to the coordinator a little later
            }
            assertThat(output)
                    .asString()
                    .matches(
                            "one, metadata: connected to one over sockets \\(tcp\\) to \\S+\\R"
                                    + "one, data: direct \\(the client has started\\)\\R");
            var options =
                    VolumeOptions.of("client", List.of(server.addresses()))
                            .node(NodeOptions.of(TransportKind.VERBS, TransportKind.SOCKETS));
            try (var client = Volume.open(options)) {
                Files.writeString(client.path("/file"), "content");
                do {
                    assertThat(run("net", "-t", "sockets", "-s", servers)).isNotEmpty();
                } while (!output.toString().contains("client, data: redirected to one over "));
                assertThat(output)
                        .asString()
                        .containsPattern(
                                "\nclient, data: redirected to one over sockets \\(tcp\\) to \\S+ \\(the client has no drive\\)\n");
            }
            assertThat(execute("net", "-t", "sockets", "-s", "127.0.0.1:1")).isOne();
            assertThat(errors)
                    .asString()
                    .isEqualTo(
                            "No server is the coordinator. Cannot connect to sockets:127.0.0.1:1: Connection refused. Start \"jrdma volume serve\" there first, or name other servers with --servers.\n");
        }
    }

    @Test
    void shouldListNodesAndConnectionsOverAStandby() throws Exception {
        try (var drive = FileDrive.open(createVolume());
                var coordinator = serve(drive);
                var standby = serve(drive, "two", List.of(coordinator.addresses()))) {
            var servers = address(standby);

            while (execute("net", "-t", "sockets", "-s", servers) != 0
                    || !output.toString().contains("two, metadata: ")) {
                Thread.sleep(50); // until the standby and its client have connected
            }
            assertThat(output)
                    .asString()
                    .contains("one, metadata: connected to one over sockets (tcp) to ");
            assertThat(run("nodes", "-t", "sockets", "-s", servers))
                    .matches("(?s)two: standby, .*\\Rone: coordinator, version .*");
        }
    }

    @Test
    void shouldReportAMissingServerInOneLine() throws IOException {
        var config =
                Files.writeString(
                        folder.resolve("config"), "servers = 127.0.0.1:1\nretry.millis = 200");

        assertThat(execute("ls", "-c", config.toString())).isOne();

        assertThat(errors)
                .asString()
                .isEqualTo(
                        "No coordinator answered within 0.2s. Cannot connect to sockets:127.0.0.1:1: Connection refused. Start \"jrdma volume serve\" there first, or name other servers with --servers.\n");
    }

    @Test
    void shouldReportThatItWaitsForACoordinator() throws Exception {
        var config =
                Files.writeString(
                        folder.resolve("config"), "servers = 127.0.0.1:1\nretry.millis = 600000");

        try (var program = start("ls", "-c", config.toString(), "-t", "sockets")) {
            program.awaitOutput("Waiting for a coordinator at sockets:127.0.0.1:1.\n");
        }
    }

    @Test
    void shouldNotCheckAVolumeThatAServerUses() throws Exception {
        var file = createVolume();
        try (var drive = FileDrive.open(file);
                var _ = serve(drive)) {
            assertThat(execute("check", file.toString())).isOne();
            assertThat(output).asString().isEmpty();
            assertThat(errors)
                    .asString()
                    .isEqualTo(
                            "A server uses the volume in %s. Stop all servers first.\n"
                                    .formatted(file));
        }
        assertThat(run("check", file.toString()))
                .isEqualTo("The volume in %s is consistent.%n".formatted(file));
    }

    @Test
    void shouldServeUntilItIsStopped() throws Exception {
        var drive = createVolume().toString();
        try (var server =
                start("serve", "-n", "one", "-d", drive, "-l", "127.0.0.1:0", "-t", "sockets")) {
            server.awaitOutput("one is the coordinator of epoch 1\n");
            assertThat(server.output())
                    .matches(
                            "(?s).*one serves \\S+ at sockets:127\\.0\\.0\\.1:\\d+, until Ctrl\\+C\\R.*one is .*")
                    .contains("Warning: the list of servers does not contain sockets:127.0.0.1:");
            ProcessHandle.of(Long.parseLong(server.pid())).orElseThrow().destroy();
            assertThat(server.await()).as(server.output()).isEqualTo(KILLED_BY_SIGTERM);
        }
    }

    @Test
    void shouldNotReplaceAFileWithoutPermission() throws IOException {
        var file = Files.writeString(folder.resolve("file"), "content").toString();

        assertThat(execute("create", file)).isOne();

        assertThat(errors)
                .asString()
                .isEqualTo(
                        file
                                + " exists already. With --overwrite, its content is replaced by an empty volume.\n");
        assertThat(Path.of(file)).hasContent("content");
    }

    @Test
    void shouldNotReplaceTheContentOfADeviceWithoutPermission() {
        assertThat(execute("create", "0x401")).isOne();

        assertThat(errors)
                .asString()
                .isEqualTo(
                        "0x401 is a device. With --overwrite, its content is replaced by an empty volume.\n");
    }

    @Test
    void shouldReplaceAVolumeWithPermission() {
        var drive = createVolume().toString();

        assertThat(run("create", "--json", "--overwrite", drive))
                .isEqualTo("{\"drive\":\"%s\",\"bytes\":16777216}%n".formatted(drive));
        assertThat(run("check", "--json", drive))
                .isEqualTo("{\"drive\":\"%s\",\"problems\":[]}%n".formatted(drive));
    }

    @ParameterizedTest
    @CsvSource({"one, one", "'mirror:one,two', one", "'stripes:one,two', 'stripes:one,two'"})
    void shouldNotReplaceAVolumeThatAServerUses(String volume, String replaced) throws Exception {
        var drives = inFolder(volume);
        var name = inFolder(replaced);
        assertThat(run("create", "--size", "16", drives)).startsWith("Created a volume of ");
        try (var server = serve(new DriveName(drives).open())) {
            assertThat(server.state().isServingBlocks()).isTrue();
            assertThat(execute("create", "--overwrite", name)).isOne();
            assertThat(errors)
                    .asString()
                    .isEqualTo(
                            "A server uses the volume in %s. Stop all servers first.\n"
                                    .formatted(name));
        }
        assertThat(run("check", drives)).endsWith(" is consistent.\n");
        assertThat(run("create", "--overwrite", name)).startsWith("Created a volume of ");
    }

    private String inFolder(String drives) {
        return drives.replaceAll("(one|two)", folder + "/$1");
    }

    @ParameterizedTest
    @CsvSource({"stripes, 35127296", "mirror, 17821696"})
    void shouldUseAVolumeOnSeveralDrives(String kind, long bytes) throws Exception {
        var drives = "%s:%s/one,%s/two".formatted(kind, folder, folder);
        var content = new byte[3_000_000];
        new Random(1).nextBytes(content);
        var local = Files.write(folder.resolve("local"), content);
        assertThat(run("create", "--json", "--size", "17", drives))
                .isEqualTo("{\"drive\":\"%s\",\"bytes\":%d}%n".formatted(drives, bytes));
        try (var server = serve(new DriveName(drives).open())) {
            var path = address(server) + ":/copy";
            assertThat(run("cp", "-t", "sockets", "-d", drives, local.toString(), path))
                    .endsWith(" s (direct).\n");
            var copy = folder.resolve("copy");
            assertThat(run("cp", "-t", "sockets", path, copy.toString())).contains(" (redirected ");
            assertThat(copy).hasBinaryContent(content);
        }
        assertThat(run("check", drives))
                .isEqualTo("The volume in %s is consistent.%n".formatted(drives));
        assertThat(execute("check", folder.resolve("one").toString())).isOne();
        assertThat(output)
                .asString()
                .endsWith("contains no volume, or its superblock is damaged\n");
    }

    @Test
    void shouldReduceAMirrorToTheRemainingDrives() throws Exception {
        var drives = "mirror:%s/one,%s/two".formatted(folder, folder);
        var remaining = "mirror:%s/two".formatted(folder);
        assertThat(run("create", "--size", "16", drives)).startsWith("Created a volume of ");

        assertThat(execute("check", remaining)).isOne();
        assertThat(errors)
                .asString()
                .isEqualTo("[%s/two] are only 1 of the 2 drives of a mirror\n".formatted(folder));
        try (var server = serve(new DriveName(drives).open())) {
            assertThat(server.state().isServingBlocks()).isTrue();
            assertThat(execute("reduce-mirror", remaining)).isOne();
            assertThat(errors)
                    .asString()
                    .isEqualTo(
                            "A server uses the volume in %s. Stop all servers first.\n"
                                    .formatted(remaining));
        }
        assertThat(run("reduce-mirror", remaining))
                .isEqualTo("The volume is now in %s.%n".formatted(remaining));

        assertThat(run("check", remaining)).contains(" is consistent.");
        assertThat(execute("check", drives)).isOne();
        assertThat(errors).asString().endsWith(" do not belong to the same group\n");
    }

    @Test
    void shouldReportADamagedVolume() throws IOException {
        var drive = createVolume();
        try (var file = new RandomAccessFile(drive.toFile(), "rw")) {
            file.write(new byte[100]);
        }

        assertThat(execute("check", drive.toString())).isOne();
        assertThat(output)
                .asString()
                .isEqualTo(drive + " contains no volume, or its superblock is damaged\n");
        assertThat(execute("check", folder.toString())).isOne();
        assertThat(errors)
                .asString()
                .isEqualTo(
                        "Cannot open the drive %s: it is not a regular file\n".formatted(folder));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "volume | Missing required subcommand. See jrdma volume --help.",
                "volume create | Missing required parameter: 'DRIVE'. See jrdma volume create --help.",
                "volume create -m 3 x | The size must be from 4 to 1073741824 MiB, but is 3. See jrdma volume create --help.",
                "volume create --stripe 8 x | Only a drive such as stripes:0x401,0x402 has a size of stripes. See jrdma volume create --help.",
                "volume create --stripe 6 stripes:x,y | The size of a stripe must be a multiple of 4 KiB up to 1048576, but is 6. See jrdma volume create --help.",
                "volume create mirror:x | mirror:x has only one drive. See jrdma volume create --help.",
                "volume create mirror:x,x | Invalid value for positional parameter at index 0 (DRIVE): \"mirror:x,x\" does not name different drives, as mirror:0x401,0x402 does. See jrdma volume create --help.",
                "volume reduce-mirror x | x is not a mirror such as mirror:0x401. See jrdma volume reduce-mirror --help.",
                "volume serve -d stripes:x, | Invalid setting \"drive\": \"stripes:x,\" does not name different drives, as stripes:0x401,0x402 does. See jrdma volume serve --help.",
                "volume serve | Missing drive: use --drive or the setting \"drive\". See jrdma volume serve --help.",
                "volume serve -d x --lease 1s | Invalid setting \"lease.millis\": \"1s\" is not a whole number from 100 to 86400000. See jrdma volume serve --help.",
                "volume cp a b | Neither a nor b is in a volume, such as node1:/file. See jrdma volume cp --help.",
                "volume cp a:b:/c d | \"a:b\" is not an address such as node1, node1:7471 or [fd00::1]:7471. See jrdma volume cp --help.",
                "volume ls a | \"a\" is not an absolute path such as /folder or node1:/folder. See jrdma volume ls --help.",
                "volume nodes -s a:b | Invalid setting \"servers\": \"a:b\" is not an address such as node1, node1:7471 or [fd00::1]:7471. See jrdma volume nodes --help.",
                "volume demo -t tcp | Invalid setting \"transports\": there is no transport \"tcp\". The transports are: verbs, sisci, sockets. See jrdma volume demo --help.",
                "volume demo -t sisci | The servers of the demo find each other over sockets. Add sockets to the transports. See jrdma volume demo --help."
            })
    void shouldRejectAnInvalidCommandLineInOneLine(String words, String message) {
        assertThat(InvalidCommandLineAssertions.errors(words)).isEqualTo(message + "\n");
    }

    /** Returns true if other programs use most of the processors. */
    private static boolean isLoaded() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        return system.getSystemLoadAverage() > system.getAvailableProcessors();
    }

    @ParameterizedTest
    @CsvSource({"'verbs,sockets', verbs", "sockets, sockets", "'sisci,sockets', sisci"})
    @Tag("slow")
    void shouldGoOnWhenTheDemoKillsTheCoordinator(String transports, String used) throws Exception {
        var isLoaded = isLoaded();
        try (var demo = start("demo", "-t", transports)) {
            assertThat(demo.await()).as(demo.output()).isZero();
            var seconds = DEMO_SECONDS.matcher(demo.output());
            assertThat(seconds.find()).as(demo.output()).isTrue();
            assertThat(Double.parseDouble(seconds.group(1))).isLessThan(isLoaded ? 90 : 60);
            assertThat(demo.output())
                    .containsPattern("\nkill -9 \\d+: killed node[12], the coordinator\\.\n")
                    .containsPattern("\nnode[12] took over in epoch \\d+\\.\n")
                    .contains(
                            "Client direct: data direct ",
                            "Client redirected: data redirected over " + used + " ",
                            ": 80 of 80 checksums are equal.\n",
                            "The volume is consistent.\n");
        }
    }
}
