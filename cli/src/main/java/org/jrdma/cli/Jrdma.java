package org.jrdma.cli;

import java.io.IOException;
import java.util.Locale;
import org.jrdma.cli.net.NetCommand;
import org.jrdma.cli.nvme.NvmeCommand;
import org.jrdma.cli.output.HelpCommand;
import org.jrdma.cli.output.Version;
import org.jrdma.cli.perf.PerfCommand;
import org.jrdma.cli.perf.PingCommand;
import org.jrdma.cli.volume.VolumeCommand;
import org.jrdma.ffi.ConfiguredFabric;
import org.jrdma.ffi.KnownProperties;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.RunLast;
import picocli.CommandLine.UnmatchedArgumentException;

/** The {@code jrdma} command. */
@Command(
        name = "jrdma",
        description =
                "Lists and lends devices, discovers and serves drives and volumes, lists connections, diagnoses configuration faults, and measures the performance of RDMA, SISCI and sockets.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        subcommands = {
            DevicesCommand.class,
            DoctorCommand.class,
            LendSoftwareDeviceCommand.class,
            NetCommand.class,
            NvmeCommand.class,
            PerfCommand.class,
            PingCommand.class,
            VolumeCommand.class,
            ListExamplesCommand.class,
            HelpCommand.class
        },
        synopsisSubcommandLabel = "COMMAND",
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:done, and no problem found",
            "1:failed, or a problem was found; the output names it",
            "2:invalid command line or system property"
        })
public final class Jrdma {

    private Jrdma() {}

    static void main(String... arguments) {
        Locale.setDefault(Locale.ROOT); // Numbers are printed in the same way in every locale.
        System.exit(commandLine().execute(arguments));
    }

    /** Returns the command line with all subcommands. */
    public static CommandLine commandLine() {
        return new CommandLine(new Jrdma())
                .setExecutionStrategy(Jrdma::execute)
                .setParameterExceptionHandler((e, _) -> reportUsageError(e))
                .setExecutionExceptionHandler((e, command, _) -> {
                    if (!(e instanceof IllegalArgumentException || e instanceof IOException)) {
                        throw e;
                    }
                    command.getErr().println(e.getMessage());
                    return e instanceof IOException
                            ? command.getCommandSpec().exitCodeOnExecutionException()
                            : command.getCommandSpec().exitCodeOnInvalidInput();
                });
    }

    private static int execute(ParseResult parsed) {
        var help = CommandLine.executeHelpRequest(parsed);
        if (help != null) {
            return help;
        }
        try {
            KnownProperties.rejectUnknown();
            ConfiguredFabric.get();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(parsed.commandSpec().commandLine(), e.getMessage(), e);
        }
        return new RunLast().execute(parsed);
    }

    /** Returns a sentence with similar commands, which start with the same letter. */
    private static String suggestion(UnmatchedArgumentException e) {
        var argument = e.getUnmatched().getFirst();
        var similar =
                e.getSuggestions().stream()
                        .filter(each -> each.regionMatches(true, 0, argument, 0, 1))
                        .toList();
        return similar.isEmpty() ? "" : " Did you mean %s?".formatted(String.join(" or ", similar));
    }

    private static int reportUsageError(ParameterException e) {
        var command = e.getCommandLine();
        var message =
                new StringBuilder(
                        e.getMessage()
                                .replaceFirst(
                                        "^Unmatched arguments? (at|from) index \\d+:",
                                        "Unknown argument:"));
        if (".?".indexOf(message.charAt(message.length() - 1)) < 0) {
            message.append('.');
        }
        if (e instanceof UnmatchedArgumentException unmatched) {
            message.append(suggestion(unmatched));
        }
        command.getErr()
                .printf("%s See %s --help.%n", message, command.getCommandSpec().qualifiedName());
        return command.getCommandSpec().exitCodeOnInvalidInput();
    }
}
