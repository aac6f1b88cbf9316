package org.jrdma.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.processes.Program;

/** Starts the command in a separate JVM, with the class path of the tests. */
public final class JrdmaProcess {

    private JrdmaProcess() {}

    /**
     * Starts the command.
     *
     * @param options the options of the JVM
     * @param arguments the arguments of the command
     */
    public static Program start(List<String> options, List<String> arguments) throws IOException {
        return start(Jrdma.class, options, arguments);
    }

    /** Starts another program in the same way. */
    public static Program start(Class<?> program, List<String> options, List<String> arguments)
            throws IOException {
        var words =
                new ArrayList<>(
                        List.of(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "--enable-native-access=ALL-UNNAMED"));
        words.addAll(options);
        words.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        words.addAll(arguments);
        return Program.start(words);
    }
}
