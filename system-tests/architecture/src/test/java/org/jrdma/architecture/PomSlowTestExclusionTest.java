package org.jrdma.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Tests that the POMs exclude slow tests from a build that is not thorough. */
class PomSlowTestExclusionTest {

    private static final Path REPOSITORY = Path.of("../..").toAbsolutePath().normalize();

    private static final Pattern EXCLUDED =
            Pattern.compile("<excludedGroups>(.*?)</excludedGroups>", Pattern.DOTALL);

    /** A POM that excludes tests replaces the list that it inherits. */
    @Test
    void shouldExcludeSlowTestsInEachPomThatExcludesTests() throws IOException {
        var lists = new ArrayList<String>();
        try (var poms =
                Files.find(
                        REPOSITORY,
                        3,
                        (path, _) ->
                                path.endsWith("pom.xml")
                                        && !REPOSITORY
                                                .relativize(path)
                                                .toString()
                                                .contains("target/"))) {
            for (var pom : poms.toList()) {
                EXCLUDED.matcher(Files.readString(pom))
                        .results()
                        .forEach(list ->
                                lists.add(REPOSITORY.relativize(pom) + ": " + list.group(1)));
            }
        }

        assertThat(lists)
                .anyMatch(list -> list.startsWith("pom.xml"))
                .allMatch(list -> list.contains("${excluded.tests}"));
    }
}
