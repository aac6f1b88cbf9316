package org.jrdma.cli;

import static java.nio.file.StandardCopyOption.COPY_ATTRIBUTES;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.DataInputStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import org.jrdma.processes.FreePorts;
import org.jrdma.processes.Program;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests of jrdma.jar and of the script jrdma. */
@Tag("packaged")
class PackagedTest {

    /** The feature number of a release of Java; 1 for Java 8 and older, whose version is 1.8. */
    private static final Pattern JAVA_VERSION = Pattern.compile("JAVA_VERSION=\"(\\d+)");

    /** Starts {@code java OPTIONS -jar jrdma.jar devices}. */
    private static Program startDevices(String... options) throws Exception {
        var words = new ArrayList<String>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(List.of(options));
        words.addAll(List.of("-jar", Path.of("target", "jrdma.jar").toString(), "devices"));
        return Program.start(words);
    }

    @Test
    void shouldRunOnAMachineThatHasOnlyJava() throws Exception {
        try (var program = startDevices("--illegal-native-access=deny")) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output())
                    .contains("\n  soft0: ", "\n  adapter 0: node ")
                    .doesNotContain("WARNING");
        }
    }

    @Test
    void shouldPrintTheSameOutputInEveryLocale() throws Exception {
        try (var program = startDevices("-Duser.language=ar", "-Duser.country=EG")) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output())
                    .contains("\n    port 1: active, ethernet, MTU 4096\n", "\n  adapter 0: ");
        }
    }

    /**
     * Measures with a peer that the command starts in the same way as the command itself was
     * started.
     */
    @Tag("slow")
    @ParameterizedTest
    @ValueSource(strings = {"../jrdma", "JAVA_HOME/bin/java -jar target/jrdma.jar"})
    void shouldMeasureBetweenTwoProcesses(String command) throws Exception {
        var java = System.getProperty("java.home");
        var words = new ArrayList<>(List.of(command.replace("JAVA_HOME", java).split(" ", -1)));
        words.addAll(List.of("ping", "-c1", "-i100", "write", "--fabric=SOFTWARE"));

        try (var program = Program.start(Map.of("JAVA_HOME", java), words)) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output())
                    .startsWith(
                            "write, 64 bytes: RDMA WRITE, on the software fabric; latency per message in us\n")
                    .containsPattern("(?m)^ +samples +min +p50 +p99 +p99.9 +max\n +\\d+ ")
                    .doesNotContain("WARNING");
        }
    }

    /**
     * Runs the commands of docs/learn/supersockets-java.md with another port and in another folder.
     */
    @Test
    @Tag("slow")
    void shouldRunTheDocumentedCommandsOverSisci(@TempDir Path folder) throws Exception {
        var blocks =
                Pattern.compile("```sh\n(.*?)```", Pattern.DOTALL)
                        .matcher(Files.readString(Path.of("../docs/learn/supersockets-java.md")))
                        .results()
                        .map(found -> found.group(1))
                        .toList();
        assertThat(blocks).hasSize(2);
        var port = FreePorts.one();

        try (var server = bash(folder, port, "exec " + blocks.getFirst())) {
            server.awaitOutput("Serving ");
            try (var client = bash(folder, port, blocks.getLast())) {
                assertThat(client.await()).as(client.output()).isZero();
                assertThat(client.output())
                        .contains("Fetch.java") // a file that the server lists
                        .contains("   sisci: 1 (to %d); ".formatted(port));
            }
        }
    }

    private static Program bash(Path folder, int port, String script) throws Exception {
        var localScript =
                script.replace(
                                "cli/target/jrdma.jar",
                                Path.of("target/jrdma.jar").toRealPath() + "")
                        .replace("./jrdma", Path.of("../jrdma").toRealPath() + "")
                        .replace("8000", port + "");
        var java = System.getProperty("java.home");
        return Program.start(
                Map.of(
                        "JAVA_HOME",
                        java,
                        "PATH",
                        java + "/bin:" + System.getenv("PATH"),
                        "JDK_JAVA_OPTIONS",
                        "-Djrdma.sisci.fabric=" + folder.resolve("fabric")),
                List.of("bash", "-ec", "cd '%s' && %s".formatted(folder, localScript)));
    }

    /** Java 8 can load a class file of version 52. */
    @Test
    void shouldHaveALauncherThatOldJavaVersionsCanLoad() throws Exception {
        try (var jar = new JarFile(Path.of("target", "jrdma.jar").toFile());
                var launcher =
                        new DataInputStream(
                                jar.getInputStream(
                                        jar.getEntry(
                                                "org/jrdma/cli/VersionCheckingLauncher.class")))) {
            assertThat(jar.getManifest().getMainAttributes().getValue("Main-Class"))
                    .isEqualTo("org.jrdma.cli.VersionCheckingLauncher");
            assertThat(launcher.readInt()).isEqualTo(0xCAFEBABE);
            assertThat(launcher.readInt()).isEqualTo(52);
        }
    }

    @Test
    void shouldReportTheRequiredVersionOnAnOlderJava() throws Exception {
        var homes = olderJavaHomes();
        assumeThat(homes).as("an older Java below /usr/lib/jvm").isNotEmpty();
        for (var home : homes) {
            var java = home.resolve("bin/java").toString();
            try (var program = Program.start(List.of(java, "-jar", "target/jrdma.jar"))) {
                assertThat(program.await()).as(program.output()).isOne();
                assertThat(program.output())
                        .startsWith("jrdma needs Java 25 or newer, but this is Java ")
                        .hasLineCount(1);
            }
        }
    }

    private static Set<Path> olderJavaHomes() throws Exception {
        var homes = new TreeSet<Path>();
        try (var folders = Files.newDirectoryStream(Path.of("/usr/lib/jvm"))) {
            for (var folder : folders) {
                var release = folder.resolve("release");
                if (Files.isExecutable(folder.resolve("bin/java")) && Files.exists(release)) {
                    var version = JAVA_VERSION.matcher(Files.readString(release));
                    if (version.find() && Integer.parseInt(version.group(1)) < 25) {
                        homes.add(folder.toRealPath());
                    }
                }
            }
        } catch (NoSuchFileException _) {
            // Java is installed in another folder.
        }
        return homes;
    }

    @Test
    void shouldReportAnInvalidSystemProperty() throws Exception {
        try (var program = startDevices("-Djrdma.soft.devices=eth4711")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .startsWith("jrdma.soft.devices: \"eth4711\" is neither an address")
                    .hasLineCount(1);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"../jrdma", "JAVA_HOME/bin/java -jar target/jrdma.jar"})
    void shouldPrintItsVersion(String command) throws Exception {
        var java = System.getProperty("java.home");
        var words = new ArrayList<>(List.of(command.replace("JAVA_HOME", java).split(" ", -1)));
        words.add("--version");

        try (var program = Program.start(Map.of("JAVA_HOME", java), words)) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output())
                    .isEqualTo("jrdma " + DocumentedVersionTest.version() + "\n");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "demo, examples",
        "example atomics, examples",
        "example rc-pingpong, system-tests/interop",
        "devices, cli",
        "doctor, cli",
        "lend edu, cli",
        "net, cli",
        "perf, cli",
        "ping, cli",
        "volume demo, cli"
    })
    void shouldBuildTheMissingModule(String command, String module, @TempDir Path checkout)
            throws Exception {
        assertThat(outputOf(checkout(checkout), command))
                .contains("jrdma: building", " -pl " + module + " -am", "the build failed");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "origin/pom.xml",
                "cli/src/main/java/A.java",
                "softfabric/roce-soft/src/main/resources/META-INF/services/a.B"
            })
    void shouldBuildAgainAfterAChange(String changed, @TempDir Path folder) throws Exception {
        var checkout = checkout(folder);
        Files.createDirectories(checkout.resolve("cli/target/classes"));
        Files.createFile(checkout.resolve("cli/target/classes/module-info.class"));
        Files.writeString(checkout.resolve("cli/target/module-path"), "\n");
        assertThat(outputOf(checkout, "devices")).doesNotContain("building");

        Files.createDirectories(checkout.resolve(changed).getParent());
        Files.createFile(checkout.resolve(changed));

        assertThat(outputOf(checkout, "devices")).contains("jrdma: building");
    }

    /** Creates a checkout whose Maven fails, so that no build runs within the build. */
    private static Path checkout(Path folder) throws Exception {
        var maven = Files.createDirectory(folder.resolve("bin")).resolve("mvn");
        Files.writeString(maven, "#!/bin/sh\necho \"mvn $*\"\nexit 1\n");
        assertThat(maven.toFile().setExecutable(true)).isTrue();
        Files.createFile(folder.resolve("pom.xml"));
        Files.copy(Path.of("..", "jrdma"), folder.resolve("jrdma"), COPY_ATTRIBUTES);
        var examples = Files.createDirectory(folder.resolve("examples"));
        Files.copy(Path.of("../examples/examples.tsv"), examples.resolve("examples.tsv"));
        return folder;
    }

    /** Returns the output of a command that fails. */
    private static String outputOf(Path checkout, String command) throws Exception {
        var words = new ArrayList<>(List.of(checkout.resolve("jrdma").toString()));
        words.addAll(List.of(command.split(" ", -1)));
        var environment =
                Map.of(
                        "JAVA_HOME",
                        System.getProperty("java.home"),
                        "PATH",
                        checkout.resolve("bin") + ":" + System.getenv("PATH"));
        try (var program = Program.start(environment, words)) {
            assertThat(program.await()).isOne();
            return program.output();
        }
    }

    /** The command net requires modules that other commands do not require. */
    @ParameterizedTest
    @ValueSource(strings = {"../jrdma", "JAVA_HOME/bin/java -jar target/jrdma.jar"})
    void shouldQueryAnotherJvmForItsConnections(String command) throws Exception {
        var java = System.getProperty("java.home");
        var words = new ArrayList<>(List.of(command.replace("JAVA_HOME", java).split(" ", -1)));
        words.addAll(List.of("net", "--pid", Long.toString(ProcessHandle.current().pid())));

        try (var program = Program.start(Map.of("JAVA_HOME", java), words)) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output()).isEqualTo("None of these JVMs uses jrdma sockets.\n");
        }
    }

    @Test
    void shouldRunFromTheRepository() throws Exception {
        try (var program =
                Program.start(
                        Map.of("JAVA_HOME", System.getProperty("java.home")),
                        List.of(Path.of("..", "jrdma").toString(), "doctor", "--json"))) {
            assertThat(program.await()).as(program.output()).isLessThan(2);
            assertThat(program.output()).startsWith("[{\"subject\":\"Java\"");
        }
    }
}
