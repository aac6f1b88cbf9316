package org.jrdma.volume.fuse;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE_NEW;
import static java.nio.file.StandardOpenOption.READ;
import static java.nio.file.StandardOpenOption.TRUNCATE_EXISTING;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jrdma.ffi.Deadline;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;
import org.jrdma.processes.FreePorts;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.volume.ServerQuery;
import org.jrdma.volume.Volume;
import org.jrdma.volume.VolumeOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Uses a mounted volume with system calls and with programs. */
@Tag("slow")
@Timeout(300)
class MountTest {

    private static final long BLOCKS = 65_536;
    private static final int CLIENT_NODE = 100;
    private static final NodeOptions SOCKETS = NodeOptions.of(TransportKind.SOCKETS);
    private static final Duration QUERY_TIMEOUT = Duration.ofSeconds(10);
    private static final Duration START_TIMEOUT = Duration.ofSeconds(60);

    @TempDir Path folder;

    private Path drive;
    private Path mounted;
    private List<Integer> ports;
    private final List<String> javaOptions = new ArrayList<>();
    private final List<Node> nodes = new ArrayList<>();
    private Path fabric;
    private final List<Process> servers = new ArrayList<>();
    private Process mount;
    private Volume other;

    @BeforeEach
    void createVolume() throws Exception {
        if (!Files.isWritable(Path.of("/dev/fuse"))) {
            throw missing("/dev/fuse does not exist, or this user cannot use it");
        }
        for (var program : List.of("fusermount3", "fio", "git")) {
            if (Stream.of("/usr/bin", "/bin")
                    .noneMatch(bin -> Files.exists(Path.of(bin, program)))) {
                throw missing("There is no %s: apt install fuse3 fio git".formatted(program));
            }
        }
        drive = folder.resolve("drive");
        try (var created = FileDrive.create(drive, BLOCKS)) {
            VolumeServer.create(created);
        }
        ports = FreePorts.of(2);
        startServers(drive.toString(), drive.toString());
        mounted = Files.createDirectory(folder.resolve("mounted"));
    }

    /** Mounts the volume with options, and opens it in this process, too. */
    private void mount(String... options) throws Exception {
        var arguments = new ArrayList<>(List.of(options));
        arguments.add("--servers=127.0.0.1:%d,127.0.0.1:%d".formatted(ports.get(0), ports.get(1)));
        arguments.add("--transports=sockets");
        arguments.add(mounted.toString());
        mount = java(Mount.class, arguments.toArray(String[]::new));
        var deadline = Deadline.after(START_TIMEOUT);
        while (!Files.readString(Path.of("/proc/self/mounts")).contains(mounted.toString())) {
            assertThat(mount.isAlive() && !deadline.hasPassed()).as(this::log).isTrue();
            Thread.sleep(50);
        }
        other =
                Volume.open(
                        VolumeOptions.of("other-" + ports.getFirst(), addresses()).node(SOCKETS));
    }

    /** Mounts the volume with a path to the drive. */
    private void mountDirect() throws Exception {
        mount("--drive=" + drive);
    }

    private void startServers(String first, String second) throws IOException {
        servers.add(server(first, ports.get(0), ports.get(1)));
        servers.add(server(second, ports.get(1), ports.get(0)));
    }

    private void stopServers() throws InterruptedException {
        for (var server : servers) {
            server.destroyForcibly().waitFor();
        }
        servers.clear();
    }

    private Process server(String name, int port, int otherPort) throws IOException {
        return java(
                VolumeServerProgram.class,
                name,
                Integer.toString(port),
                Integer.toString(otherPort));
    }

    private Process java(Class<?> program, String... arguments) throws IOException {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(javaOptions);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(
                        ProcessBuilder.Redirect.appendTo(
                                folder.resolve(program.getSimpleName() + ".log").toFile()))
                .start();
    }

