package org.jrdma.cli.nvme;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;

/** Computes UUIDs that identify files across machines. */
final class FileUuid {

    private static final Path MACHINE = Path.of("/etc/machine-id");

    private FileUuid() {}

    /** Returns an id that a file keeps while it is neither moved nor replaced. */
    static UUID of(Path file) throws IOException {
        var key =
                "%s\n%s\n%s"
                        .formatted(
                                machine(), file.toRealPath(), Files.getAttribute(file, "unix:ino"));
        return UUID.nameUUIDFromBytes(key.getBytes(UTF_8));
    }

    /** Returns the id of this machine, or its name, because containers often have no id. */
    private static String machine() throws IOException {
        var id = Files.exists(MACHINE) ? Files.readString(MACHINE).strip() : "";
        return id.isEmpty() ? InetAddress.getLocalHost().getHostName() : id;
    }
}
