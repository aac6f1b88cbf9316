package org.jrdma.tck.sisci.software;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.tck.sisci.PeerProcess;

/** JVMs that join a fabric of a test's own. */
final class Jvm {

    private Jvm() {}

    /** A folder in memory, which goes with this JVM if nobody has left anything in it. */
    static Path fabricFolder() throws IOException {
        var folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-tck");
        folder.toFile().deleteOnExit();
        return folder;
    }

    /** A process that is a node of the fabric in a folder, or one of its processes. */
    static PeerProcess peer(Path folder, int node, boolean weak) throws IOException {
        return PeerProcess.start(command(folder, node, weak));
    }

    /** The command that starts one. */
    static List<String> command(Path folder, int node, boolean weak) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "--enable-native-access=ALL-UNNAMED",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=error",
                "-Djrdma.fabric=software",
                "-Djrdma.sisci.fabric=" + folder,
                "-Djrdma.sisci.node=" + node,
                "-Djrdma.sisci.weak=" + weak,
                "-cp",
                System.getProperty("java.class.path"),
                PeerProcess.class.getName());
    }
}
