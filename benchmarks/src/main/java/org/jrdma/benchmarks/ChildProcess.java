package org.jrdma.benchmarks;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts the second process of a benchmark. */
public final class ChildProcess {

    private ChildProcess() {}

    /**
     * Starts a program with an argument and JVM options. The caller reads the output of the
     * program.
     */
    public static Process start(Class<?> program, Object argument, String... options)
            throws IOException {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--enable-native-access=ALL-UNNAMED");
        command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        command.addAll(List.of(program.getName(), argument.toString()));
        return new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
    }
}
