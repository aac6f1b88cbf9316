package org.jrdma.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Lists the examples of the repository. The script {@code jrdma} runs them. */
@Command(
        name = "example",
        description = "Lists the examples. The script ./jrdma in the repository runs them.",
        mixinStandardHelpOptions = true)
final class ListExamplesCommand implements Callable<Integer> {

    /**
     * The resource with one line for each example: name, module, class and description, separated
     * by tabs.
     */
    private static final String LIST = "examples.tsv";

    @Spec private CommandSpec command;

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "The name of an example.")
    private Optional<String> name = Optional.empty();

    @Override
    public Integer call() throws IOException {
        var examples = examples();
        if (name.isEmpty()) {
            examples.forEach(example ->
                    command.commandLine()
                            .getOut()
                            .printf("%-20s %s%n", example[0], example[example.length - 1]));
            return 0;
        }
        if (examples.stream().noneMatch(example -> example[0].equals(name.get()))) {
            throw new ParameterException(
                    command.commandLine(), "There is no example named %s.".formatted(name.get()));
        }
        throw new IOException(
                "This jar does not contain the examples. In a checkout of the repository, run: ./jrdma example %s"
                        .formatted(name.get()));
    }

    private static List<String[]> examples() throws IOException {
        try (var list =
                Objects.requireNonNull(ListExamplesCommand.class.getResourceAsStream(LIST))) {
            return new String(list.readAllBytes(), UTF_8)
                    .lines()
                    .map(line -> line.split("\t", -1))
                    .toList();
        }
    }
}
