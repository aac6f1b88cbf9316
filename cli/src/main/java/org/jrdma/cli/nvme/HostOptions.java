package org.jrdma.cli.nvme;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.jrdma.nvme.FabricsOptions;
import org.jrdma.nvme.HostIdentity;
import picocli.CommandLine.Option;

/** The options of commands that connect to a target. */
final class HostOptions {

    @Option(
            names = "--host-id",
            paramLabel = "FILE",
            description =
                    "A file with the UUID of this host, which is created if it does not exist (default: .config/jrdma/nvme-host-id in the home directory).")
    private Optional<Path> file = Optional.empty();

    /** Returns the options of a connection. */
    FabricsOptions options() throws IOException {
        return FabricsOptions.of(
                file.isEmpty() ? HostIdentity.ofUser() : HostIdentity.inFile(file.get()));
    }
}
