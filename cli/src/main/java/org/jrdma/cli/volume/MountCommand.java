package org.jrdma.cli.volume;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

/**
 * Names the script that mounts volumes. A separate module contains the mount, because its library
 * has another license.
 */
@Command(
        name = "mount",
        description =
                "Mounts a volume for all programs, through FUSE. Only the script ./jrdma in the repository can mount. ./jrdma volume mount --help prints the options.",
        mixinStandardHelpOptions = true)
final class MountCommand implements Callable<Integer> {

    /** The arguments of the script; picocli adds to the list. */
    @Unmatched private final List<String> arguments = new ArrayList<>();

    @Override
    public Integer call() throws IOException {
        throw new IOException(
                "This jar does not contain the mount. In a checkout of the repository, run: ./jrdma volume mount %s"
                        .formatted(arguments.isEmpty() ? "--help" : String.join(" ", arguments)));
    }
}
