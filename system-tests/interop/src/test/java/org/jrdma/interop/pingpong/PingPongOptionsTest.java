package org.jrdma.interop.pingpong;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jrdma.verbs.model.Mtu;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.ParameterException;

class PingPongOptionsTest {

    private static <P extends PingPongProgram> P parse(P program, String... arguments) {
        program.commandLine().parseArgs(arguments);
        program.checkOptions();
        return program;
    }

    @Test
    void shouldHaveTheDefaultsOfTheCProgram() {
        var options = parse(new RcPingPong());

        assertThat(options.port).isEqualTo(18515);
        assertThat(options.deviceOptions.name).isEmpty();
        assertThat(options.deviceOptions.port).isEqualTo(1);
        assertThat(options.size).isEqualTo(4096);
        assertThat(options.mtu).isEqualTo(Mtu.BYTES_1024);
        assertThat(options.receives).isEqualTo(500);
        assertThat(options.iterations).isEqualTo(1000);
        assertThat(options.serviceLevel).isZero();
        assertThat(options.events || options.onDemand || options.check).isFalse();
        assertThat(options.deviceOptions.gidIndex).isNull();
        assertThat(options.host).isEmpty();
    }

    @Test
    void shouldParseSeparateAndJoinedShortOptionsBeforeAndAfterTheHost() {
        var options =
                parse(
                        new RcPingPong(),
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
        assertThat(options.deviceOptions.name).isEqualTo("rxe0");
        assertThat(options.host).isEqualTo("storage01");
        assertThat(options.deviceOptions.port).isEqualTo(2);
        assertThat(options.size).isEqualTo(64);
        assertThat(options.mtu).isEqualTo(Mtu.BYTES_2048);
        assertThat(options.receives).isEqualTo(7);
        assertThat(options.iterations).isEqualTo(9);
        assertThat(options.serviceLevel).isEqualTo(3);
        assertThat(options.events && options.onDemand && options.check).isTrue();
        assertThat(options.deviceOptions.gidIndex).isEqualTo(1);
    }

    @Test
    void shouldParseLongOptions() {
        var options =
                parse(
                        new RcPingPong(),
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
        assertThat(options.deviceOptions.name).isEqualTo("rxe0");
        assertThat(options.deviceOptions.port).isEqualTo(2);
        assertThat(options.size).isEqualTo(64);
        assertThat(options.mtu).isEqualTo(Mtu.BYTES_256);
        assertThat(options.receives).isEqualTo(7);
        assertThat(options.iterations).isEqualTo(9);
        assertThat(options.serviceLevel).isEqualTo(3);
        assertThat(options.events && options.onDemand && options.check).isTrue();
        assertThat(options.deviceOptions.gidIndex).isEqualTo(1);
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
    void shouldRejectInvalidOptions(String commandLine) {
        assertThatThrownBy(() -> parse(new RcPingPong(), commandLine.split(" ")))
                .isInstanceOf(ParameterException.class);
    }

    @Test
    void shouldHaveTheDefaultsOfTheOtherCPrograms() {
        assertThat(parse(new UcPingPong()).size).isEqualTo(4096);
        assertThat(parse(new UcPingPong(), "-m", "512").mtu).isEqualTo(Mtu.BYTES_512);
        assertThat(parse(new UdPingPong()).size).isEqualTo(1024);
        assertThat(parse(new UdPingPong(), "-ecg1").deviceOptions.gidIndex).isEqualTo(1);
        assertThat(parse(new SrqPingPong()).queuePairs).isEqualTo(16);
        assertThat(parse(new SrqPingPong(), "-q3").queuePairs).isEqualTo(3);
        assertThat(parse(new SrqPingPong(), "--num-qp=255").queuePairs).isEqualTo(255);
        assertThat(parse(new SrqPingPong(), "-o").onDemand).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"UC, -o", "UC, --odp", "UD, -o", "UD, -m 1024", "UD, --mtu=1024", "RC, -q 3"})
    void shouldRejectOptionsThatTheCProgramDoesNotHave(String name, String commandLine) {
        var program =
                switch (name) {
                    case "RC" -> new RcPingPong();
                    case "UC" -> new UcPingPong();
                    default -> new UdPingPong();
                };
        assertThatThrownBy(() -> parse(program, commandLine.split(" ")))
                .isInstanceOf(ParameterException.class)
                .hasMessageStartingWith("Unknown option: '" + commandLine.split(" ", -1)[0]);
    }

    @ParameterizedTest
    @CsvSource({
        "-q 0, '-q takes a number from 1 to 255, not \"0\"'",
        "-q 256, '-q takes a number from 1 to 255, not \"256\"'",
        "-r 15, '15 receives are too few: each of the 16 queue pairs needs a receive'"
    })
    void shouldRejectNumbersOfQueuePairsThatTheCProgramRejects(String commandLine, String message) {
        assertThatThrownBy(() -> parse(new SrqPingPong(), commandLine.split(" ")))
                .isInstanceOf(ParameterException.class)
                .hasMessageContaining(message);
    }

    @Test
    void shouldListItsOptionsInTheUsageMessage() {
        assertThat(new SrqPingPong().commandLine().getUsageMessage())
                .contains("--num-qp", "--mtu", "--odp");
        assertThat(new RcPingPong().commandLine().getUsageMessage())
                .contains("--mtu", "--odp", "message size in bytes (4096)")
                .doesNotContain("--num-qp");
        assertThat(new UcPingPong().commandLine().getUsageMessage())
                .contains("--mtu")
                .doesNotContain("--odp");
        assertThat(new UdPingPong().commandLine().getUsageMessage())
                .contains("--gid-idx", "message size in bytes (1024)")
                .doesNotContain("--mtu", "--odp");
    }
}
