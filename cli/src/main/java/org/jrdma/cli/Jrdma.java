package org.jrdma.cli;

import java.io.IOException;
import java.util.Locale;
import org.jrdma.cli.net.NetCommand;
import org.jrdma.cli.perf.PerfCommand;
import org.jrdma.cli.perf.PingCommand;
import picocli.CommandLine;
import picocli.CommandLine.Command;

/** The {@code jrdma} command. */
@Command(
        name = "jrdma",
        description =
                "Tells what RDMA this machine has, what is wrong with it, who is connected how, and how fast it is.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        subcommands = {
            DevicesCommand.class,
            DoctorCommand.class,
            NetCommand.class,
            PingCommand.class,
            PerfCommand.class
        },
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done, and nothing is wrong",
            "1:something is wrong; the output says what",
            "2:the command line is wrong"
        })
public final class Jrdma {

    private Jrdma() {}

    static void main(String... arguments) {
        Locale.setDefault(Locale.ROOT); // so that the same is printed in every country
        System.exit(commandLine().execute(arguments));
    }

    /** The whole command, to be executed with arguments. */
    public static CommandLine commandLine() {
        return new CommandLine(new Jrdma())
                .setCaseInsensitiveEnumValuesAllowed(true)
                .setExecutionExceptionHandler((e, command, _) -> {
                    if (e
                            instanceof
                            IllegalArgumentException) { // what was asked for makes no sense
                        command.getErr().println(e.getMessage());
                        return command.getCommandSpec().exitCodeOnInvalidInput();
                    }
                    if (e instanceof IOException) {
                        command.getErr().println(e.getMessage());
                        return command.getCommandSpec().exitCodeOnExecutionException();
                    }
                    throw e;
                });
    }
}
