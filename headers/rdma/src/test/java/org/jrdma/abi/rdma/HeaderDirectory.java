package org.jrdma.abi.rdma;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/** A folder with the headers of libibverbs and librdmacm. */
record HeaderDirectory(Path folder) {

    private static final String VARIABLE = "RDMA_HEADERS";
    private static final Path CHECKSUMS = Path.of("headers.sha256");

    /**
     * Returns the folder of RDMA_HEADERS, otherwise the system's folder if it contains the headers.
     */
    static Optional<HeaderDirectory> find() {
        var chosen = System.getenv(VARIABLE);
        var folder = Path.of(chosen == null ? "/usr/include" : chosen);
        if (Files.exists(folder.resolve("infiniband/verbs.h"))
                && Files.exists(folder.resolve("rdma/rsocket.h"))) {
            return Optional.of(new HeaderDirectory(folder));
        }
        if (chosen != null) {
            throw new AssertionError(VARIABLE + "=" + chosen + " does not contain the headers");
        }
        return Optional.empty();
    }

    /** Returns true if the committed code was generated from exactly these headers. */
    boolean areThoseGeneratedFrom() throws IOException, NoSuchAlgorithmException {
        for (var line : Files.readAllLines(CHECKSUMS)) {
            var separator = line.indexOf("  ");
            var header = folder.resolve(line.substring(separator + 2));
            if (!Files.exists(header) || !checksum(header).equals(line.substring(0, separator))) {
                return false;
            }
        }
        return true;
    }

    private static String checksum(Path file) throws IOException, NoSuchAlgorithmException {
        var digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        return HexFormat.of().formatHex(digest);
    }
}
