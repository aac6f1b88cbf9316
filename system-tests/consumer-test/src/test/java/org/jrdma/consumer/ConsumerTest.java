package org.jrdma.consumer;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the programs in {@code system-tests/consumer} as a user would run them. This build has
 * compiled them against the installed artifacts.
 */
@Tag("slow")
class ConsumerTest {

    @ParameterizedTest
    @EnumSource
    void shouldUseTheSystemLibraryOrReportThePackagesToInstall(Consumer consumer) throws Exception {
        var ended = consumer.run("CountDevices", consumer.flags());

        assertThat(ended.output)
                .containsPattern(
                        ended.code == 0
                                ? "found .*libibverbs\\.so\\.1.* with \\d+ devices"
                                : "LibraryNotFoundException: libibverbs\\.so\\.1 could not be opened.*apt install")
                .doesNotContain("WARNING");
    }

    @ParameterizedTest
    @EnumSource
    void shouldWriteByRdmaOnTheSoftwareFabric(Consumer consumer) throws Exception {
        var ended = consumer.run("WriteOnce", consumer.flags());

        assertThat(ended.output).contains("written: Saluton, mondo").doesNotContain("WARNING");
        assertThat(ended.code).isZero();
    }

    @Test
    void shouldUseAVolumeWithASingleDependency(@TempDir Path folder) throws Exception {
        var consumer = Consumer.CLASS_PATH;
        var drive = folder.resolve("drive").toString();
        var ended = consumer.run("volume", "StoreNote", consumer.flags(), drive);

        assertThat(ended.output).contains("stored: Saluton, mondo").doesNotContain("WARNING");
        assertThat(ended.code).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void shouldRejectAFileThatIsNotALibrary(Consumer consumer) throws Exception {
        var ended = consumer.run("CountDevices", consumer.flags(), "/dev/null");

        assertThat(ended.output)
                .contains("LibraryNotFoundException: /dev/null could not be opened");
        assertThat(ended.code).isOne();
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportTheMissingFlagIfNativeAccessIsDenied(Consumer consumer) throws Exception {
        var ended = consumer.run("CountDevices", List.of());

        assertThat(ended.output).contains(consumer.flags());
        assertThat(ended.code).isOne();
    }

    /** The output and the exit code of a program. */
    record Ended(String output, int code) {}

    enum Consumer {
        CLASS_PATH("class-path", "On the class path: `([^`]+)`", "-cp", "lib/*", "org.example."),
        MODULE_PATH(
                "module-path",
                "On the module path: `([^`]+)`",
                "-p",
                "lib",
                "--module=org.example.consumer/org.example.");

        private static final long TIMEOUT_SECONDS = 60;

        private final String folder;
        private final Pattern inReadme;
        private final String pathFlag;
        private final String libraries;
        private final String programs;

        /**
         * @param inReadme the pattern that finds the recommended flags in the README
         */
        Consumer(
                String folder,
                String inReadme,
                String pathFlag,
                String libraries,
                String programs) {
            this.folder = folder;
            this.inReadme = Pattern.compile(inReadme);
            this.pathFlag = pathFlag;
            this.libraries = libraries;
            this.programs = programs;
        }

        /** Returns the flags that the README recommends. */
        List<String> flags() throws IOException {
            var flags = inReadme.matcher(Files.readString(Path.of("..", "..", "README.md")));
            assertThat(flags.find()).as("the README's " + inReadme).isTrue();
            return List.of(flags.group(1).split(" ", -1));
        }

        Ended run(String program, List<String> flags, String... arguments) throws Exception {
            return run(folder, program, flags, arguments);
        }

        /** Runs a program of another folder in the same way. */
        Ended run(String folder, String program, List<String> flags, String... arguments)
                throws Exception {
            var target = Path.of(System.getProperty("consumer"), folder, "target");
            var command = new ArrayList<String>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.add("--illegal-native-access=deny");
            command.addAll(flags);
            command.add(pathFlag);
            command.add(target.resolve("classes") + File.pathSeparator + target.resolve(libraries));
            command.add(programs + program);
            command.addAll(List.of(arguments));
            var output = target.resolve("output");
            var process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
            try {
                assertThat(process.waitFor(TIMEOUT_SECONDS, SECONDS))
                        .as(() -> "%s ended in time".formatted(command))
                        .isTrue();
            } finally {
                process.destroyForcibly();
            }
            return new Ended(Files.readString(output), process.exitValue());
        }
    }
}
