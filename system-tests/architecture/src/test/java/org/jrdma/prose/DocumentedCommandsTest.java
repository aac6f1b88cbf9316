package org.jrdma.prose;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.prose.RepositoryTexts.ROOT;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.jrdma.cli.Jrdma;
import org.jrdma.examples.AbstractExample;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/**
 * Tests the command lines in the documents without running them. The arguments of {@code ./jrdma}
 * must be valid, and scripts, modules, profiles and tests must exist.
 */
class DocumentedCommandsTest {

    private static final List<String> MOUNT = List.of("volume", "mount");

    private static final Pattern TEST = Pattern.compile("[A-Z]\\w+Test");

    /** Words that stand for a command or for several words. */
    private static final Pattern PLACEHOLDER = Pattern.compile("\\.\\.\\.|NAME|COMMAND");

    /** Words that stand for a host. Options resolve the names of hosts. */
    private static final Pattern HOST = Pattern.compile("\\b(?:HOST|TARGET)\\b");

    private final List<Path> files = RepositoryTexts.files();

    DocumentedCommandsTest() throws IOException {}

    @Test
    void shouldContainValidCommands() throws Exception {
        var problems = new ArrayList<String>();
        var count = 0;
        for (var document : files) {
            if (!document.toString().endsWith(".md")) {
                continue;
            }
            for (var command : DocumentedCommand.inMarkdown(Files.readString(document))) {
                count += command.words().getFirst().equals("./jrdma") ? 1 : 0;
                for (var problem : problems(command)) {
                    problems.add(
                            "%s: %s: %s"
                                    .formatted(
                                            ROOT.relativize(document),
                                            String.join(" ", command.words()),
                                            problem));
                }
            }
        }

        assertThat(problems).isEmpty();
        assertThat(count).isGreaterThan(60);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "./jrdma perf --sizs 4K",
                "./jrdma volume serv --name one",
                "./jrdma volume mount --server=localhost /mnt/volume",
                "./jrdma example rping --srver",
                "./jrdma example missing",
                "./jrdma demo --device rxe0",
                "mvn test -pl missing-module -am",
                "mvn verify -Pmissing",
                "mvn test -Dtest=MissingTest",
                "mvn test -Dtest='org.jrdma.missing.**'",
                "system-tests/guest/missing",
                "system-tests/guest/README.md",
                "system-tests/containers/test MissingTest"
            })
    void shouldFindAnInvalidCommand(String command) throws Exception {
        var found = DocumentedCommand.inMarkdown("    " + command);

        assertThat(found).hasSize(1);
        assertThat(problems(found.getFirst())).isNotEmpty();
    }

    private List<String> problems(DocumentedCommand command) throws Exception {
        var problems = new ArrayList<String>();
        var words = command.words();
        var program = words.getFirst();
        if (program.equals("./jrdma")) {
            try {
                parse(words.subList(1, words.size()));
            } catch (CommandLine.MissingParameterException e) {
                if (command.isExample()) { // A sentence can name a command without arguments.
                    problems.add(e.getMessage());
                }
            } catch (CommandLine.ParameterException | IllegalArgumentException e) {
                problems.add(e.getMessage());
            }
        } else if (program.equals("mvn")) {
            addMavenProblems(words, problems);
        } else if (command.isExample()
                && program.indexOf('/') > 0
                && Files.isDirectory(ROOT.resolve(program.substring(0, program.indexOf('/'))))) {
            var script = ROOT.resolve(program);
            if (!Files.isRegularFile(script) || !Files.isExecutable(script)) {
                problems.add("no executable file");
            }
        } else {
            return problems;
        }
        for (var word : words.subList(1, words.size())) {
            if (TEST.matcher(word).matches() && !hasTest(word)) {
                problems.add("no test " + word);
            }
        }
        return problems;
    }

    /** Parses the arguments of {@code ./jrdma} in the same way as the script. */
    private static void parse(List<String> arguments) throws Exception {
        if (arguments.isEmpty() || arguments.stream().anyMatch(PLACEHOLDER.asMatchPredicate())) {
            return;
        }
        var rest = arguments.subList(1, arguments.size());
        switch (arguments.getFirst()) {
            case "demo" -> parse(example("simple-rdma-write"), rest);
            case "example" -> {
                if (!rest.isEmpty()) {
                    parse(example(rest.getFirst()), rest.subList(1, rest.size()));
                }
            }
            default -> {
                if (Collections.indexOfSubList(arguments, MOUNT) == 0) {
                    parseMount(arguments.subList(MOUNT.size(), arguments.size()));
                } else {
                    parse(Jrdma.commandLine(), arguments);
                }
            }
        }
    }

    private static void parse(CommandLine commandLine, List<String> arguments) {
        commandLine.parseArgs(
                arguments.stream()
                        .map(word -> HOST.matcher(word).replaceFirst("localhost"))
                        .toArray(String[]::new));
    }

    /** Returns the command line of an example in {@code examples.tsv}. */
    private static CommandLine example(String name) throws Exception {
        var row =
                Files.readAllLines(ROOT.resolve("examples/examples.tsv")).stream()
                        .map(line -> line.split("\t", -1))
                        .filter(cells -> cells[0].equals(name))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("no example " + name));
        var module = row[1].substring(row[1].lastIndexOf('/') + 1);
        var constructor =
                Class.forName("org.jrdma.%s.%s".formatted(module, row[2])).getDeclaredConstructor();
        constructor.setAccessible(true);
        var commandLine = AbstractExample.class.getDeclaredMethod("commandLine");
        commandLine.setAccessible(true);
        return (CommandLine) commandLine.invoke(constructor.newInstance());
    }

    private static void parseMount(List<String> arguments) throws Exception {
        if (arguments.isEmpty()) {
            return;
        }
        var parse =
                Class.forName("org.jrdma.volume.fuse.MountOptions")
                        .getDeclaredMethod("parse", List.class);
        parse.setAccessible(true);
        try {
            parse.invoke(null, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof IllegalArgumentException invalid ? invalid : e;
        }
    }

    private void addMavenProblems(List<String> words, List<String> problems) throws IOException {
        for (var i = 1; i < words.size(); i++) {
            var word = words.get(i);
            if (words.get(i - 1).equals("-pl")) {
                for (var module : word.split(",", -1)) {
                    if (!Files.exists(ROOT.resolve(module).resolve("pom.xml"))) {
                        problems.add("no module " + module);
                    }
                }
            } else if (word.startsWith("-P")) {
                for (var profile : word.substring(2).split(",", -1)) {
                    if (!hasProfile(profile)) {
                        problems.add("no profile " + profile);
                    }
                }
            } else if (word.startsWith("-Dtest=")) {
                for (var test : word.substring("-Dtest=".length()).split(",", -1)) {
                    if (!hasTest(test)) {
                        problems.add("no test " + test);
                    }
                }
            }
        }
    }

    private boolean hasProfile(String name) throws IOException {
        for (var file : files) {
            if (file.endsWith("pom.xml") && Files.readString(file).contains("<id>" + name + "<")) {
                return true;
            }
        }
        return false;
    }

    /** Returns true if a class has a name or, as in {@code org.jrdma.prose.**}, a package. */
    private boolean hasTest(String name) {
        var path = Path.of(name.replace('.', '/').replace("/**", "").replaceFirst("#.*", ""));
        return files.stream()
                .filter(file -> file.toString().contains("/src/test/java/"))
                .anyMatch(file ->
                        name.endsWith("**")
                                ? file.getParent().toString().contains("/java/" + path)
                                : file.endsWith(path + ".java"));
    }
}
