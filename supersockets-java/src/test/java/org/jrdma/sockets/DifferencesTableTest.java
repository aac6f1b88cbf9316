package org.jrdma.sockets;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Compares the documentation of the differences with the differences that the tests allow. */
class DifferencesTableTest {

    private static final Path FILE = Path.of("../docs/reference/sockets-differences.md");

    private static final String COMMAND =
            "mvn test -pl supersockets-java -am -Dtest=DifferencesTableTest -Djrdma.write=true -Dsurefire.failIfNoSpecifiedTests=false";

    private static final List<Implementation> COLUMNS =
            List.of(
                    Implementation.SUPERSOCKETS,
                    Implementation.SISCI,
                    Implementation.RSOCKET,
                    Implementation.SMC,
                    Implementation.TCP);

    @Test
    void shouldContainTheDifferencesThatTheTestsAllow() throws IOException {
        var content = content();
        if (Boolean.getBoolean("jrdma.write")) {
            Files.writeString(FILE, content);
        }

        assertThat(FILE).as("Generate the file with: " + COMMAND).hasContent(content);
    }

    private static String content() {
        return """
        # Where sockets differ from the JDK's

        The same tests run against the JDK's own channels and sockets and against each transport: results, exceptions and their messages. The table
        lists all differences.

        This file is generated. To generate it again:

            %s

        | | %s |
        |---|%s
        %s
        """
                .formatted(
                        COMMAND,
                        COLUMNS.stream().map(DifferencesTableTest::name).collect(joining(" | ")),
                        "---|".repeat(COLUMNS.size()),
                        Arrays.stream(Difference.values())
                                .map(DifferencesTableTest::row)
                                .collect(joining("\n")));
    }

    private static String row(Difference difference) {
        return "| %s | %s |"
                .formatted(
                        difference.reason(),
                        COLUMNS.stream()
                                .map(column -> column.differsIn(difference) ? "differs" : "")
                                .collect(joining(" | ")));
    }

    private static String name(Implementation column) {
        return "`%s`".formatted(column.name().toLowerCase(Locale.ROOT));
    }
}
