package org.jrdma.volume;

import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.model.ClientReport;
import org.jrdma.volume.nio.VolumeFileSystem;

/**
 * A volume that this process uses as a client.
 *
 * <pre>{@code
 * try (var volume = Volume.open(VolumeOptions.of("data", servers).drive(drive))) {
 *     Files.writeString(volume.path("/hello.txt"), "Hello");
 * }
 * }</pre>
 *
 * <p>Operations continue across the loss of a coordinator, of connections and of paths to the data.
 * Safe for use by multiple threads.
 */
public final class Volume implements AutoCloseable {

    private final VolumeFileSystem fileSystem;

    private Volume(VolumeFileSystem fileSystem) {
        this.fileSystem = fileSystem;
    }

    /**
     * Connects to the coordinator of a volume. Blocks for up to the retry timeout.
     *
     * @throws FabricException if there is no coordinator, or the drive fails
     * @throws java.nio.file.FileSystemAlreadyExistsException if this process has opened a volume
     *     with the same name
     */
    public static Volume open(VolumeOptions options) throws FabricException {
        var client =
                new VolumeClient(
                        new ClientOptions(
                                options.name(),
                                options.servers(),
                                List.of(),
                                true,
                                options.callTimeout(),
                                options.retryTimeout()),
                        new NodeConnector(options.node()),
                        options.drive());
        try {
            return new Volume(new VolumeFileSystem(options.name(), client, () -> {}));
        } catch (RuntimeException e) {
            client.close();
            throw e;
        }
    }

    /** Returns the file system, which is closed with this object. */
    public FileSystem fileSystem() {
        return fileSystem;
    }

    /** Returns a path in the volume. */
    public Path path(String text) {
        return fileSystem.getPath(text);
    }

    /** Returns the path to the data and the connection to the coordinator, with their reasons. */
    public ClientReport state() {
        return fileSystem.state();
    }

    /** Describes the path to the data, the reason for it, and the transport to the coordinator. */
    public String describe() {
        return fileSystem.describe();
    }

    /** Commits what was written to files that are still open, and ends the session. */
    @Override
    public void close() {
        fileSystem.close();
    }
}
