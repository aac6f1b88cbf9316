package org.jrdma.cli.output;

import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * Prints the help of a command. The class of the same name of picocli ignores all names after the
 * first.
 */
@Command(name = "help", description = "Prints the help of a command.", helpCommand = true)
public final class HelpCommand implements Runnable {

    @Spec private CommandSpec command;

    @Parameters(
            arity = "0..*",
            paramLabel = "COMMAND",
            description = "The command and its subcommand, such as volume cp.")
    private List<String> names = List.of();

    @Override
    public void run() {
        var shown = command.parent().commandLine();
        for (var name : names) {
            var next = shown.getSubcommands().get(name);
            if (next == null) {
                throw new UnmatchedArgumentException(shown, List.of(name));
            }
            shown = next;
        }
        shown.usage(command.commandLine().getOut());
    }
}
