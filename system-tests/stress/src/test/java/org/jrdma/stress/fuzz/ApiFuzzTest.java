package org.jrdma.stress.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.benchmarks.NullProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that random calls of the whole API neither crash the JVM, nor hang, nor leak, and end only
 * as the API documents. README.md describes the properties.
 */
class ApiFuzzTest {

    private static final long CALLS =
            Long.getLong(
                    "jrdma.fuzz.calls", Boolean.getBoolean("jrdma.test.quick") ? 500 : 4_000);
    private static final long SEED = Long.getLong("jrdma.fuzz.seed", 1);
    private static final Duration TIMEOUT = Duration.ofMinutes(10).plusMillis(CALLS / 4);

    /**
     * Starts the JVM in a mount namespace in which the folder of the fabric has half a megabyte.
     */
    private static final List<String> SMALL_FABRIC =
            List.of(
                    "unshare",
                    "--mount",
                    "sh",
                    "-c",
                    "mount -t tmpfs -o size=512k none FABRIC && exec \"$@\"",
                    "sh");

    @ParameterizedTest
    @ValueSource(strings = {"detector", "roce", "sisci", "tcp", "supersockets", "sisci-sockets"})
    void shouldEndEachRandomCallAsDocumented(String target) throws Exception {
        if (target.equals("detector")) {
            assumeCompiler();
        }
        run(target, target, List.of(), List.of());
    }

    private static void assumeCompiler() {
        if (NullProvider.compiler().isEmpty()) {
            assertThat(System.getenv("CI")).as("CI needs a C compiler.").isNotEqualTo("true");
            assumeTrue(false, "Skipped because there is no C compiler.");
        }
    }

    @Test
    @Tag("fuzz")
    void shouldSurviveTheEndOfTheStack() throws Exception {
        run("stack", "roce", List.of(), List.of("-Xss512k"), "stack");
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce", "sisci", "sisci-sockets"})
    @Tag("fuzz")
    void shouldSurviveFailedAllocationsOfServiceThreadsAndUpcalls(String target) throws Exception {
        var agent = "-javaagent:" + FailureAgent.jar(Path.of("target", "fuzz").toAbsolutePath());
        run("inject-" + target, target, List.of(), List.of(agent), "inject");
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce", "sisci"})
    @Tag("fuzz")
    void shouldSurviveAFullHeap(String target) throws Exception {
        // The heap is resident from the beginning, because the hog fills it in later epochs only.
        var resident = List.of("-Xms256m", "-XX:+AlwaysPreTouch");
        run("hog-" + target, target, List.of(), resident, "hog");
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce", "sisci-sockets"})
    @Tag("fuzz")
    void shouldSurviveTheLimitOfDescriptors(String target) throws Exception {
        run("descriptors-" + target, target, List.of(), List.of(), "descriptors");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sisci", "sisci-sockets"})
    @Tag("fuzz")
    void shouldSurviveAFullFileSystem(String target) throws Exception {
        assumeTrue(
                System.getProperty("user.name").equals("root"),
                "Only root can mount a file system.");
        run("full-" + target, target, SMALL_FABRIC, List.of());
    }

    private static void run(
            String name,
            String target,
            List<String> prefix,
            List<String> jvmOptions,
            String... options)
            throws Exception {
        var fabric = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-fuzz");
        try {
            var command = new ArrayList<String>();
            prefix.forEach(word -> command.add(word.replace("FABRIC", fabric.toString())));
            var jvm = new ArrayList<>(List.of("-Xmx256m", "-Djrdma.sisci.fabric=" + fabric));
            jvm.addAll(jvmOptions);
            var arguments = new ArrayList<>(List.of(target, "" + CALLS, "" + SEED));
            arguments.addAll(List.of(options));
            var output =
                    Child.start(name, command, jvm, Fuzz.class, arguments).awaitSuccess(TIMEOUT);
            System.out.println(
                    name
                            + ", "
                            + output.lines()
                                    .filter(line -> line.contains(" calls in "))
                                    .findFirst()
                                    .orElseThrow());
        } finally {
            deleteTree(fabric);
        }
    }

    static void deleteTree(Path folder) throws Exception {
        try (var files = Files.list(folder)) {
            for (var file : files.toList()) {
                Files.deleteIfExists(file);
            }
        }
        Files.delete(folder);
    }
}
