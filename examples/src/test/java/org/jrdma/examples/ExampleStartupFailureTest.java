package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jrdma.examples.atomics.Atomics;
import org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite;
import org.jrdma.examples.udmulticast.UdMulticast;
import org.jrdma.processes.Programs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the messages of examples that cannot run. The tests run with and without a device. */
class ExampleStartupFailureTest {

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, UdMulticast.class, Atomics.class})
    void shouldReportTheFixIfTheDeviceDoesNotExist(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-f", "system", "-d", "none0")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .containsPattern(
                            "no RDMA device named none0\\. (Available devices: |.*rdma link add)"
                                    + "|libibverbs\\.so\\.1 could not be opened.*apt install")
                    .doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, UdMulticast.class, Atomics.class})
    void shouldReportThePackageOfAMissingLibrary(Class<?> example, @TempDir Path folder)
            throws Exception {
        // An invalid file, which is found before the library of the system.
        Files.writeString(folder.resolve("libibverbs.so.1"), "nothing");

        try (var program =
                Programs.example(
                        Map.of("LD_LIBRARY_PATH", folder.toString()), example, "-f", "system")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .contains("libibverbs.so.1 could not be opened", "apt install libibverbs1")
                    .doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "fabric, hardware, 'The system property jrdma.fabric is \"hardware\". It must be system or software.'",
        "fabrik, software, 'Unknown system property jrdma.fabrik. Did you mean jrdma.fabric?'",
        "soft.los, 0.1, 'Unknown system property jrdma.soft.los. Did you mean jrdma.soft.loss?'",
        "soft.loss, much, 'jrdma.soft.loss: \"much\" is not a probability between 0 and 1.'",
    })
    void shouldRejectAnInvalidSystemPropertyInOneLine(String name, String value, String message)
            throws Exception {
        var fabric = name.equals("fabric") ? List.of() : List.of("-f", "software");
        try (var program =
                Programs.example(
                        List.of("-Djrdma." + name + "=" + value),
                        SimpleRdmaWrite.class,
                        fabric.toArray(String[]::new))) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .endsWith(message + " See --help.\n")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void shouldRejectAPortOutOfRange() throws Exception {
        try (var program = Programs.example(SimpleRdmaWrite.class, "-fsoftware", "-p99999")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .endsWith(
                            "99999 is not a TCP port from 0 to 65535. Choose another port with -p. See --help.\n");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, UdMulticast.class, Atomics.class})
    void shouldPrintItsOptionsOnRequest(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "--help")) {
            assertThat(program.await()).isZero();
            assertThat(program.output()).startsWith("usage: ");
        }
    }

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, UdMulticast.class, Atomics.class})
    void shouldRejectAnUnknownOptionAndReferToHelp(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-x")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output()).contains("-x", " See --help.").hasLineCount(1);
        }
    }
}
