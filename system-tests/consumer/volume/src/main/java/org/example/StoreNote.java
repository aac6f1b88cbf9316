package org.example;

import java.io.IOException;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jrdma.volume.ServerOptions;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.FileDrive;
import org.jrdma.volume.net.NodeOptions;
import org.jrdma.volume.net.TransportKind;

/** Serves a volume in a file, and stores a text in it by java.nio.file. */
final class StoreNote {

    private static final long BLOCKS = 4096;

    /** Argument: the file, which is created. */
    static void main(String... arguments) throws IOException {
        var options = ServerOptions.named("one").node(NodeOptions.of(TransportKind.SOCKETS));
        try (var drive = FileDrive.create(Path.of(arguments[0]), BLOCKS)) {
            VolumeServer.create(drive);
            try (var server = VolumeServer.start(drive, options)) {
                var address = server.addresses().getFirst().replaceFirst("sockets:.*:", "localhost:");
                var uri = URI.create("jrdma-volume://%s/".formatted(address));
                try (var volume = FileSystems.newFileSystem(uri, Map.of())) {
                    var note = Files.writeString(volume.getPath("/note"), "Saluton, mondo");
                    IO.println("stored: " + Files.readString(note));
                }
            }
        }
    }
}
