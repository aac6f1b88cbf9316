package org.jrdma.volume;

import java.nio.ByteBuffer;
import java.nio.file.FileSystem;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.ClientOptions;
import org.jrdma.volume.client.NodeConnector;
import org.jrdma.volume.client.VolumeClient;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.model.BufferInUseException;
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
 * While this process reaches only a standby, that server forwards the requests to the coordinator.
 * Safe for use by multiple threads.
 */
public final class Volume implements AutoCloseable {

    private final VolumeFileSystem fileSystem;
    private final Optional<Drive> drive;

    private Volume(VolumeFileSystem fileSystem, Optional<Drive> drive) {
        this.fileSystem = fileSystem;
        this.drive = drive;
    }

    /**
     * Connects to the coordinator of a volume, if necessary over a standby. Blocks for up to the
     * retry timeout.
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
            return new Volume(
                    new VolumeFileSystem(options.name(), client, () -> {}), options.drive());
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

    /**
     * Allocates a direct buffer for the data of files.
     *
     * <p>If the drive is an NVMe namespace, a channel transfers whole blocks of {@value
     * Drive#BLOCK_BYTES} bytes between the drive and the buffer without a copy. The position of the
     * buffer must be a multiple of 4. All other accesses work as with any buffer. During a write,
     * the program must not change the data.
     *
     * <p>The buffer is valid until the drive is closed, also while the data is redirected. An NVMe
     * namespace owns the memory and frees it then, not earlier: create few buffers, and reuse them.
     * Any later use throws IllegalStateException. Otherwise, the garbage collector frees the
     * memory.
     *
     * <p>If the drive does not respond, and may still access the buffer, an access fails with
     * {@link BufferInUseException}, and is not redirected. Do not use the buffer any more after
     * that.
     *
     * @throws FabricException if the memory cannot be allocated
     * @throws IllegalArgumentException if the size is not positive
     */
    public ByteBuffer newBuffer(int bytes) throws FabricException {
        if (bytes < 1) {
            throw new IllegalArgumentException(
                    "The size of a buffer is %d bytes. It must be positive.".formatted(bytes));
        }
        return drive.isPresent()
                ? drive.get().newMemory(bytes).asByteBuffer()
                : ByteBuffer.allocateDirect(bytes);
    }

    /**
     * Returns the path to the data and the connection to the coordinator, or to the server that
     * forwards the requests, with the reasons.
     */
    public ClientReport state() {
        return fileSystem.state();
    }

    /** Describes the path to the data, the reason for it, and the transport to the coordinator. */
    public String describe() {
        return fileSystem.describe();
    }

    /**
     * Closes the channels that are still open, which makes their data durable, and ends the
     * session. Waits for accesses in progress, and for a missing coordinator up to the retry
     * timeout. Failures are logged: close a channel before, or call its {@code force}, to be
     * notified of them.
     */
    @Override
    public void close() {
        fileSystem.close();
    }
}
