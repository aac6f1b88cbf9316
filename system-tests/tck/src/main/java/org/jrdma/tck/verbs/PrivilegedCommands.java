package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Assumptions;

/**
 * Runs commands that need root privileges and change the configuration of the machine. In a guest,
 * the changes disappear when the guest ends.
 */
final class PrivilegedCommands {

    /** The exit code of a command, and its output on both standard streams. */
    record Result(int exitCode, String output) {}

    private PrivilegedCommands() {}

    /**
     * Skips the test unless the process is root and the system property jrdma.tck.privileged is
     * set.
     */
    static void need() {
        Assumptions.assumeTrue(
                isRoot() && System.getProperty("jrdma.tck.privileged") != null,
                "The test changes this machine. KitMain it as root and set jrdma.tck.privileged.");
    }

    /** Runs a command, asserts that it succeeds, and returns its output. */
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
