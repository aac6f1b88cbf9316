package org.jrdma.cli.nvme;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.UUID;
import org.jrdma.nvme.soft.BlockStorage;
import org.jrdma.nvme.soft.Subsystem;

/** Resizes a namespace when its file has grown. Ignores a file that has replaced it. */
final class FileGrowth {

    private final Path file;
    private final UUID id;
    private final Subsystem subsystem;
    private final int namespace;
    private final BlockStorage storage;

    /**
     * Creates an object that follows a file.
     *
     * @param id the id of the file when it was opened
     * @param storage the blocks of the file, which are a namespace of the subsystem
     */
    FileGrowth(Path file, UUID id, Subsystem subsystem, int namespace, BlockStorage storage) {
        this.file = file;
        this.id = id;
        this.subsystem = subsystem;
        this.namespace = namespace;
        this.storage = storage;
    }

    /** Resizes the namespace if the file has grown; returns false otherwise. */
    boolean follow() throws IOException {
        try {
            var blocks = Files.size(file) >>> storage.blockShift();
            if (blocks <= storage.blocks() || !FileUuid.of(file).equals(id)) {
                return false;
            }
            subsystem.resizeNamespace(namespace, blocks);
            return true;
        } catch (NoSuchFileException _) {
            return false; // the blocks remain accessible
        }
    }
}
