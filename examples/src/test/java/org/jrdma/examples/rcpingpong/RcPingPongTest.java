package org.jrdma.examples.rcpingpong;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import org.jrdma.examples.rcpingpong.RcPingPong.Options;
import org.jrdma.verbs.Endpoint;
import org.jrdma.verbs.Gid;
import org.jrdma.verbs.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RcPingPongTest {

    private static final Endpoint ENDPOINT =
            new Endpoint(0x1a, 0x11, 0x3ff0c2, new Gid(0, 0xffff_0a4d_0001L));

    /** As ibv_rc_pingpong sends it. */
    private static final byte[] MESSAGE =
            "001a:000011:3ff0c2:00000000000000000000ffff0a4d0001\0".getBytes(US_ASCII);

    @Test
    void shouldSayWhereItIsAsTheCProgramDoes() {
        assertThat(RcPingPong.toMessage(ENDPOINT)).hasSize(52).isEqualTo(MESSAGE);
    }

    @Test
    void shouldUnderstandTheCProgram() throws IOException {
        assertThat(RcPingPong.fromMessage(MESSAGE)).isEqualTo(ENDPOINT);
    }

    @Test
    void shouldRefuseWhatAnotherProgramSays() {
        var greeting =
                "SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u7, and some more\r\n".getBytes(US_ASCII);

        assertThatThrownBy(() -> RcPingPong.fromMessage(greeting))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("SSH-2.0-OpenSSH");
    }

    @Test
    void shouldHaveTheDefaultsOfTheCProgram() {
        var options = Options.parse();

        assertThat(options.port).isEqualTo(18515);
        assertThat(options.device).isEmpty();
        assertThat(options.devicePort).isEqualTo(1);
        assertThat(options.size).isEqualTo(4096);
        assertThat(options.mtu).isEqualTo(Mtu.BYTES_1024);
        assertThat(options.receives).isEqualTo(500);
        assertThat(options.iterations).isEqualTo(1000);
        assertThat(options.serviceLevel).isZero();
        assertThat(options.events || options.onDemand || options.check).isFalse();
        assertThat(options.gidIndex).isNegative();
        assertThat(options.host).isEmpty();
    }

    @Test
    void shouldTakeShortOptionsApartOrJoinedBeforeOrBehindTheHost() {
        var options =
                Options.parse(
                        "-p0x4854",
                        "-d",
                        "rxe0",
                        "storage01",
                        "-i2",
                        "-s",
                        "64",
                        "-m2048",
                        "-r",
                        "7",
                        "-n",
                        "9",
                        "-l3",
                        "-eocg1");

        assertThat(options.port).isEqualTo(18516);
        assertThat(options.device).isEqualTo("rxe0");
        assertThat(options.host).isEqualTo("storage01");
        assertThat(options.devicePort).isEqualTo(2);
        assertThat(options.size).isEqualTo(64);
        assertThat(options.mtu).isEqualTo(Mtu.BYTES_2048);
        assertThat(options.receives).isEqualTo(7);
        assertThat(options.iterations).isEqualTo(9);
        assertThat(options.serviceLevel).isEqualTo(3);
        assertThat(options.events && options.onDemand && options.check).isTrue();
        assertThat(options.gidIndex).isEqualTo(1);
    }

    @Test
    void shouldTakeLongOptions() {
        var options =
                Options.parse(
                        "--port=1",
                        "--ib-dev",
                        "rxe0",
                        "--ib-port=2",
                        "--size=64",
                        "--mtu=256",
                        "--rx-depth",
                        "7",
                        "--iters=9",
                        "--sl=3",
                        "--events",
                        "--gid-idx=1",
                        "--odp",
                        "--chk");

        assertThat(options.port).isEqualTo(1);
        assertThat(options.device).isEqualTo("rxe0");
        assertThat(options.devicePort).isEqualTo(2);
        assertThat(options.size).isEqualTo(64);
        assertThat(options.mtu).isEqualTo(Mtu.BYTES_256);
        assertThat(options.receives).isEqualTo(7);
        assertThat(options.iterations).isEqualTo(9);
        assertThat(options.serviceLevel).isEqualTo(3);
        assertThat(options.events && options.onDemand && options.check).isTrue();
        assertThat(options.gidIndex).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "-p 65536",
                "-p many",
                "-i 0",
                "-s 0",
                "-m 1500",
                "-l 16",
                "-g -1",
                "-t",
                "--ts",
                "-p",
                "one two"
            })
    void shouldRefuseOptionsThatItDoesNotUnderstand(String commandLine) {
        assertThatThrownBy(() -> Options.parse(commandLine.split(" ")))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
