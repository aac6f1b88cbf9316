package org.jrdma.abi.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.abi.testing.MissingPrerequisite.missing;

import java.lang.foreign.FunctionDescriptor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jrdma.abi.testing.CCompiler;
import org.jrdma.abi.testing.Fact;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GeneratedCodeAgainstCompilerTest {

    private static final Path HEADER = Path.of("sisci.h");

    /** Compares the generated code with the C compiler's view of the header. */
    @Test
    void shouldAgreeWithTheCompilerInEverySizeOffsetGapAndConstant(@TempDir Path folder)
            throws Exception {
        var compiler =
                CCompiler.find()
                        .orElseThrow(() -> missing("no C compiler: install one, or set CC"));
        var facts = Fact.all(sisci_h.class);

        var said = compiler.ask(facts, HEADER.toString(), List.of(), folder);

        assertThat(facts)
                .filteredOn(fact ->
                        fact.kind() != Fact.Kind.PADDING) // not all compilers report padding
                .hasSizeGreaterThan(200)
                .allMatch(said::containsKey);
        assertThat(said)
                .allSatisfy((fact, value) ->
                        assertThat(fact.value())
                                .as("%s of %s", fact.kind(), fact.name())
                                .isEqualTo(value));
    }

    @Test
    void shouldContainEveryQueryOfTheHeader() throws Exception {
        assertThat(Stream.of(sisci_query.values()).map(Enum::name))
                .hasSizeGreaterThan(30)
                .containsExactlyElementsOf(matches("SISCI_DATA\\((SCI_Q_\\w+)\\)"));
    }

    @Test
    void shouldDescribeEveryFunctionOfTheHeader() throws Exception {
        var described = new TreeSet<String>();
        for (var method : sisci_h.class.getMethods()) {
            if (method.getReturnType() == FunctionDescriptor.class) {
                assertThat(method.invoke(null)).isNotNull();
                described.add(method.getName().replace("$descriptor", ""));
            }
        }

        assertThat(described)
                .hasSize(91)
                .containsExactlyElementsOf(
                        new TreeSet<>(matches("\\b(SCI[A-Z][A-Za-z]+)\\("))); // only functions
    }

    @Test
    void shouldContainEveryNumberOfTheHeader() throws Exception {
        var defined = matches("(?m)^#define ((?:SCI|DIS)_\\w+) ");

        assertThat(defined)
                .hasSize(59)
                .allSatisfy(name -> assertThat(sisci_h.class.getMethod(name)).isNotNull());
    }

    @Test
    void shouldBeGeneratedFromTheCurrentHeader() throws Exception {
        var checksum = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(HEADER));

        assertThat(Files.readString(Path.of("headers.sha256")))
                .as("run headers/regenerate --write sisci")
                .isEqualTo(HexFormat.of().formatHex(checksum) + "  sisci.h\n");
    }

    private static List<String> matches(String pattern) throws Exception {
        return Pattern.compile(pattern)
                .matcher(Files.readString(HEADER))
                .results()
                .map((MatchResult match) -> match.group(1))
                .toList();
    }
}
