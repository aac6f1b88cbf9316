package org.jrdma.sockets.transport;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jrdma.ffi.FabricException;

/** The number of an address family that is not the same on every machine. */
public final class FamilyNumber {

    static final String PROPERTY = "jrdma.sockets.supersockets.family";

    /** Where the driver of SuperSockets publishes it: the present place and an older one. */
    private static final List<Path> PUBLISHED =
            List.of(Path.of("/proc/net/af_ssocks/family"), Path.of("/proc/net/af_sci/family"));

    private final List<Path> files;

    private FamilyNumber(List<Path> files) {
        this.files = files;
    }

    public static FamilyNumber in(List<Path> files) {
        return new FamilyNumber(files);
    }

    static FamilyNumber publishedByDriver() {
        var chosen = System.getProperty(PROPERTY);
        return in(chosen == null ? PUBLISHED : List.of(Path.of(chosen)));
    }

    /** Reads the first file that is there. */
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
            throw new FabricException("%s holds no number".formatted(file), 0, e);
        } catch (IOException e) {
            throw new FabricException("%s cannot be read: %s".formatted(file, e), 0, e);
        }
    }
}
