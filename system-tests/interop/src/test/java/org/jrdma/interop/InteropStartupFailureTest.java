package org.jrdma.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jrdma.interop.devinfo.DevInfo;
import org.jrdma.interop.firstmessage.RdmaClient;
import org.jrdma.interop.firstmessage.RdmaServer;
import org.jrdma.interop.pingpong.RcPingPong;
import org.jrdma.interop.pingpong.SrqPingPong;
import org.jrdma.interop.pingpong.UcPingPong;
import org.jrdma.interop.pingpong.UdPingPong;
import org.jrdma.interop.pingpong.XsrqPingPong;
import org.jrdma.interop.rping.Rping;
import org.jrdma.processes.Programs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the messages of programs that cannot run. The tests run with and without a device. */
@Tag("slow")
class InteropStartupFailureTest {

    @Test
    void shouldRequireTheAddressOfTheServer() throws Exception {
        try (var program = Programs.example(Rping.class, "-c")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .startsWith("-c requires the address of the server.")
                    .contains(" See --help.");
        }
    }

    @ParameterizedTest
    @MethodSource("org.jrdma.interop.SoftwareFabricTest#programs")
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
    @MethodSource("org.jrdma.interop.SoftwareFabricTest#programs")
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
    @ValueSource(
            classes = {
                RcPingPong.class,
                UcPingPong.class,
                UdPingPong.class,
                SrqPingPong.class,
                XsrqPingPong.class,
                DevInfo.class,
                RdmaClient.class,
                RdmaServer.class
            })
    void shouldPrintItsOptionsOnRequest(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "--help")) {
            assertThat(program.await()).isZero();
            assertThat(program.output()).startsWith("usage: ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                RcPingPong.class,
                UcPingPong.class,
                UdPingPong.class,
                SrqPingPong.class,
                XsrqPingPong.class,
                DevInfo.class,
                RdmaServer.class
            })
    void shouldRejectAnUnknownOptionAndReferToHelp(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-x")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output()).contains("-x", " See --help.").hasLineCount(1);
        }
    }

    @Test
    void shouldReportTheMissingAddressOfTheServer() throws Exception {
        try (var program = Programs.example(RdmaClient.class, "-x")) {
            assertThat(program.await()).isEqualTo(2);
            assertThat(program.output())
                    .contains("Missing required option: '-s=ADDRESS'", " See --help.")
                    .hasLineCount(1);
        }
    }
}
