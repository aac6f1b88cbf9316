package org.jrdma.architecture;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that the libraries release their resources even if an Error is thrown, such as an
 * OutOfMemoryError or a StackOverflowError: a catch block that releases a resource and throws an
 * exception must catch Throwable, or be followed by a block that does.
 */
class CleanupAfterAnyThrowableTest {

    private static final Path REPOSITORY = Path.of("../..").toAbsolutePath().normalize();

    private static final List<String> LIBRARIES =
            List.of(
                    "native-access",
                    "ibverbs-java",
                    "sisci-java",
                    "supersockets-java",
                    "softfabric/roce-soft",
                    "softfabric/sisci-soft");

    private static final Pattern PARTIAL_CLEANUP =
            Pattern.compile(
                    "catch \\((?![^)]*(?:Throwable|Error)\\b)[^)]* \\w+\\) \\{[^{}]*"
                            + "\\b\\w+(?:\\(\\))?(?:\\.|::)"
                            + "(?:abandon|close|destroy\\w*|forget|release|remove|stop)\\b"
                            + "[^{}]*throw [^{}]*\\}"
                            + "(?! catch \\([^)]*(?:Throwable|Error)\\b)");

    @Test
    void shouldReleaseResourcesAfterEachKindOfFailure() throws IOException {
        var findings = new ArrayList<String>();
        for (var library : LIBRARIES) {
            try (var files =
                    Files.find(
                            REPOSITORY.resolve(library, "src/main/java"),
                            Integer.MAX_VALUE,
                            (path, _) -> path.toString().endsWith(".java"))) {
                for (var file : files.toList()) {
                    PARTIAL_CLEANUP
                            .matcher(Files.readString(file))
                            .results()
                            .forEach(found ->
                                    findings.add(
                                            REPOSITORY.relativize(file) + ": " + found.group()));
                }
            }
        }

        assertThat(findings).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "catch (IOException | RuntimeException e) {\n    file.close();\n    throw e;\n}",
                "catch (FabricException e) {\n    fabric.poller().forget(attempt);\n    throw e;\n}",
                "catch (ErrnoException e) {\n    all.forEach(this::release);\n    throw e;\n}",
                "catch (IOException e) {\n    file.close();\n    throw new Failure(e);\n}"
            })
    void shouldFindAPartialCleanup(String block) {
        assertThat(PARTIAL_CLEANUP.matcher(block).find()).isTrue();
    }

    @Test
    void shouldAcceptACleanupThatIsFollowedByOneForAllOtherFailures() {
        var blocks =
                "catch (IOException e) {\n    file.close();\n    throw new Failure(e);\n}"
                        + " catch (Throwable e) {\n    file.close();\n    throw e;\n}";

        assertThat(PARTIAL_CLEANUP.matcher(blocks).find()).isFalse();
    }
}
