package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jrdma.examples.rcpingpong.RcPingPong;
import org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the examples say where they cannot run: on any machine, with or without a device. */
class ExampleFailureTest {

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, RcPingPong.class})
    void shouldSayWhatToDoWithoutTheDevice(Class<?> example) throws Exception {
        try (var program = start(Map.of(), example, "-d", "none0")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .containsPattern(
                            "no RDMA device named none0\\. (There is |.*rdma link add)"
                                    + "|libibverbs\\.so\\.1 could not be opened.*apt install")
                    .doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, RcPingPong.class})
    void shouldNameThePackageWithoutTheLibrary(Class<?> example, @TempDir Path folder)
            throws Exception {
        // Found before the system's own, and no library.
        Files.writeString(folder.resolve("libibverbs.so.1"), "nothing");

        try (var program = start(Map.of("LD_LIBRARY_PATH", folder.toString()), example)) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .contains("libibverbs.so.1 could not be opened", "apt install libibverbs1")
                    .doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, RcPingPong.class})
    void shouldShowItsOptionsWhenAskedTo(Class<?> example) throws Exception {
        try (var program = start(Map.of(), example, "--help")) {
            assertThat(program.await()).isZero();
            assertThat(program.output()).startsWith("usage: ");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, RcPingPong.class})
    void shouldShowItsOptionsInsteadOfGuessing(Class<?> example) throws Exception {
        try (var program = start(Map.of(), example, "-x")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).contains("usage: ").doesNotContain("\tat ");
        }
    }

    private static Program start(
            Map<String, String> environment, Class<?> example, String... arguments)
            throws IOException {
        var command =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED",
                                "--class-path",
                                System.getProperty("java.class.path"),
                                example.getName()));
        command.addAll(List.of(arguments));
        return Program.start(environment, command);
    }
}
