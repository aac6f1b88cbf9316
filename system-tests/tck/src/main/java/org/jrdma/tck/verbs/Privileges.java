package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** What root may do to the machine; the guest's kernel is thrown away afterwards. */
final class Privileges {

    /** What a command printed, on both streams, and how it ended. */
    record Result(int exitCode, String output) {}

    private Privileges() {}

    /** Skips the test where they are lacking. */
    static void need() {
        Assumptions.assumeTrue(
                isRoot() && System.getProperty("jrdma.tck.privileged") != null,
                "changes the machine: only as root, and with jrdma.tck.privileged set");
    }

    /** Runs a command, which must succeed. */
    static String run(String... command) throws IOException, InterruptedException {
        var result = tryRun(List.of(command));
        assertThat(result.exitCode()).as("%s", result.output()).isZero();
        return result.output();
    }

    static Result tryRun(List<String> command) throws IOException, InterruptedException {
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Result(process.waitFor(), output);
    }

    private static boolean isRoot() {
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0);
        } catch (IOException e) {
            return false;
        }
    }
}
