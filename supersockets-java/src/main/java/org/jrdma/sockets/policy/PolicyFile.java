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
import org.jrdma.sockets.internal.FileErrors;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The file that a {@link Policy} is in. A change is noticed within a second; where it is a bad one,
 * what was read before stays, and the log says why. Safe for use by several threads.
 */
public final class PolicyFile {

    static final String PROPERTY = "jrdma.sockets.policy";

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Path path;
    private final Duration pause;

    private record Version(FileTime modified, long bytes) {}

    private @Nullable Policy policy;
    private @Nullable Version seen;
    private String lastError = "";
    private Deadline nextLook = Deadline.after(Duration.ZERO);

    /** Looks at {@code path} again after {@code pause} at the earliest. */
    public PolicyFile(Path path, Duration pause) {
        this.path = path;
        this.pause = pause;
    }

    /** That of the system property; null if it is not set. */
    static @Nullable PolicyFile configured() {
        var path = System.getProperty(PROPERTY);
        return path == null ? null : new PolicyFile(Path.of(path), PAUSE);
    }

    /**
     * The rules that hold now.
     *
     * @throws FabricException if they were never read, since the file is missing or a line is bad
     */
    public synchronized Policy current() throws FabricException {
        var known = policy;
        if (known == null) {
            return reload();
        }
        if (!nextLook.hasPassed()) {
            return known;
        }
        try {
            nextLook = Deadline.after(pause);
            var version = version();
            if (version.equals(seen)) {
                return known;
            }
            seen = version; // a bad one too, which need not be read twice
            return reload();
        } catch (FabricException e) {
            warn(e.getMessage());
            return known;
        }
    }

    /** Once, for the file is looked at again and again. */
    private void warn(String message) {
        if (!message.equals(lastError)) {
            lastError = message;
            LoggerFactory.getLogger(PolicyFile.class)
                    .warn("{}; the rules that were read before stay", message);
        }
    }

    /** Reads the file, whether it has changed or not. */
    public synchronized Policy reload() throws FabricException {
        var version = version();
        try {
            var read = Policy.parse(path.toString(), Files.readAllLines(path));
            seen = version;
            policy = read;
            lastError = "";
            nextLook = Deadline.after(pause);
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
                                .formatted(PROPERTY, path, FileErrors.reason(e)),
                0,
                e);
    }
}
