package org.jrdma.volume.net;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Selects the software fabrics for the tests in this JVM. */
public final class SoftwareFabrics {

    /** The system properties of a process that uses the same fabrics. */
    static final String[] PROPERTIES = {
        "jrdma.fabric", "jrdma.sisci.fabric", "jrdma.sockets.transports"
    };

    private SoftwareFabrics() {}

    /**
     * Selects the software fabrics, once. Sockets use TCP, because sockets over SISCI create
     * objects of the fabric that stay open.
     */
    public static synchronized void select() {
        if (System.getProperty("jrdma.fabric") != null) {
            return;
        }
        System.setProperty("jrdma.fabric", "software");
        System.setProperty("jrdma.sockets.transports", "tcp");
        try {
            var directory = Files.createTempDirectory(Path.of("/dev/shm"), "jrdma-volume-");
            System.setProperty("jrdma.sisci.fabric", directory.toString());
            directory.toFile().deleteOnExit();
        } catch (IOException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
