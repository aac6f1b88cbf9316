package org.jrdma.interop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Command;

/** Verifies that examples/examples.tsv, the list of examples, agrees with the programs. */
class ExampleListTest {

    private static final Path ROOT = Path.of("../..");

    /** A line of the list of examples. */
    record Entry(String name, String module, String className, String description) {

        Path source() {
            return ROOT.resolve(module)
                    .resolve("src/main/java/org/jrdma")
                    .resolve(packageName())
                    .resolve(className.replace('.', '/') + ".java");
        }

        String packageName() {
            return Path.of(module).getFileName().toString();
        }
    }

    static List<Entry> entries() throws Exception {
        return Files.readAllLines(ROOT.resolve("examples/examples.tsv")).stream()
                .map(line -> line.split("\t", -1))
                .map(field -> new Entry(field[0], field[1], field[2], field[3]))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("entries")
    void shouldHaveTheNameAndTheDescriptionOfTheProgram(Entry entry) throws Exception {
        var program = Class.forName("org.jrdma." + entry.packageName() + "." + entry.className);
        var command = program.getAnnotation(Command.class);

        assertThat(command.name()).isEqualTo(entry.name);
        assertThat(command.description()).containsExactly(entry.description);
        assertThat(entry.source()).exists();
    }

    /** The list of examples has a column of 21 characters for the names. */
    @ParameterizedTest
    @MethodSource("entries")
    void shouldHaveADescriptionThatFitsOnALineOf80Characters(Entry entry) {
        assertThat(entry.description).hasSizeLessThanOrEqualTo(80 - 21);
    }

    @Test
    void shouldHaveExamplesWhoseCommentContainsTheirCommand() throws Exception {
        for (var entry : entries()) {
            if (entry.module.equals("examples")) {
                assertThat(Files.readString(entry.source()))
                        .containsPattern("\\* \\./jrdma example " + entry.name + "\\b");
            }
        }
    }

    @Test
    void shouldContainEachProgram() throws Exception {
        assertThat(entries().stream().map(Entry::source).map(Path::normalize))
                .containsExactlyInAnyOrderElementsOf(
                        Stream.concat(programs("examples"), programs("system-tests/interop"))
                                .toList());
    }

    private static Stream<Path> programs(String module) throws Exception {
        try (var files = Files.walk(ROOT.resolve(module).resolve("src/main"))) {
            return files
                    .filter(file -> file.toString().endsWith(".java") && hasMain(file))
                    .map(Path::normalize)
                    .toList()
                    .stream();
        }
    }

    private static boolean hasMain(Path file) {
        try {
            return Files.readString(file).contains(" static void main(");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** An example fits on two screens, so that it can be read from top to bottom. */
    @Test
    void shouldHaveShortExamples() throws Exception {
        for (var entry : entries()) {
            if (entry.module.equals("examples")) {
                assertThat(Files.readAllLines(entry.source()))
                        .as(entry.name)
                        .hasSizeLessThanOrEqualTo(120)
                        .allMatch(line -> line.length() <= 100);
            }
        }
    }
}
