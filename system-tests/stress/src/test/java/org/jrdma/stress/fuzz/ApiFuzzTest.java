package org.jrdma.stress.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.stress.NullProviderDevice;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that random calls of the whole API neither crash the JVM, nor hang, nor leak, and end only
 * as the API documents. README.md describes the properties.
 */
class ApiFuzzTest {

    private static final boolean QUICK = Boolean.getBoolean("jrdma.test.quick");

    /** The number of calls over all targets. */
    private static final long CALLS = Long.getLong("jrdma.fuzz.calls", QUICK ? 4_800 : 24_000);

    /** The number of calls of a run that uses up a resource. */
    private static final long CALLS_AT_LIMIT = Math.clamp(CALLS / 6, 1_000, 20_000);

    /** The number of allocations over all targets that must fail. */
    private static final int FAILURES = Integer.getInteger("jrdma.fuzz.failures", 100);

    private static final int CLASS_LOADERS = 20;

    private static final long SEED = Long.getLong("jrdma.fuzz.seed", 1);
    private static final Duration TIMEOUT = Duration.ofMinutes(10).plusMillis(CALLS / 2);

    /** Starts the JVM in a network namespace, whose loopback interface the test changes. */
    private static final List<String> OWN_NETWORK =
            List.of("unshare", "--net", "sh", "-c", "ip link set lo up && exec \"$@\"", "sh");

    /** Starts the JVM in a mount namespace in which the folder of the fabric is small. */
    private static List<String> smallFabric(String size) {
        return List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount -t tmpfs -o size=" + size + " none FABRIC && exec \"$@\"",
                "sh");
    }

    /** Makes more calls to targets whose calls take little time. */
    @ParameterizedTest
    @CsvSource({
        "detector, 400",
        "tcp, 250",
        "roce, 230",
        "supersockets, 80",
        "sisci-sockets, 20",
        "sisci, 20"
    })
    void shouldEndEachRandomCallAsDocumented(String target, int thousandths) throws Exception {
        if (target.equals("detector")) {
            NullProviderDevice.assumeCompiler();
        }
        var calls = Math.max(CALLS * thousandths / 1_000, Math.min(CALLS / 6, 4_000));
        var jvmOptions = QUICK ? List.of("-XX:TieredStopAtLevel=1") : List.<String>of();
        run(target, target, calls, List.of(), jvmOptions);
    }

    @Test
    @Tag("fuzz")
    void shouldSurviveTheEndOfTheStack() throws Exception {
        run("stack", "roce", CALLS_AT_LIMIT, List.of(), List.of("-Xss512k"), "stack");
    }

    @Test
    void shouldSurviveFailedAllocationsOfServiceThreadsAndUpcalls() throws Exception {
        runWithFailedAllocations("roce");
    }

    @ParameterizedTest
    @ValueSource(strings = {"sisci", "sisci-sockets"})
    @Tag("fuzz")
    void shouldSurviveFailedAllocationsOfSisci(String target) throws Exception {
        runWithFailedAllocations(target);
    }

    private static void runWithFailedAllocations(String target) throws Exception {
        var agent =
                "-javaagent:"
                        + AllocationFailureAgent.jar(Path.of("target", "fuzz").toAbsolutePath());
        var failures = "-Djrdma.fuzz.failures=" + FAILURES / 3;
        var jvmOptions = List.of(agent, failures);
        run("inject-" + target, target, CALLS_AT_LIMIT, List.of(), jvmOptions, "inject");
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce", "sisci"})
    @Tag("fuzz")
    void shouldSurviveAFullHeap(String target) throws Exception {
        run("heap-" + target, target, CALLS_AT_LIMIT, List.of(), List.of(), "heap");
    }

    @ParameterizedTest
    @ValueSource(strings = {"roce", "sisci-sockets"})
    @Tag("fuzz")
    void shouldSurviveTheLimitOfDescriptors(String target) throws Exception {
        var option = "descriptors";
        run("descriptors-" + target, target, CALLS_AT_LIMIT, List.of(), List.of(), option);
    }

    @Test
    @Tag("fuzz")
    void shouldSurviveChangesOfTheLinkAndItsMtu() throws Exception {
        assumeRoot();
        run("link", "roce", CALLS_AT_LIMIT, OWN_NETWORK, List.of(), "link");
    }

    /** The folder of the fabric has space for the rings of two connections of sockets. */
    @ParameterizedTest
    @CsvSource({"sisci, 512k", "sisci-sockets, 9m"})
    @Tag("fuzz")
    void shouldSurviveAFullFileSystem(String target, String size) throws Exception {
        assumeRoot();
        run("full-" + target, target, CALLS_AT_LIMIT, smallFabric(size), List.of(), "full");
    }

    /** The classes stay loaded, because service threads and upcall stubs refer to them. */
    @ParameterizedTest
    @ValueSource(strings = {"roce", "sisci-sockets"})
    @Tag("fuzz")
    void shouldWorkFromClassLoadersThatAreDiscarded(String target) throws Exception {
        var fabric = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-fuzz");
        try {
            var options = List.of("-Djrdma.sisci.fabric=" + fabric);
            var arguments = List.of(target, "" + CLASS_LOADERS);
            var child =
                    Child.start(
                            "loaders-" + target,
                            List.of(),
                            options,
                            ClassLoaderUnloading.class,
                            arguments);
            System.out.println(
                    child.awaitSuccess(TIMEOUT)
                            .lines()
                            .filter(line -> line.contains(" class loaders, "))
                            .findFirst()
                            .orElseThrow());
        } finally {
            deleteTree(fabric);
        }
    }

    private static void assumeRoot() {
        var root = System.getProperty("user.name").equals("root");
        assertThat(root || !"true".equals(System.getenv("CI"))).as("CI runs as root.").isTrue();
        assumeTrue(root, "Only root can create namespaces.");
    }

    static void run(
            String name,
            String target,
            long calls,
            List<String> prefix,
            List<String> jvmOptions,
            String... options)
            throws Exception {
        var fabric = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-fuzz");
        try {
            var command = new ArrayList<String>();
            prefix.forEach(word -> command.add(word.replace("FABRIC", fabric.toString())));
            var jvm = new ArrayList<>(List.of("-Djrdma.sisci.fabric=" + fabric));
            jvm.addAll(jvmOptions);
            var arguments = new ArrayList<>(List.of(target, "" + calls, "" + SEED));
            arguments.addAll(List.of(options));
            var output =
                    Child.start(name, command, jvm, FuzzChildMain.class, arguments)
                            .awaitSuccess(TIMEOUT);
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
