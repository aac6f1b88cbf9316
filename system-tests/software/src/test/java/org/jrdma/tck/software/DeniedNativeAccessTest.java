package org.jrdma.tck.software;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.jrdma.verbs.Verbs;
import org.junit.jupiter.api.Test;

/**
 * Tests the use of the software fabric in a JVM that denies native access, which the fabric
 * requires because it is called through the native ABI.
 */
class DeniedNativeAccessTest {

    static final class Opener {

        private Opener() {}

        static void main(String... arguments) throws Exception {
            try {
                System.out.println("opened " + Verbs.software());
            } catch (IllegalCallerException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    @Test
    void shouldNameTheOptionThatPermitsNativeAccess() throws Exception {
        var process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "--illegal-native-access=deny",
                                "-cp",
                                System.getProperty("java.class.path"),
                                Opener.class.getName())
                        .redirectErrorStream(true)
                        .start();
        try (var output = process.inputReader(UTF_8)) {
            assertThat(output.lines())
                    .contains(
                            "This JVM denies native access. Start java with"
                                    + " --enable-native-access=ALL-UNNAMED.");
        } finally {
            process.destroyForcibly();
        }
    }
}
