package org.jrdma.cli.nvme;

import org.jrdma.cli.output.HelpCommand;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Uses and offers drives by NVMe over RDMA. */
@Command(
        name = "nvme",
        description =
                "Discovers, lists, serves and measures drives by NVMe over RDMA. All commands print JSON with --json.",
        mixinStandardHelpOptions = true,
        subcommands = {
            DiscoverCommand.class,
            ListNamespacesCommand.class,
            ServeCommand.class,
            PerfCommand.class,
            HelpCommand.class
        },
        synopsisSubcommandLabel = "COMMAND")
public final class NvmeCommand implements Runnable {

    @Spec private CommandSpec command;

    @Override
    public void run() {
        throw new ParameterException(command.commandLine(), "Missing required subcommand");
    }
}
