package org.jrdma.sockets.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.FabricException;

/**
 * The number of the address family of SuperSockets. The number differs between machines, so the
 * driver publishes it in a file.
 */
public final class SuperSocketsFamilyNumber {

    static final String PROPERTY = "jrdma.sockets.supersockets.family";

    /** The files in which current and older SuperSockets drivers publish the number. */
    private static final List<Path> PUBLISHED =
            List.of(Path.of("/proc/net/af_ssocks/family"), Path.of("/proc/net/af_sci/family"));

    private final List<Path> files;

    private SuperSocketsFamilyNumber(List<Path> files) {
        this.files = files;
    }

    /** Creates an object that reads the number from the first of {@code files} that exists. */
    public static SuperSocketsFamilyNumber in(List<Path> files) {
        return new SuperSocketsFamilyNumber(files);
    }

    static SuperSocketsFamilyNumber publishedByDriver() {
        var chosen = System.getProperty(PROPERTY);
        return in(chosen == null ? PUBLISHED : List.of(Path.of(chosen)));
    }

    int read() throws FabricException {
        for (var file : files) {
            if (Files.exists(file)) {
                return read(file);
            }
        }
        throw new FabricException("driver not loaded: there is no %s".formatted(files.getFirst()));
    }

    private static int read(Path file) throws FabricException {
        try {
            return Integer.parseInt(Files.readString(file).strip());
        } catch (NumberFormatException e) {
            throw new FabricException("%s does not contain a number".formatted(file), 0, e);
        } catch (IOException e) {
            throw new FabricException("%s cannot be read: %s".formatted(file, e), 0, e);
        }
    }
}
