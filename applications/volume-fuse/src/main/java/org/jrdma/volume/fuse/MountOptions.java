package org.jrdma.volume.fuse;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jrdma.volume.NodeSettings;

/**
 * The command line of {@link Mount}, with the settings of the command {@code jrdma volume}.
 *
 * @param settings the settings, of which a mount ignores those of servers
 */
record MountOptions(Path mountPoint, NodeSettings settings, boolean isForAllUsers) {

    static final String USAGE =
            """
            Usage: ./jrdma volume mount [OPTIONS] FOLDER
            Mounts a volume at an empty folder, until "umount FOLDER" or Ctrl+C.

              --allow-other      gives all users access, subject to the permissions
              --config=FILE      a file with settings, which the options replace
              --drive=DRIVE      the drive: a file, the id of a lent NVMe controller, or
                                 a group such as mirror:0x401,0x402
                                 (default: redirected)
              --servers=LIST     the servers (default: localhost:7471)
              --transports=LIST  the transports, the most preferred first
                                 (default: verbs,sisci,sockets)
            """;

    private static final Pattern OPTION =
            Pattern.compile("--(?:(allow-other)|(config|drive|servers|transports)(?:=(.*))?)");

    /** Returns the error for an invalid command line. */
    static String usageError(IllegalArgumentException e) {
        var message = String.valueOf(e.getMessage());
        return "jrdma volume mount: %s%s See --help."
                .formatted(message, message.endsWith(".") ? "" : ".");
    }

    /**
     * Parses a command line.
     *
     * @throws IllegalArgumentException if an argument or setting is invalid
     * @throws IOException if the settings file cannot be read
     */
    static MountOptions parse(List<String> arguments) throws IOException {
        var options = new HashMap<String, String>();
        var folders = new ArrayList<String>();
        for (var words = arguments.iterator(); words.hasNext(); ) {
            var word = words.next();
            var option = OPTION.matcher(word);
            if (option.matches()) {
                var isFlag = option.group(1) != null;
                var value = isFlag ? "" : option.group(3);
                if (value == null && !words.hasNext()) {
                    throw new IllegalArgumentException(
                            "The option %s needs a value".formatted(word));
                }
                options.put(
                        isFlag ? option.group(1) : option.group(2),
                        value == null ? words.next() : value);
            } else if (word.startsWith("-")) {
                throw new IllegalArgumentException("Invalid option \"%s\"".formatted(word));
            } else {
                folders.add(word);
            }
        }
        if (folders.size() != 1) {
            throw new IllegalArgumentException("Give one folder, not " + folders.size());
        }
        var isForAllUsers = options.remove("allow-other") != null;
        var file = Optional.ofNullable(options.remove("config")).map(Path::of);
        return new MountOptions(
                Path.of(folders.getFirst()), NodeSettings.read(file, options), isForAllUsers);
    }

    /**
     * Returns the real path of the mount point. The native library would wait forever for a mount
     * at a regular file, and a mount hides the content of a folder.
     *
     * @throws IOException if the mount point is not an empty folder, or is mounted already
     */
    Path emptyFolder() throws IOException {
        try {
            var path = mountPoint.toRealPath();
            if (Mount.isMounted(path)) {
                throw new IOException("A volume is already mounted at %s.".formatted(mountPoint));
            }
            if (!Files.isDirectory(path)) {
                throw new IOException("%s is not a folder.".formatted(mountPoint));
            }
            try (var files = Files.newDirectoryStream(path)) {
                if (files.iterator().hasNext()) {
                    throw new IOException("The folder %s is not empty.".formatted(mountPoint));
                }
            }
            return path;
        } catch (NoSuchFileException e) {
            throw new IOException("The folder %s does not exist.".formatted(mountPoint), e);
        } catch (AccessDeniedException e) {
            throw new IOException(
                    "The access to the folder %s was denied.".formatted(mountPoint), e);
        } catch (FileSystemException e) { // a mount whose process has ended
            throw new IOException(
                    "Cannot use the folder %s: %s.".formatted(mountPoint, e.getReason()), e);
        }
    }
}
