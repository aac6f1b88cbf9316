package org.jrdma.tck.sisci.software;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.tck.sisci.PeerProcess;

/** Processes that join the fabric of a test. */
final class Jvm {

    private Jvm() {}

    /** A directory in memory, which is deleted when this JVM exits if it is empty. */
    static Path fabricFolder() throws IOException {
        var folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-tck");
        folder.toFile().deleteOnExit();
        return folder;
    }

    /** Starts a process of a node of the fabric in a directory. */
    static PeerProcess peer(Path folder, int node, boolean weak) throws IOException {
        return PeerProcess.start(command(folder, node, weak));
    }

    /** The command that starts a peer process. */
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
