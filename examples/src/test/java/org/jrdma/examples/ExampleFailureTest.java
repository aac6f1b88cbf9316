package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jrdma.examples.atomics.Atomics;
import org.jrdma.examples.devinfo.DevInfo;
import org.jrdma.examples.firstmessage.RdmaClient;
import org.jrdma.examples.firstmessage.RdmaServer;
import org.jrdma.examples.pingpong.RcPingPong;
import org.jrdma.examples.pingpong.SrqPingPong;
import org.jrdma.examples.pingpong.UcPingPong;
import org.jrdma.examples.pingpong.UdPingPong;
import org.jrdma.examples.pingpong.XsrqPingPong;
import org.jrdma.examples.rping.Rping;
import org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite;
import org.jrdma.examples.udmulticast.UdMulticast;
import org.jrdma.examples.writenotify.WriteNotify;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the examples say where they cannot run: on any machine, with or without a device. */
class ExampleFailureTest {

    @ParameterizedTest
    @ValueSource(classes = {Rping.class, WriteNotify.class})
    void shouldAskWhatToConnectTo(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-c")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).startsWith("-c: connect to what").contains("usage: ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                SimpleRdmaWrite.class,
                RcPingPong.class,
                UcPingPong.class,
                UdPingPong.class,
                SrqPingPong.class,
                XsrqPingPong.class,
                UdMulticast.class,
                Atomics.class,
                DevInfo.class
            })
    void shouldSayWhatToDoWithoutTheDevice(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-f", "system", "-d", "none0")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output())
                    .containsPattern(
                            "no RDMA device named none0\\. (There is |.*rdma link add)"
                                    + "|libibverbs\\.so\\.1 could not be opened.*apt install")
                    .doesNotContain("\tat ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                SimpleRdmaWrite.class,
                RcPingPong.class,
                UcPingPong.class,
                UdPingPong.class,
                SrqPingPong.class,
                XsrqPingPong.class,
                UdMulticast.class,
                Atomics.class,
                DevInfo.class
            })
    void shouldNameThePackageWithoutTheLibrary(Class<?> example, @TempDir Path folder)
            throws Exception {
        // Found before the system's own, and no library.
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
                SimpleRdmaWrite.class,
                RcPingPong.class,
                UcPingPong.class,
                UdPingPong.class,
                SrqPingPong.class,
                XsrqPingPong.class,
                UdMulticast.class,
                Atomics.class,
                DevInfo.class,
                RdmaClient.class,
                RdmaServer.class
            })
    void shouldShowItsOptionsWhenAskedTo(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "--help")) {
            assertThat(program.await()).isZero();
            assertThat(program.output()).startsWith("usage: ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {
                SimpleRdmaWrite.class,
                RcPingPong.class,
                UcPingPong.class,
                UdPingPong.class,
                SrqPingPong.class,
                XsrqPingPong.class,
                UdMulticast.class,
                Atomics.class,
                DevInfo.class,
                RdmaClient.class,
                RdmaServer.class
            })
    void shouldShowItsOptionsInsteadOfGuessing(Class<?> example) throws Exception {
        try (var program = Programs.example(example, "-x")) {
            assertThat(program.await()).isEqualTo(1);
            assertThat(program.output()).contains("-x", "usage: ").doesNotContain("\tat ");
        }
    }
}
