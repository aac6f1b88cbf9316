package org.jrdma.cli.volume;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jrdma.cli.Jrdma;
import org.jrdma.cli.JrdmaProcess;
import org.jrdma.processes.FreePorts;
import org.jrdma.processes.Program;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jrdma.volume.ServerQuery;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs a server and clients with a lent drive, which is lost and works again. */
@Tag("slow")
@Timeout(300)
class LentDriveTest {

    private static final int LENDER = 4;
    private static final int SERVER = 8;
    private static final int CLIENT = 12;

    /** The controller of the client. */
    private static final String CONTROLLER = "0x402";

    /** No controller: the data is redirected. */
    private static final String NONE = "";

    private static final int PAUSE_MILLIS = 50;
    private static final int COPIED_BYTES = 128 << 20;
    private static final int DRIVE_BYTES = 256 << 20;
    private static final int LEASE_MILLIS = 5000;
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private static final String AGAIN = "a preferred transport works again";

    /** The path of the copy to its data, in the output of the command "net". */
    private static final Pattern DATA =
            Pattern.compile(
                    "\"client\":\"copier-[^\"]*\",\"purpose\":\"data\",\"path\":\"(?<path>\\w+)\",[^}]*\"transport\":\"?(?<transport>\\w+)[^}]*\"whyNotFaster\":\\[(?<unused>[^}]*)],\"reason\":\"(?<reason>[^\"]*)");

    @TempDir private Path folder;

    private Path memory;
    private String servers;
    private Program lender;
    private Program server;

    @BeforeEach
    void createFabric() throws IOException {
        memory = Files.createTempDirectory(Path.of("/dev/shm"), "lent-drive");
        Files.createDirectory(memory.resolve("fabric"));
        servers = "127.0.0.1:" + FreePorts.of(1).getFirst();
    }

