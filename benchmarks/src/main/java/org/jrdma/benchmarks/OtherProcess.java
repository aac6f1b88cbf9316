package org.jrdma.benchmarks;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Path;

/** The other side of a benchmark between two processes. It ends when its input does. */
final class OtherProcess {

    private OtherProcess() {}

    /** Starts the same program with a folder as its argument. What it prints is to be read. */
    static Process start(Class<?> program, Path folder) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                        "-cp",
                        System.getProperty("java.class.path"),
                        program.getName(),
                        folder.toString())
                .redirectError(Redirect.INHERIT)
                .start();
    }
}
