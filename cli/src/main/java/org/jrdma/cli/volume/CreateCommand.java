package org.jrdma.cli.volume;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.ffi.FabricException;
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
                "Creates an empty volume: in a file, on the NVMe drive of a lent controller, or on several of them as stripes or as a mirror.",
        mixinStandardHelpOptions = true)
public final class CreateCommand implements Callable<Integer> {

    private static final long MEBIBYTE = 1 << 20;
    private static final long MAX_MEBIBYTES = 1L << 30;
    private static final int KIBIBYTE = 1 << 10;
    private static final int DEFAULT_STRIPE_KIBIBYTES = 256;
    private static final int MAX_STRIPE_KIBIBYTES = 1 << 20;

    /** The new volume, as the output has it. */
    record Created(String drive, long bytes) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "DRIVE",
            converter = DriveNameConverter.class,
            description =
                    "The file, which becomes the drive, or the id of a lent NVMe controller, such as 0x401. Several drives are stripes:0x401,0x402 or mirror:0x401,0x402.")
    private DriveName name;

    @Option(
            names = {"-m", "--size"},
            paramLabel = "MIB",
            description =
                    "The size of each file in MiB (default: 1024). The file system allocates the space when it is written.")
    private long mebibytes = 1024;

    @Option(
            names = "--stripe",
            paramLabel = "KIB",
            description =
                    "The size of a stripe in KiB, a multiple of 4 (default: 256). Only for stripes.")
    private Optional<Integer> stripeKibibytes = Optional.empty();

    @Option(
            names = "--overwrite",
            description =
                    "Create the volume in an existing file or on a lent drive, whose content is lost. Fails while a server uses a volume on the drive. If its last coordinator was killed, the command first waits 5 s to find out that no server runs.")
    private boolean isOverwriting;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (mebibytes < 4 || mebibytes > MAX_MEBIBYTES) {
            throw new ParameterException(
                    command.commandLine(),
                    "The size must be from 4 to %d MiB, but is %d"
                            .formatted(MAX_MEBIBYTES, mebibytes));
        }
        checkGroup();
        checkOverwriting();
        try (var drive = name.create(this::openOrCreate, stripeBlocks())) {
            VolumeServer.create(drive);
            var created = new Created(name.text(), drive.blocks() * Drive.BLOCK_BYTES);
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

    private void checkGroup() {
        if ((name.isStriped() || name.isMirrored()) && name.members().size() < 2) {
            throw new ParameterException(
                    command.commandLine(), "%s has only one drive".formatted(name));
        }
        if (stripeKibibytes.isPresent() && !name.isStriped()) {
            throw new ParameterException(
                    command.commandLine(),
                    "Only a drive such as stripes:0x401,0x402 has a size of stripes");
        }
        var kibibytes = stripeKibibytes();
        if (kibibytes < 4 || kibibytes > MAX_STRIPE_KIBIBYTES || kibibytes % 4 != 0) {
            throw new ParameterException(
                    command.commandLine(),
                    "The size of a stripe must be a multiple of 4 KiB up to %d, but is %d"
                            .formatted(MAX_STRIPE_KIBIBYTES, kibibytes));
        }
    }

    private int stripeKibibytes() {
        return stripeKibibytes.orElse(DEFAULT_STRIPE_KIBIBYTES);
    }

    private int stripeBlocks() {
        return stripeKibibytes() * KIBIBYTE / Drive.BLOCK_BYTES;
    }

    private void checkOverwriting() throws IOException, InterruptedException {
        var existing = name.members().stream().filter(drive -> !isNewFile(drive)).toList();
        for (var drive : existing) {
            if (!isOverwriting) {
                throw new IOException(
                        "%s %s. With --overwrite, its content is replaced by an empty volume."
                                .formatted(
                                        drive,
                                        drive.isDevice() ? "is a device" : "exists already"));
            }
            UnusedVolume.requireOn(drive);
        }
        if (name.isStriped() && existing.equals(name.members())) {
            UnusedVolume.requireOnStripes(name);
        }
    }

    private static boolean isNewFile(DriveName drive) {
        return !drive.isDevice() && !Files.exists(Path.of(drive.text()));
    }

    private Drive openOrCreate(DriveName drive) throws FabricException {
        return isNewFile(drive)
                ? FileDrive.create(Path.of(drive.text()), mebibytes * MEBIBYTE / Drive.BLOCK_BYTES)
                : drive.open();
    }
}
