package org.jrdma.examples.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.examples.pingpong.PingPongOptions.Program.RC;
import static org.jrdma.examples.pingpong.PingPongOptions.Program.SRQ;
import static org.jrdma.examples.pingpong.PingPongOptions.Program.UC;
import static org.jrdma.examples.pingpong.PingPongOptions.Program.UD;

import java.util.Locale;
import org.jrdma.examples.pingpong.PingPongOptions.Program;
import org.jrdma.verbs.model.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PingPongOptionsTest {

    @Test
    void shouldHaveTheDefaultsOfTheCProgram() {
        var options = PingPongOptions.parse(RC);

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
                PingPongOptions.parse(
                        RC,
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
                PingPongOptions.parse(
                        RC,
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
        assertThatThrownBy(() -> PingPongOptions.parse(RC, commandLine.split(" ")))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldHaveTheDefaultsOfTheOtherCPrograms() {
        assertThat(PingPongOptions.parse(UC).size).isEqualTo(4096);
        assertThat(PingPongOptions.parse(UC, "-m", "512").mtu).isEqualTo(Mtu.BYTES_512);
        assertThat(PingPongOptions.parse(UD).size).isEqualTo(1024);
        assertThat(PingPongOptions.parse(UD, "-ecg1").gidIndex).isEqualTo(1);
        assertThat(PingPongOptions.parse(SRQ).queuePairs).isEqualTo(16);
        assertThat(PingPongOptions.parse(SRQ, "-q3").queuePairs).isEqualTo(3);
        assertThat(PingPongOptions.parse(SRQ, "--num-qp=255").queuePairs).isEqualTo(255);
        assertThat(PingPongOptions.parse(SRQ, "-o").onDemand).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"UC, -o", "UC, --odp", "UD, -o", "UD, -m 1024", "UD, --mtu=1024", "RC, -q 3"})
    void shouldRefuseOptionsThatTheCProgramDoesNotHave(Program program, String commandLine) {
        assertThatThrownBy(() -> PingPongOptions.parse(program, commandLine.split(" ")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("is not understood")
                .hasMessageContaining(
                        "usage: " + program.name().toLowerCase(Locale.ROOT) + "-pingpong");
    }

    @ParameterizedTest
    @CsvSource({
        "-q 0, '-q takes a number from 1 to 255, not \"0\"'",
        "-q 256, '-q takes a number from 1 to 255, not \"256\"'",
        "-r 15, '15 receives are too few: each of 16 queue pairs needs one'"
    })
    void shouldRefuseQueuePairsThatTheCProgramRefuses(String commandLine, String message) {
        assertThatThrownBy(() -> PingPongOptions.parse(SRQ, commandLine.split(" ")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void shouldShowTheOptionsThatItHas() {
        assertThat(PingPongOptions.parse(SRQ, "--help").usage())
                .contains("--num-qp", "--mtu", "--odp");
        assertThat(PingPongOptions.parse(RC, "--help").usage())
                .contains("--mtu", "--odp", "how long a message is (4096)")
                .doesNotContain("--num-qp");
        assertThat(PingPongOptions.parse(UC, "--help").usage())
                .contains("--mtu")
                .doesNotContain("--odp");
        assertThat(PingPongOptions.parse(UD, "--help").usage())
                .contains("--gid-idx", "how long a message is (1024)")
                .doesNotContain("--mtu", "--odp");
    }
}
