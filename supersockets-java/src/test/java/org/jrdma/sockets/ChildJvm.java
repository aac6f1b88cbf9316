package org.jrdma.sockets;

import java.io.File;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Creates child JVMs with the class path of this JVM. */
public final class ChildJvm {

    private ChildJvm() {}

    /**
     * Returns the builder of a process that runs a main class with JVM options. The output of the
     * process includes its error stream.
     */
    public static ProcessBuilder of(Class<?> program, List<String> options, String... arguments) {
        var command = new ArrayList<String>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
        command.addAll(options);
        command.add("-cp");
        command.add(
                Stream.of(
                                Path.of("target/classes").toString(),
                                Path.of("target/test-classes").toString(),
                                System.getProperty("jdk.module.path", ""),
                                System.getProperty("java.class.path", ""))
                        .filter(path -> !path.isEmpty())
                        .collect(Collectors.joining(File.pathSeparator)));
        command.add(program.getName());
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true);
    }
}
