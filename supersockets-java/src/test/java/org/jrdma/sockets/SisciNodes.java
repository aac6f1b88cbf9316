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

/** A node of a software fabric in this JVM. */
record SisciNodes(SoftSisci software, Sisci library) {

    private static final String PROPERTY = "jrdma.test.fabric";

    static SisciNodes of(SoftSisciOptions options) {
        try {
            var software = new SoftSisci(options);
            return new SisciNodes(software, Sisci.from(software));
        } catch (LibraryNotFoundException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** One of a fabric that nobody else is in. */
    static SisciNodes anyOfItsOwn() {
        return of(SoftSisciOptions.in(newFabric()));
    }

    /** Node 4 of a fabric that this process shares with those that it starts. */
    static SisciNodes oneForAllProcesses() {
        return of(SoftSisciOptions.in(Shared.FABRIC).asNode(4));
    }

    /** What tells a process that this one starts of the fabric. */
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
            // another process of the fabric is still there, and deletes it
        }
    }

    /** Streams from and to this node, with a table of hosts. */
    Transport transport(String hosts) {
        return Transports.sisci(library, Implementation.familyFile(hosts));
    }

    FabricSelectorProvider provider(String hosts) {
        return new FabricSelectorProvider(List.of(transport(hosts), Transports.tcp()));
    }
}
