package org.jrdma.cli.volume;

import java.io.IOException;
import java.util.concurrent.Callable;
import org.jrdma.cli.output.Json;
import org.jrdma.cli.output.JsonOption;
import org.jrdma.volume.drive.Drive;
import org.jrdma.volume.drive.DriveName;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Removes lost drives from a mirror. */
@Command(
        name = "reduce-mirror",
        description =
                "Reduces a mirror to some of its drives, for example after the loss of the others, without which the volume cannot be written. Stop all servers before. The other drives cannot be used together with these any more, because they lack later writes. If the last coordinator was killed, the command first waits 5 s to find out that no server runs.",
        mixinStandardHelpOptions = true)
public final class ReduceMirrorCommand implements Callable<Integer> {

    /** The result, as the output has it. */
    record Reduced(String drive, long bytes) {}

    @Spec private CommandSpec command;
    @Mixin private JsonOption output;

    @Parameters(
            paramLabel = "DRIVE",
            converter = DriveNameConverter.class,
            description = "The remaining drives, such as mirror:0x401.")
    private DriveName name;

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (!name.isMirrored()) {
            throw new ParameterException(
                    command.commandLine(),
                    "%s is not a mirror such as mirror:0x401".formatted(name));
        }
        try (var mirror = name.openIncompleteMirror()) {
            UnusedVolume.require(mirror, name);
            mirror.reduce();
            var reduced = new Reduced(name.text(), mirror.blocks() * Drive.BLOCK_BYTES);
            command.commandLine()
                    .getOut()
                    .println(
                            output.isJson()
                                    ? Json.of(reduced)
                                    : "The volume is now in %s.".formatted(name));
        }
        return 0;
    }
}
