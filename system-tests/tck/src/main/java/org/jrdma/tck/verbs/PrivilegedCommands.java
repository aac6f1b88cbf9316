package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/** Commands that need root and change the machine. In a guest the changes end with it. */
final class PrivilegedCommands {

    /** The output of a command on both streams, and its exit code. */
    record Result(int exitCode, String output) {}

    private PrivilegedCommands() {}

    /** Skips the test without privileges. */
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
