package org.jrdma.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.jrdma.examples.simplerdmawrite.SimpleRdmaWrite;
import org.jrdma.processes.Programs;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests {@code ./jrdma demo}, the first command of the quick start. Requires the compiled classes.
 */
@Tag("launcher")
class DemoTest {

    @Test
    void shouldShowBothSidesOfAWriteThatArrived() throws Exception {
        try (var demo = Programs.launch("demo", "-f", "software")) {
            assertThat(demo.await()).as(demo.output()).isZero();
            assertThat(demo.output())
                    .startsWith("writer: This runs on the software fabric, as requested.\n")
                    .contains(
                            "\nwriter: wrote \"Saluton, mondo\"\n",
                            "\nreader: found \"Saluton, mondo\"\n");
        }
    }

    @Test
    void shouldPrintItsOptionsOnRequest() throws Exception {
        try (var demo = Programs.launch("demo", "--help")) {
            assertThat(demo.await()).as(demo.output()).isZero();
            var help = demo.output();
            assertThat(help).startsWith("Usage: ./jrdma demo ");
            var options =
                    new SimpleRdmaWrite()
                            .commandLine().getCommandSpec().options().stream()
                                    .flatMap(option -> Stream.of(option.names()))
                                    .filter(name -> name.startsWith("--"));
            assertThat(options).isNotEmpty().allMatch(help::contains);
            assertThat(help.lines()).allMatch(line -> line.length() <= 80);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "-f, hardware, 'Invalid value for option ''--fabric'': \"hardware\" is neither system nor software.'",
        "-i, x, 'Invalid value for option ''--ib-port'': \"x\" is not a whole number from 0 to 2147483647.'",
    })
    void shouldRejectAnInvalidOptionInOneLine(String option, String value, String message)
            throws Exception {
        try (var demo = Programs.launch("demo", option, value)) {
            assertThat(demo.await()).isEqualTo(2);
            assertThat(demo.output()).isEqualTo(message + " See ./jrdma demo --help.\n");
        }
    }

    @Test
    void shouldReportThatTheDeviceDoesNotExist() throws Exception {
        try (var demo = Programs.launch("demo", "-f", "software", "-d", "none0")) {
            assertThat(demo.await()).isEqualTo(1);
            assertThat(demo.output())
                    .contains(
                            "writer: There is no RDMA device named none0. Available devices: soft0.")
                    .doesNotContain("reader");
        }
    }

    /** Runs the demo with a script instead of java. The script prints a given text. */
    @ParameterizedTest
    @CsvSource({
        "Saluton mondo, 0, 0, false",
        "'Saluton, mondo', 0, 0, true",
        "'Saluton, mondo', 1, 0, false",
        "'Saluton, mondo', 0, 1, false",
    })
    void shouldSucceedOnlyIfTheTextArrived(
            String found, int reader, int writer, boolean succeeds, @TempDir Path jdk)
            throws Exception {
        fakeJdk(
                jdk,
                """
                #!/bin/bash
                if [[ $* == *localhost ]]; then echo 'found "%s"'; exit %d; fi
                echo "waiting for the other side on port 1"
                echo 'wrote "Saluton, mondo"'
                exit %d
                """
                        .formatted(found, reader, writer));

        try (var demo = Programs.launchWith(jdk, "demo")) {
            assertThat(demo.await() == 0).as(demo.output()).isEqualTo(succeeds);
            assertThat(demo.output()).contains("reader: found \"" + found + "\"");
        }
    }

    @Test
    void shouldPrintTheOutputOfASideThatFails(@TempDir Path jdk) throws Exception {
        fakeJdk(
                jdk,
                """
                #!/bin/bash
                if [[ $* == *localhost ]]; then echo 'the other side failed'; exit 1; fi
                echo "waiting for the other side on port 1"
                sleep 1
                echo 'the cable is out'
                exit 1
                """);

        try (var demo = Programs.launchWith(jdk, "demo")) {
            assertThat(demo.await()).as(demo.output()).isEqualTo(1);
            assertThat(demo.output())
                    .contains("reader: the other side failed", "writer: the cable is out");
        }
    }

    private static void fakeJdk(Path jdk, String java) throws IOException {
        Files.writeString(jdk.resolve("release"), "JAVA_VERSION=\"25\"\n");
        var bin = Files.createDirectory(jdk.resolve("bin"));
        for (var tool : new String[] {"java", "javac"}) {
            Files.writeString(bin.resolve(tool), java);
            assertThat(bin.resolve(tool).toFile().setExecutable(true)).isTrue();
        }
    }
}
