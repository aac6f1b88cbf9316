package org.jrdma.sockets.policy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.sockets.internal.FileErrorReason;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The file that contains a {@link Policy}. When the rules are requested, the file is read again if
 * it has changed. If the changed file cannot be read or is malformed, the previous rules remain in
 * effect, and the reason is logged. Safe for use by multiple threads.
 */
public final class ReloadablePolicyFile {

    static final String PROPERTY = "jrdma.sockets.policy";

    private static final Duration CHECK_INTERVAL = Duration.ofSeconds(1);

    private final Path path;
    private final Duration interval;

    private record Version(FileTime modified, long bytes) {}

    private @Nullable Policy policy;
    private @Nullable Version seen;
    private String lastError = "";
    private Deadline nextCheck = Deadline.after(Duration.ZERO);

    /**
     * Creates the object for a policy file. The file is read when the rules are first requested.
     *
     * @param interval the minimum time between two checks whether the file has changed
     */
    public ReloadablePolicyFile(Path path, Duration interval) {
        this.path = path;
        this.interval = interval;
    }

    /** Returns the policy file that the system property names; null if the property is not set. */
    static @Nullable ReloadablePolicyFile configured() {
        var path = System.getProperty(PROPERTY);
        return path == null ? null : new ReloadablePolicyFile(Path.of(path), CHECK_INTERVAL);
    }

    /**
     * Returns the current rules. Reads the file if it has not been read yet, or if it has changed.
     *
     * @throws FabricException if the file is missing or malformed, and no rules were read from an
     *     earlier version of the file
     */
    public synchronized Policy current() throws FabricException {
        var previous = policy;
        if (previous == null) {
            return reload();
        }
        if (!nextCheck.hasPassed()) {
            return previous;
        }
        try {
            nextCheck = Deadline.after(interval);
            var version = version();
            if (version.equals(seen)) {
                return previous;
            }
            seen = version; // Set before reload(), so that a malformed file is read only once.
            return reload();
        } catch (FabricException e) {
            warn(e.getMessage());
            return previous;
        }
    }

    /**
     * Logs a message, unless it is the same as the last message. The file is checked repeatedly, so
     * an error would otherwise be logged repeatedly.
     */
    private void warn(String message) {
        if (!message.equals(lastError)) {
            lastError = message;
            LoggerFactory.getLogger(ReloadablePolicyFile.class)
                    .warn("{}; the previous rules remain in effect", message);
        }
    }

    /**
     * Reads the file, even if it has not changed.
     *
     * @return the new rules
     * @throws FabricException if the file is missing or malformed; the previous rules remain in
     *     effect
     */
    public synchronized Policy reload() throws FabricException {
        var version = version();
        try {
            var read = Policy.parse(path.toString(), Files.readAllLines(path));
            seen = version;
            policy = read;
            lastError = "";
            nextCheck = Deadline.after(interval);
            return read;
        } catch (IllegalArgumentException e) {
            throw new FabricException(e.getMessage(), 0, e);
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private Version version() throws FabricException {
        try {
            var attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return new Version(attributes.lastModifiedTime(), attributes.size());
        } catch (IOException e) {
            throw unreadable(e);
        }
    }

    private FabricException unreadable(IOException e) {
        return new FabricException(
                e instanceof NoSuchFileException
                        ? "%s: there is no %s".formatted(PROPERTY, path)
                        : "%s: %s cannot be read: %s"
                                .formatted(PROPERTY, path, FileErrorReason.reason(e)),
                0,
                e);
    }
}
