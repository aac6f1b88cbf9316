package org.jrdma.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verifies that the documentation pages contain the version of the POMs. */
class DocumentedVersionTest {

    private static final Pattern VERSION =
            Pattern.compile(
                    "<groupId>org\\.jrdma</groupId>\\s*<artifactId>[^<]+</artifactId>\\s*<version>([^<]+)</version>");

    static String version() throws IOException {
        var version = VERSION.matcher(Files.readString(Path.of("..", "origin", "pom.xml")));
        assertThat(version.find()).isTrue();
        return version.group(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "README.md",
                "docs/learn/ibverbs-java.md",
                "docs/learn/sisci-java.md",
                "docs/learn/supersockets-java.md",
                "docs/learn/testing.md"
            })
    void shouldBeTheVersionOfTheDependenciesOnAPage(String page) throws Exception {
        assertThat(VERSION.matcher(Files.readString(Path.of("..", page))).results())
                .isNotEmpty()
                .allSatisfy(shown -> assertThat(shown.group(1)).isEqualTo(version()));
    }
}
