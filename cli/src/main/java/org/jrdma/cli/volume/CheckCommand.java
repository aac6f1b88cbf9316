package org.jrdma.cli.volume;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.cli.output.PrintableText;
import org.jrdma.volume.VolumeServer;
import org.jrdma.volume.drive.DriveName;
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

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "DRIVE",
            converter = DriveNameConverter.class,
            description =
                    "The drive of the volume: a file, the id of a lent NVMe controller, such as 0x401, or several of them, such as mirror:0x401,0x402.")
    private DriveName name;

    @Override
    public Integer call() throws IOException, InterruptedException {
        Checked checked;
        try (var drive = name.open()) {
            UnusedVolume.require(drive, name);
            checked = new Checked(name.text(), VolumeServer.check(drive));
        }
        var out = command.commandLine().getOut();
        if (output.isJson()) {
            out.println(Json.of(checked));
        } else if (checked.problems().isEmpty()) {
            out.printf("The volume in %s is consistent.%n", name);
        } else {
            checked.problems().forEach(problem -> out.println(PrintableText.of(problem)));
        }
        return checked.problems().isEmpty() ? 0 : 1;
    }
}
