package org.jrdma.cli.volume;

import org.jrdma.cli.output.HelpCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Serves and uses clustered volumes. */
@Command(
        name = "volume",
        description =
                "Creates, serves, uses and checks clustered volumes. All commands except mount print JSON with --json. There is no authentication and no encryption: use a trusted network.",
        mixinStandardHelpOptions = true,
        subcommands = {
            CreateCommand.class,
            ServeCommand.class,
            LsCommand.class,
            CpCommand.class,
            MountCommand.class,
            CheckCommand.class,
            ReduceMirrorCommand.class,
            NodesCommand.class,
            ListConnectionsCommand.class,
            FailoverDemoCommand.class,
            HelpCommand.class
        },
        synopsisSubcommandLabel = "COMMAND")
public final class VolumeCommand implements Runnable {

    @Spec private CommandSpec command;

    @Override
    public void run() {
        throw new ParameterException(command.commandLine(), "Missing required subcommand");
    }
}
