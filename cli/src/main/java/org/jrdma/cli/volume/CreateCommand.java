package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.drive.FileDrive;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Creates an empty volume. */
@Command(
        name = "create",
        description =
                "Creates an empty volume: in a file, or on the NVMe drive of a lent controller.",
        mixinStandardHelpOptions = true)
public final class CreateCommand implements Callable<Integer> {

    private static final long MEBIBYTE = 1 << 20;
    private static final long MAX_MEBIBYTES = 1L << 30;

    /** The new volume, as the output has it. */
    record Created(String drive, long bytes) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "DRIVE",
            description =
                    "The file, which becomes the drive, or the id of a lent NVMe controller, such as 0x401.")
    private Path location;

    @Option(
            names = {"-m", "--size"},
            paramLabel = "MIB",
            description =
                    "The size of the file in MiB (default: 1024). The file system allocates the space when it is written.")
    private long mebibytes = 1024;

    @Option(
            names = "--overwrite",
            description =
                    "Create the volume in an existing file or on a lent drive, whose content is lost. No server may use the drive.")
    private boolean isOverwriting;

    @Override
    public Integer call() throws IOException {
        if (mebibytes < 4 || mebibytes > MAX_MEBIBYTES) {
            throw new ParameterException(
                    command.commandLine(),
                    "The size must be from 4 to %d MiB, but is %d"
                            .formatted(MAX_MEBIBYTES, mebibytes));
        }
        try (var drive = open()) {
            VolumeServer.create(drive);
            var created = new Created(location.toString(), drive.blocks() * Drive.BLOCK_BYTES);
            command.commandLine()
                    .getOut()
                    .println(
                            output.isJson()
                                    ? Json.of(created)
                                    : String.format(
                                            Locale.ROOT,
                                            "Created a volume of %,d bytes in %s.",
                                            created.bytes(),
                                            created.drive()));
        }
        return 0;
    }

    private Drive open() throws IOException {
        var name = new DriveName(location.toString());
        if (!name.isDevice() && !Files.exists(location)) {
            return FileDrive.create(location, mebibytes * MEBIBYTE / Drive.BLOCK_BYTES);
        }
        if (!isOverwriting) {
            throw new IOException(
                    "%s %s. With --overwrite, its content is replaced by an empty volume."
                            .formatted(
                                    location, name.isDevice() ? "is a device" : "exists already"));
        }
        return name.open();
    }
}