    @AfterEach
    void stop() throws IOException {
        for (var program : new Program[] {server, lender}) {
            if (program != null) {
                program.close();
            }
        }
        try (var files = Files.walk(memory)) {
            for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }

    private List<String> node(int id) {
        return List.of(
                "-Djrdma.fabric=software",
                "-Djrdma.sisci.fabric=" + memory.resolve("fabric"),
                "-Djrdma.sisci.node=" + id,
                "-Djrdma.sockets.transports=tcp",
                "-Dorg.slf4j.simpleLogger.log.org.jrdma.volume=info");
    }

    private void lend(int pauseMillis) throws Exception {
        lender =
                JrdmaProcess.start(
                        DriveLender.class,
                        node(LENDER),
                        List.of(
                                memory.resolve("drive").toString(),
                                Integer.toString(DRIVE_BYTES / Drive.BLOCK_BYTES),
                                Integer.toString(pauseMillis)));
        lender.awaitOutput("The drive is lent.");
    }

    private Program start(int node, String... words) throws IOException {
        var all = new ArrayList<>(List.of("volume"));
        all.addAll(List.of(words));
        return JrdmaProcess.start(node(node), all);
    }

    private void serve() throws Exception {
        try (var created = start(SERVER, "create", "--overwrite", "0x401")) {
            assertThat(created.await()).as(created.output()).isZero();
        }
        server =
                start(
                        SERVER,
                        "serve",
                        "--name=one",
                        "--drive=0x401",
                        "--listen=" + servers,
                        "--servers=" + servers,
                        "--transports=sisci,sockets",
                        "--lease=" + LEASE_MILLIS,
                        "--session=" + LEASE_MILLIS);
        server.awaitOutput("one is the coordinator");
    }

    private Program startCopy(Object source, Object target, String drive) throws IOException {
        var config =
                Files.writeString(
                        folder.resolve("config"),
                        "name = copier\ntransports = sisci, sockets\nservers = " + servers);
        return start(
                CLIENT,
                "cp",
                "--config=" + config,
                "--drive=" + drive,
                source.toString(),
                target.toString());
    }

    private void copy(Object source, Object target) throws Exception {
        try (var copy = startCopy(source, target, CONTROLLER)) {
            assertThat(copy.await()).as("%s%n%s", copy.output(), server.output()).isZero();
            assertThat(copy.output()).contains(" s (direct).\n");
        }
    }

    private Path createFile(int bytes) throws IOException {
        var content = new byte[bytes];
        new Random(1).nextBytes(content);
        return Files.write(memory.resolve("file"), content);
    }

    /** Joins a node of the fabric, so that its link can be cut. */
    private SoftSisci join(int node) {
        return new SoftSisci(SoftSisciOptions.in(memory.resolve("fabric")).node(node));
    }

    @Test
    void shouldUseTheDriveAgainAfterTheLenderWasRestartedAndALinkWasCut() throws Exception {
        lend(0);
        serve();
        var file = createFile(3_000_000);
        copy(file, ":/file");

        lender.close(); // kills it
        lend(0);
        copy(":/file", folder.resolve("first"));
        assertThat(folder.resolve("first")).hasSameBinaryContentAs(file);

        var link = join(SERVER);
        try (var _ = Sisci.from(link).open()) {
            link.cutLink(0);
            Thread.sleep(2 * LEASE_MILLIS);
            link.restoreLink(0);
            copy(file, ":/second");
        }
        copy(":/second", folder.resolve("second"));
        assertThat(folder.resolve("second")).hasSameBinaryContentAs(file);
    }

    @Test
    void shouldEndACopyCorrectlyWhenThePathToTheDriveIsCutAndRestored() throws Exception {
        lend(PAUSE_MILLIS);
        serve();
        var file = createFile(COPIED_BYTES);
        var _ = net(); // loads the classes of the command
        var link = join(CLIENT);
        try (var _ = Sisci.from(link).open();
                var copy = startCopy(file, ":/file", CONTROLLER)) {
            awaitStart(copy);
            awaitData(copy, "direct", "null", "the client has started");
            link.cutLink(0);
            var redirected = awaitData(copy, "redirected", "sockets", ".*NVMe.*");
            assertThat(redirected.group("unused")).startsWith("\"sisci:");
            link.restoreLink(0);
            awaitData(copy, "direct", "null", "the drive works again");
            assertThat(copy.await()).as(copy.output()).isZero();
            assertThat(copy.output())
                    .containsPattern("uses the path: redirected .* after a pause of [0-9.]+ s")
                    .containsPattern("Copied [0-9,]+ bytes in 1 file in [0-9.]+ s \\(direct\\)");
        }
        copy(":/file", memory.resolve("copy"));
        assertThat(memory.resolve("copy")).hasSameBinaryContentAs(file);
    }

    @Test
    void shouldUseAnotherTransportWhileTheLinkOfThePreferredOneIsCut() throws Exception {
        lend(PAUSE_MILLIS);
        serve();
        var file = createFile(COPIED_BYTES);
        var _ = net(); // loads the classes of the command
        var link = join(CLIENT);
        try (var _ = Sisci.from(link).open();
                var copy = startCopy(file, ":/file", NONE)) {
            awaitStart(copy);
            // On a machine with much load, the first attempt to connect over SISCI can fail.
            awaitData(copy, "redirected", "sisci", "the client has no drive|" + AGAIN);
            link.cutLink(0);
            var redirected = awaitData(copy, "redirected", "sockets", ".*sisci.*");
            assertThat(redirected.group("unused")).startsWith("\"sisci:");
            link.restoreLink(0);
            awaitData(copy, "redirected", "sisci", AGAIN);
            assertThat(copy.await()).as(copy.output()).isZero();
        }
        copy(":/file", memory.resolve("copy"));
        assertThat(memory.resolve("copy")).hasSameBinaryContentAs(file);
    }

    /** Waits until blocks for the data were allocated. */
    private void awaitStart(Program copy) throws Exception {
        try (var query =
                ServerQuery.open(
                        List.of("sockets:" + servers),
                        NodeOptions.of(TransportKind.SOCKETS),
                        TIMEOUT)) {
            var use = query.server().use().orElseThrow();
            while (query.server().use().orElseThrow().freeBytes() == use.freeBytes()) {
                pause(copy);
            }
        }
    }

    private static void pause(Program copy) throws Exception {
        assertThat(copy.isRunning()).as(copy.output()).isTrue();
        Thread.sleep(20);
    }

    /** Waits until the command "net" lists a path of the copy to its data. */
    private Matcher awaitData(Program copy, String path, String transport, String reason)
            throws Exception {
        while (true) {
            var data = DATA.matcher(net());
            if (data.find()
                    && data.group("path").equals(path)
                    && data.group("transport").equals(transport)
                    && data.group("reason").matches(reason)) {
                return data;
            }
            pause(copy);
        }
    }

    private String net() {
        var output = new StringWriter();
        var exit =
                Jrdma.commandLine()
                        .setOut(new PrintWriter(output, true))
                        .execute("volume", "net", "--json", "-t", "sockets", "-s", servers);
        assertThat(exit).as(output::toString).isZero();
        return output.toString();
    }
}
