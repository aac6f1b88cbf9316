package org.jrdma.cli.volume;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
import org.jrdma.volume.model.VolumeException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Checks a volume. */
@Command(
        name = "check",
        description =
                "Checks a volume that no server uses: the journal, the tree of folders, and that each block belongs to one file or is free. Changes nothing. If the last coordinator was killed, the command first waits 5 s to find out that no server runs.",
        mixinStandardHelpOptions = true,
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:the volume is consistent",
            "1:the volume is damaged or in use, or could not be read",
            "2:invalid command line or system property"
        })
public final class CheckCommand implements Callable<Integer> {

    /** The result, as the output has it. */
    record Checked(String drive, List<String> problems) {}

    /** The time in which a coordinator with a lease of up to 50 s renews it. */
    private static final Duration MAX_RENEWAL_TIME = Duration.ofSeconds(5);

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "DRIVE",
            description =
                    "The drive of the volume: a file, or the id of a lent NVMe controller, such as 0x401.")
    private String location;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Checked checked;
        try (var drive = new DriveName(location).open()) {
            if (isInUse(drive)) {
                throw new IOException(
                        "A server uses the volume in %s. Stop all servers before the check."
                                .formatted(location));
            }
            checked = new Checked(location, VolumeServer.check(drive));
        }
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(checked));
        } else if (checked.problems().isEmpty()) {
            out.printf("The volume in %s is consistent.%n", location);
        } else {
            checked.problems().forEach(problem -> out.println(PrintableText.of(problem)));
        }
        return checked.problems().isEmpty() ? 0 : 1;
    }

    private static boolean isInUse(Drive drive) throws FabricException, InterruptedException {
        try {
            return VolumeServer.isInUse(drive, MAX_RENEWAL_TIME);
        } catch (VolumeException _) { // the check reports the damage
            return false;
        }
    }
}