    private List<List<String>> addresses() {
        return ports.stream().map(port -> List.of(VolumeServerProgram.address(port))).toList();
    }

    private String log() {
        try {
            return Files.readString(folder.resolve("Mount.log"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    @AfterEach
    void shouldEndWithTheUnmountAndLeaveAConsistentVolume() throws Exception {
        try {
            if (other != null) {
                other.close();
                run("fusermount3 -u " + mounted);
                assertThat(mount.waitFor(Duration.ofSeconds(30))).isTrue();
                assertThat(mount.exitValue()).as(this::log).isZero();
            }
        } finally {
            if (mount != null) {
                mount.destroyForcibly().waitFor();
            }
            stopServers();
            nodes.reversed().forEach(Node::close);
            if (fabric != null) {
                run("rm -r " + fabric);
            }
        }
        if (other != null) {
            try (var checked = FileDrive.open(drive)) {
                assertThat(VolumeServer.check(checked)).isEmpty();
            }
        }
    }

    /** Runs a script of the shell, and returns its output. */
    private String run(String script) throws Exception {
        var output = folder.resolve("output");
        var builder =
                new ProcessBuilder("bash", "-euc", "set -o pipefail\n" + script)
                        .directory(folder.toFile())
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile());
        builder.environment().put("HOME", folder.toString());
        var status = builder.start().waitFor();
        assertThat(status).as("%s%n%s%n%s", script, Files.readString(output), log()).isZero();
        return Files.readString(output);
    }

    /** Creates a folder with source files, of about two million bytes in some hundred files. */
    private void createTree() throws Exception {
        run(
                """
                cp -a "%s" tree
                find tree -type f | sed -n 1,20p | xargs chmod 755
                find tree -type f | sed -n 21,40p | xargs touch -d '2001-02-03 04:05:06.789'
                """
                        .formatted(Path.of("../volume/src").toAbsolutePath().normalize()));
    }

    private static final String SAME =
            """
            diff -r tree "$copy"
            list() { cd "$1"; find . -type f -printf '%P %s %m %T@\\n' | sort; }
            diff <(list tree) <(list "$copy")
            """;

    @Test
    void shouldKeepContentModeAndTimesOfACopiedTree() throws Exception {
        mountDirect();
        createTree();
        run("cp -a tree mounted/copy; copy=mounted/copy\n" + SAME);
        run("cp -a mounted/copy back; copy=back\n" + SAME);
        run("rm -r mounted/copy; test -z \"$(ls -A mounted)\"");
    }

    /** Starts to copy the tree. Returns when the first files are there. */
    private Process startCopy() throws Exception {
        var copy =
                new ProcessBuilder("cp", "-a", "tree", "mounted/copy")
                        .directory(folder.toFile())
                        .inheritIO()
                        .start();
        var deadline = Deadline.after(START_TIMEOUT);
        while (run("find mounted -type f | wc -l").strip().compareTo("5") < 0) {
            assertThat(deadline.hasPassed()).isFalse();
        }
        assertThat(copy.isAlive()).isTrue();
        return copy;
    }

    @Test
    void shouldEndACopyCorrectlyAfterTheCoordinatorWasKilled() throws Exception {
        mount();
        createTree();
        var copy = startCopy();
        var killed = coordinator();
        servers.get(killed).destroyForcibly().waitFor();
        assertThat(copy.waitFor()).as(this::log).isZero();
        assertThat(coordinator()).isNotEqualTo(killed);
        run("copy=mounted/copy\n" + SAME);
    }

    @Test
    void shouldCopyATreeWhileThePathToALentDriveIsCut() throws Exception {
        createTree();
        stopServers();
        fabric = Files.createTempDirectory(Path.of("/dev/shm"), "mount");
        var lent = lendDrive();
        var link = new SoftSisci(SoftSisciOptions.in(fabric).node(CLIENT_NODE));
        nodes.add(Sisci.from(link).open());
        javaOptions.addAll(List.of("-Djrdma.fabric=software", "-Djrdma.sisci.fabric=" + fabric));
        startServers(lent.get(0), lent.get(1));
        javaOptions.add("-Djrdma.sisci.node=" + CLIENT_NODE);
        mount("--drive=" + lent.get(2));

        var copy = startCopy();
        link.cutLink(0);
        assertThat(copy.waitFor()).as(this::log).isZero();
        assertThat(log()).contains("uses the path: redirected");
        run("copy=mounted/copy\n" + SAME);
        link.restoreLink(0);
        var deadline = Deadline.after(START_TIMEOUT);
        while (!log().contains("uses the path: direct (the drive works again)")) {
            assertThat(deadline.hasPassed()).as(this::log).isFalse();
            Thread.sleep(50);
        }
        run("cp -a mounted/copy back; copy=back\n" + SAME);
    }

    /** Lends the drive through a controller for each server and the mount, and returns the ids. */
    private List<String> lendDrive() throws IOException {
        var library = new SoftSisci(SoftSisciOptions.in(fabric));
        nodes.add(Sisci.from(library).open());
        var subsystem = new Subsystem("lender", "drive of a test");
        var _ = subsystem.addNamespace(BlockStorage.inFile(drive, BLOCKS, Drive.BLOCK_BYTES));
        var ids = new ArrayList<String>();
        while (ids.size() <= ports.size()) {
            var device = library.lend(subsystem.newController());
            ids.add("0x" + Long.toHexString(device.fabricDeviceId()));
        }
        return ids;
    }

    /** Returns the number of the server that is the coordinator. */
    private int coordinator() throws IOException {
        for (var server = 0; server < servers.size(); server++) {
            if (servers.get(server).isAlive()) {
                try (var query =
                        ServerQuery.open(addresses().get(server), SOCKETS, QUERY_TIMEOUT)) {
                    if (query.server().isCoordinator()) {
                        return server;
                    }
                }
            }
        }
        throw new AssertionError("There is no coordinator");
    }

    @Test
    void shouldStoreAGitRepository() throws Exception {
        mountDirect();
        createTree();
        run(
                """
                export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a
                git init -q origin
                cp -a tree origin/
                git -C origin add .
                git -C origin commit -q -m First
                git clone -q "file://$PWD/origin" mounted/clone
                cd mounted/clone
                git fsck --full --strict
                test -z "$(git status --porcelain)"
                echo more >> tree/new
                git add .
                git commit -q -m Second
                git gc -q --prune=now
                git fsck --full --strict
                git push -q origin HEAD:refs/heads/second
                git -C ../../origin fsck --full
                """);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPassTheVerificationOfFio(boolean isDirect) throws Exception {
        if (isDirect) {
            mountDirect();
        } else {
            mount();
        }
        run(
                """
                verified() { fio --directory=mounted --size=16m --verify=crc32c --verify_fatal=1 "$@"; }
                verified --name=sequential --rw=write --bs=128k --end_fsync=1
                verified --name=random --rw=randwrite --bs=4k
                verified --name=direct --rw=randrw --bs=512-64k --direct=1 --ioengine=libaio --iodepth=8 --numjobs=2 --verify_backlog=64
                verified --name=mapped --rw=randwrite --bs=4k --ioengine=mmap
                """);
    }

    @Test
    void shouldShareDataAndAttributesOfOpenFilesWithOtherClients() throws Exception {
        mountDirect();
        var here = mounted.resolve("file");
        var there = other.path("/file");
        try (var file = FileChannel.open(here, CREATE_NEW, READ, WRITE)) {
            for (var text : List.of("Hello", "Jello", "Jelly and more")) {
                Files.writeString(there, text, WRITE, TRUNCATE_EXISTING);
                assertThat(read(file)).isEqualTo(text);
                assertThat(Files.size(here)).isEqualTo(text.length());
            }
            file.write(bytes("H"), 0);
            assertThat(Files.readString(there)).isEqualTo("Helly and more");
            Files.move(there, other.path("/moved"));
            assertThat(Files.exists(here)).isFalse();
            assertThat(mounted.resolve("moved")).hasContent("Helly and more");
        }
    }

    private static ByteBuffer bytes(String text) {
        return ByteBuffer.wrap(text.getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }

    private static String read(FileChannel file) throws IOException {
        var buffer = ByteBuffer.allocate(100);
        var _ = file.read(buffer, 0);
        return new String(
                buffer.array(), 0, buffer.position(), java.nio.charset.StandardCharsets.UTF_8);
    }

    @Test
    void shouldAppendAtTheEndThatOtherClientsHaveMoved() throws Exception {
        mount();
        var here = mounted.resolve("log");
        Files.writeString(here, "one ");
        try (var file = FileChannel.open(here, APPEND)) {
            Files.writeString(other.path("/log"), "two ", APPEND);
            file.write(bytes("three"));
        }
        assertThat(here).hasContent("one two three");
    }

    @Test
    void shouldRenameReplaceAndRemove() throws Exception {
        mountDirect();
        var first = Files.writeString(mounted.resolve("first"), "1");
        var second = Files.writeString(mounted.resolve("second"), "2");
        Files.move(first, second, StandardCopyOption.ATOMIC_MOVE);
        assertThat(second).hasContent("1");
        assertThat(first).doesNotExist();

        var directory = Files.createDirectory(mounted.resolve("directory"));
        var inside = Files.move(second, directory.resolve("inside"));
        assertThatThrownBy(() -> Files.delete(directory))
                .isInstanceOf(DirectoryNotEmptyException.class);
        assertThatThrownBy(() -> Files.createDirectory(directory))
                .isInstanceOf(FileAlreadyExistsException.class);
        try (var file = FileChannel.open(inside, READ)) {
            Files.delete(inside);
            assertThat(read(file)).isEqualTo("1");
        }
        assertThat(inside).doesNotExist();
    }

    @Test
    void shouldChangeSizeModeAndTime() throws Exception {
        mountDirect();
        var path = Files.writeString(mounted.resolve("file"), "Hello");
        run(
                "truncate -s 10000 mounted/file; truncate -s 3 mounted/file; truncate -s 6 mounted/file");
        assertThat(path).hasContent("Hel\0\0\0");

        var time = FileTime.from(Instant.parse("2001-02-03T04:05:06.123456789Z"));
        try (var file = FileChannel.open(path, WRITE)) {
            file.write(bytes("J"));
            Files.setLastModifiedTime(path, time);
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-x---"));
        }
        assertThat(Files.getLastModifiedTime(path)).isEqualTo(time);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                .isEqualTo("rwxr-x---");
    }

    @Test
    void shouldRefuseWhatAVolumeCannotStore() throws Exception {
        mountDirect();
        var file = Files.writeString(mounted.resolve("file"), "Hello");
        assertThatThrownBy(() -> Files.createSymbolicLink(mounted.resolve("link"), file))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("Operation not permitted");
        assertThatThrownBy(() -> Files.createLink(mounted.resolve("link"), file))
                .isInstanceOf(FileSystemException.class)
                .hasMessageContaining("Operation not permitted");
        assertThat(run("chown 12345 mounted/file || mkfifo mounted/fifo || true"))
                .contains("Operation not permitted");
        assertThat(
                        run(
                                "touch mounted/$'caf\\xe9' || touch mounted/"
                                        + "n".repeat(256)
                                        + " || true"))
                .contains("Invalid or incomplete multibyte", "File name too long");
        assertThat(run("head -c 300M /dev/zero > mounted/large || true"))
                .contains("No space left on device");
        assertThat(file).hasContent("Hello");
        assertThat(run("ls mounted")).isEqualTo("file\nlarge\n");
    }
}
