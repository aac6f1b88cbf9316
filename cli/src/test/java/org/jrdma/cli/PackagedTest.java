package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jrdma.processes.Program;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** What a user starts. */
@Tag("packaged")
class PackagedTest {

    @Test
    void shouldRunWithNothingButJava() throws Exception {
        try (var program =
                Program.start(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--illegal-native-access=deny",
                                "-jar",
                                Path.of("target", "jrdma.jar").toString(),
                                "devices"))) {
            assertThat(program.await()).as(program.output()).isZero();
            assertThat(program.output())
                    .contains("\n  soft0: ", "\n  adapter 0: this is node ")
                    .doesNotContain("WARNING");
        }
    }

    @Test
    void shouldBeStartedFromTheRepository() throws Exception {
        try (var program =
                Program.start(
                        Map.of("JAVA_HOME", System.getProperty("java.home")),
                        List.of(Path.of("..", "jrdma").toString(), "doctor", "--json"))) {
            assertThat(program.await()).as(program.output()).isLessThan(2);
            assertThat(program.output()).startsWith("[{\"subject\":\"Java\"");
        }
    }
}
