package org.jrdma.consumer;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the programs of system-tests/consumer, which this build has compiled against the installed
 * artifacts, as a user would.
 */
class ConsumerTest {

    @ParameterizedTest
    @EnumSource
    void shouldUseTheLibraryOfTheSystemOrNameItsPackages(Consumer consumer) throws Exception {
        var output =
                consumer.run("ListDevices", List.of("--enable-native-access=" + consumer.caller));

        assertThat(output)
                .containsPattern(
                        "found .*libibverbs\\.so\\.1.* with \\d+ devices"
                                + "|LibraryNotFoundException: libibverbs\\.so\\.1 could not be opened.*apt install");
        assertThat(output).doesNotContain("WARNING");
    }

    @ParameterizedTest
    @EnumSource
    void shouldWriteByRdmaOnTheSoftwareFabric(Consumer consumer) throws Exception {
        var output =
                consumer.run("WriteOnce", List.of("--enable-native-access=" + consumer.caller));

        assertThat(output).contains("written: Saluton, mondo").doesNotContain("WARNING");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseAFileThatIsNoLibrary(Consumer consumer) throws Exception {
        var output =
                consumer.run(
                        "ListDevices",
                        List.of("--enable-native-access=" + consumer.caller),
                        "/dev/null");

        assertThat(output).contains("LibraryNotFoundException: /dev/null could not be opened");
    }

    @ParameterizedTest
    @EnumSource
    void shouldNameTheFlagWhereNativeAccessIsDenied(Consumer consumer) throws Exception {
        var output = consumer.run("ListDevices", List.of());

        assertThat(output).contains("--enable-native-access=" + consumer.caller);
    }

    enum Consumer {
        CLASS_PATH("class-path", "ALL-UNNAMED", "-cp", "lib/*", "org.example."),
        MODULE_PATH(
                "module-path",
                "org.jrdma.ffi",
                "-p",
                "lib",
                "--module=org.example.consumer/org.example.");

        private final String folder;
        private final String caller;
        private final String pathFlag;
        private final String libraries;
        private final String programs;

        /**
         * @param caller what native access has to be enabled for
         */
        Consumer(String folder, String caller, String pathFlag, String libraries, String programs) {
            this.folder = folder;
            this.caller = caller;
            this.pathFlag = pathFlag;
            this.libraries = libraries;
            this.programs = programs;
        }

        String run(String program, List<String> flags, String... arguments) throws IOException {
            var target = Path.of(System.getProperty("consumer"), folder, "target");
            var command = new ArrayList<String>();
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.add("--illegal-native-access=deny");
            command.addAll(flags);
            command.add(pathFlag);
            command.add(target.resolve("classes") + File.pathSeparator + target.resolve(libraries));
            command.add(programs + program);
            command.addAll(List.of(arguments));
            var process = new ProcessBuilder(command).redirectErrorStream(true).start();
            return new String(process.getInputStream().readAllBytes(), UTF_8);
        }
    }
}
