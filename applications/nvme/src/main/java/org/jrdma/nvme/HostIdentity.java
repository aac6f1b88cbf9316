package org.jrdma.nvme;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;
import org.jrdma.nvme.model.HostIdentifier;
import org.jrdma.nvme.model.QualifiedName;

/**
 * The identity of a host for targets on a network. Targets allow hosts by their names, and
 * reservations distinguish hosts by their identifiers. All programs of a host should have the same
 * identity.
 *
 * @param name the qualified name
 * @param identifier the identifier, 128 bits
 */
public record HostIdentity(String name, HostIdentifier identifier) {

    /**
     * Creates an identity.
     *
     * @throws IllegalArgumentException if the name is invalid, or the identifier is 0 or does not
     *     have 128 bits
     */
    public HostIdentity {
        var _ = QualifiedName.requireValid(name);
        if (identifier.isNone() || !identifier.isExtended()) {
            throw new IllegalArgumentException(
                    "The identifier %s is invalid. A host on a network needs 128 bits that are not all 0."
                            .formatted(identifier));
        }
    }

    /** Returns the identity of a host that is identified by a UUID. */
    public static HostIdentity of(UUID uuid) {
        return new HostIdentity(
                QualifiedName.of(uuid),
                new HostIdentifier(
                        Long.reverseBytes(uuid.getMostSignificantBits()),
                        Long.reverseBytes(uuid.getLeastSignificantBits()),
                        true));
    }

    /**
     * Returns the identity of the user on this machine, which the file {@code
     * .config/jrdma/nvme-host-id} in the user's home directory contains.
     *
     * @throws IOException if the file cannot be read or created, or does not contain a UUID
     */
    public static HostIdentity ofUser() throws IOException {
        return inFile(Path.of(System.getProperty("user.home"), ".config", "jrdma", "nvme-host-id"));
    }

    /**
     * Reads a UUID from a file. If the file does not exist, it is created with a random UUID.
     *
     * @throws IOException if the file cannot be read or created, or does not contain a UUID
     */
    public static HostIdentity inFile(Path file) throws IOException {
        if (!Files.exists(file)) {
            create(file.toAbsolutePath());
        }
        var text = Files.readString(file, US_ASCII).strip();
        try {
            return of(UUID.fromString(text));
        } catch (IllegalArgumentException e) {
            throw new IOException(
                    "The file %s does not contain a UUID. Remove it to create another one."
                            .formatted(file),
                    e);
        }
    }

    /** Creates a complete file, unless another program has created it meanwhile. */
    private static void create(Path file) throws IOException {
        var directory = file.getParent();
        Files.createDirectories(directory);
        var temporary = Files.createTempFile(directory, "nvme-host-id", ".tmp");
        try {
            Files.writeString(temporary, UUID.randomUUID() + "\n", US_ASCII);
            Files.createLink(file, temporary); // fails if the file exists, unlike a move
        } catch (FileAlreadyExistsException _) {
            // the identity of the other program is used
        } catch (UnsupportedOperationException _) {
            var _ = Files.move(temporary, file, StandardCopyOption.ATOMIC_MOVE);
        } finally {
            var _ = Files.deleteIfExists(temporary);
        }
    }
}
