package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jrdma.examples.atomics.Atomics;
import org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite;
import org.jrdma.examples.udmulticast.UdMulticast;
import org.jrdma.processes.Programs;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the messages of examples that cannot run. The tests run with and without a device. */
class ExampleFailureTest {

    @ParameterizedTest
    @ValueSource(classes = {SimpleRdmaWrite.class, UdMulticast.class, Atomics.class})
    void shouldReportTheRemedyIfTheDeviceDoesNotExist(Class<?> example) throws Exception {
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
            assertThat(program.output()).contains("-x", "Try '--help'").hasLineCount(2);
        }
    }
}
