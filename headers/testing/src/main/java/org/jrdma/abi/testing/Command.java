package org.jrdma.abi.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.List;
import java.util.Map;

/** A finished command. */
public record Command(int exitCode, String output) {

    /** Runs a command to its end. The output contains both streams. */
    public static Command run(Map<String, String> environment, String... arguments)
            throws IOException, InterruptedException {
        var builder = new ProcessBuilder(List.of(arguments)).redirectErrorStream(true);
        builder.environment().putAll(environment);
        builder.environment().put("LC_ALL", "C");
        var process = builder.start();
        var output = new String(process.getInputStream().readAllBytes(), UTF_8);
        return new Command(process.waitFor(), output);
    }
}
