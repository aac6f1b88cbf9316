package org.jrdma.stress.fuzz;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests a program while other processes write to its memory, send it forged packets and messages,
 * or kill it at random times.
 */
class HostileNeighborTest {

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");
    private static final long SEED = Long.getLong("jrdma.fuzz.seed", 1);
    private static final long WORDS = Long.getLong("jrdma.fuzz.words", QUICK ? 2_000 : 100_000);
    private static final long PACKETS =
            Long.getLong("jrdma.fuzz.packets", QUICK ? 20_000 : 200_000);
    private static final int KILLS = Integer.getInteger("jrdma.fuzz.kills", QUICK ? 3 : 12);
    private static final int ROUNDS = 5;
    private static final List<String> DIAGNOSTIC_COMMANDS =
            List.of("Thread.print", "GC.class_histogram", "VM.classloader_stats", "VM.info");
    private static final String DEBUGGER_INPUT =
            """
            suspend
            where all
            threads
            resume
            quit
            """;
    private static final Duration TIMEOUT = Duration.ofMinutes(30);

    private Path fabric;
    private final List<Child> children = new ArrayList<>();

    @BeforeEach
    void createFabric() throws IOException {
        fabric = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-fuzz");
    }

    @AfterEach
    void deleteFabric() throws Exception {
        for (var child : children) {
            child.process().destroyForcibly().waitFor();
        }
        ApiFuzzTest.deleteTree(fabric);
    }

    @Test
    void shouldSurviveANeighborThatWritesToAllSegmentsOfSockets() throws Exception {
        runBesideSegmentWriter("sisci-sockets");
    }

    @Test
    @Tag("fuzz")
    void shouldSurviveANeighborThatWritesToAllSegments() throws Exception {
        runBesideSegmentWriter("sisci");
    }

    private void runBesideSegmentWriter(String target) throws Exception {
        var victim = victim("words-" + target, target, List.of(), "attacked");
        var neighbor =
                start(
                        "neighbor-" + target,
                        List.of(),
                        HostileSegmentWriter.class,
                        "" + fabric,
                        "" + WORDS / 2,
                        "" + SEED,
                        victim.lineAfter("Address "));

        System.out.print(neighbor.awaitSuccess(TIMEOUT));
        stop(victim);
    }

    @Test
    @Tag("fuzz")
    void shouldSurviveForgedPackets() throws Exception {
        var samples = Files.createTempFile(Path.of("/dev/shm"), "jrdma-fuzz", "");
        try {
            var option = "-D" + RecentlySentPackets.PROPERTY + "=" + samples;
            var victim = victim("packets", "roce", List.of(option), "attacked");
            var address = victim.lineAfter("Address ");

            System.out.print(
                    start(
                                    "flood",
                                    List.of(),
                                    PacketFlood.class,
                                    address,
                                    "" + PACKETS,
                                    "" + SEED,
                                    "" + samples)
                            .awaitSuccess(TIMEOUT));
            stop(victim);
        } finally {
            Files.delete(samples);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"sisci", "sisci-sockets", "roce"})
    @Tag("fuzz")
    void shouldSurviveKilledNeighbors(String target) throws Exception {
        var survivor = victim("survivor-" + target, target);
        var random = new Random(SEED);
        for (var kill = 0; kill < KILLS / 3; kill++) {
            var neighbor = victim("killed-" + target, target);
            TimeUnit.MILLISECONDS.sleep(random.nextInt(500));
            if (random.nextBoolean()) {
                neighbor.process().destroyForcibly();
            } else {
                neighbor.process().destroy(); // SIGTERM, while the program uses and closes objects.
            }
            assertThat(neighbor.process().waitFor(30, TimeUnit.SECONDS)).isTrue();
            assertThat(neighbor.process().exitValue()).isIn(128 + 9, 128 + 15);
            assertThat(neighbor.output()).doesNotContain("FINDING");
        }
        System.out.printf("%s: %d neighbors killed%n", target, KILLS / 3);
        stop(survivor);
    }

    /** Attaches tools of the JDK, which stop the threads of the program also in upcalls. */
    @ParameterizedTest
    @ValueSource(strings = {"roce", "sisci-sockets"})
    @Tag("fuzz")
    void shouldSurviveDiagnosticCommandsAndADebugger(String target) throws Exception {
        var agent = "-agentlib:jdwp=transport=dt_socket,server=y,suspend=n,address=127.0.0.1:0";
        var victim = victim("debugged-" + target, target, List.of(agent));
        var pid = "" + victim.process().pid();
        for (var round = 0; round < ROUNDS; round++) {
            for (var command : DIAGNOSTIC_COMMANDS) {
                assertThat(tool("", "jcmd", pid, command)).contains(pid);
            }
            // After a debugger has detached, the JVM listens at another port.
            var port = victim.lineAfter("Listening for transport dt_socket at address: ", round);
            assertThat(tool(DEBUGGER_INPUT, "jdb", "-attach", "127.0.0.1:" + port))
                    .contains("All threads suspended", "All threads resumed");
        }
        System.out.printf("%s: %d times attached with jcmd and jdb%n", target, ROUNDS);
        stop(victim);
    }

    private static String tool(String input, String name, String... arguments) throws Exception {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", name).toString());
        command.addAll(List.of(arguments));
        var output = Files.createTempFile("tool", "");
        try {
            var process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
            for (var line : input.lines().toList()) {
                process.getOutputStream().write((line + "\n").getBytes(US_ASCII));
                process.getOutputStream().flush();
                // The debugger discards input that arrives too early.
                TimeUnit.MILLISECONDS.sleep(300);
            }
            process.getOutputStream().close();
            var ended = process.waitFor(60, TimeUnit.SECONDS);
            process.destroyForcibly();
            assertThat(ended).as(Files.readString(output)).isTrue();
            return Files.readString(output);
        } finally {
            Files.delete(output);
        }
    }

    private Child victim(String name, String target) throws Exception {
        return victim(name, target, List.of());
    }

    private Child victim(
            String name, String target, List<String> jvmOptions, String... furtherArguments)
            throws Exception {
        var arguments = new ArrayList<String>();
        arguments.addAll(List.of(target, "" + Long.MAX_VALUE, "" + SEED, "until-end-of-input"));
        arguments.addAll(List.of(furtherArguments));
        var child = start(name, jvmOptions, FuzzChildMain.class, arguments.toArray(String[]::new));
        child.lineAfter("Address "); // Waits until the program runs.
        return child;
    }

    private Child start(String name, List<String> jvmOptions, Class<?> main, String... arguments)
            throws IOException {
        var options = new ArrayList<>(List.of("-Djrdma.sisci.fabric=" + fabric));
        options.addAll(jvmOptions);
        var child = Child.start(name, List.of(), options, main, List.of(arguments));
        children.add(child);
        return child;
    }

    private static void stop(Child victim) throws Exception {
        victim.process().getOutputStream().close();
        victim.awaitSuccess(Duration.ofMinutes(6));
    }
}
