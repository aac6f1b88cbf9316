package org.jrdma.sockets;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.model.Transport;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;

/** A node of a software SISCI fabric, with the library of the node in this JVM. */
record InProcessSoftwareSisciNode(SoftSisci software, Sisci library) {

    private static final String PROPERTY = "jrdma.test.fabric";

    static InProcessSoftwareSisciNode of(SoftSisciOptions options) {
        try {
            var software = new SoftSisci(options);
            return new InProcessSoftwareSisciNode(software, Sisci.from(software));
        } catch (LibraryNotFoundException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Creates a node of a new fabric. */
    static InProcessSoftwareSisciNode anyOfItsOwn() {
        return of(SoftSisciOptions.in(newFabric()));
    }

    /** Returns node 4 of a fabric that this process shares with its child processes. */
    static InProcessSoftwareSisciNode sharedNode() {
        return of(SoftSisciOptions.in(Shared.FABRIC).node(4));
    }

    /** Returns the JVM option that passes the fabric to a child process. */
    static String optionForChild() {
        return "-D%s=%s".formatted(PROPERTY, Shared.FABRIC);
    }

    private static final class Shared {
        static final Path FABRIC =
                System.getProperty(PROPERTY) == null
                        ? newFabric()
                        : Path.of(System.getProperty(PROPERTY));
    }

    static Path newFabric() {
        try {
            var folder = Files.createTempDirectory(Path.of("/dev/shm"), "sockets-test");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(folder)));
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void delete(Path folder) {
        try (var files = Files.list(folder)) {
            for (var file : files.toList()) {
                Files.deleteIfExists(file);
            }
            Files.deleteIfExists(folder);
        } catch (IOException _) {
            // Another process of the fabric still runs, and will delete the directory.
        }
    }

    /**
     * Returns the SISCI transport of this node.
     *
     * @param hosts the content of the hosts file
     */
    Transport transport(String hosts) {
        return Transports.sisci(library, Implementation.familyFile(hosts));
    }

    FabricSelectorProvider provider(String hosts) {
        return new FabricSelectorProvider(List.of(transport(hosts), Transports.tcp()));
    }
}
