package org.jrdma.tck.sisci.software;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.tck.sisci.PeerProcess;

/** Starts processes that join the fabric of a test. */
final class FabricProcesses {

    private FabricProcesses() {}

    /** Creates a directory in memory. It is deleted when this JVM exits, if it is empty by then. */
    static Path fabricFolder() throws IOException {
        var folder = Files.createTempDirectory(Path.of("/dev/shm"), "sisci-tck");
        folder.toFile().deleteOnExit();
        return folder;
    }

    /**
     * Starts a process that joins the fabric in a directory.
     *
     * @param node the ID of the node that the process joins as
     * @param weak true to delay and reorder stores to remote segments
     */
    static PeerProcess peer(Path folder, int node, boolean weak) throws IOException {
        return PeerProcess.start(command(folder, node, weak));
    }

    /** Returns the command that starts a peer process. */
    static List<String> command(Path folder, int node, boolean weak) {
        return List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
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
