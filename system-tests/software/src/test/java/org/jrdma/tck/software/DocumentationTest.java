package org.jrdma.tck.software;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What is written for people, outside the code: it names what is there, and leads to it. */
class DocumentationTest {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)(?:#[^)]*)?\\)");

    /** A member of a type, as in {@code QueuePair.query()}. */
    private static final Pattern MEMBER = Pattern.compile("`([A-Z]\\w+)\\.(\\w+)(?:\\([^`]*\\))?`");

    /** Names the tests of others, which are called as some types here are. */
    private static final String OF_OTHERS = "rdma-core.md";

    private static List<Path> files(String ending) throws IOException {
        try (var files = Files.walk(ROOT)) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .filter(file -> !ROOT.relativize(file).toString().contains("target/"))
                    .toList();
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldLinkToWhatIsThere() throws IOException {
        var broken = new ArrayList<String>();
        for (var document : files(".md")) {
            LINK.matcher(read(document))
                    .results()
                    .map(link -> link.group(1))
                    .filter(target -> !Files.exists(document.resolveSibling(target)))
                    .forEach(target -> broken.add(ROOT.relativize(document) + " to " + target));
        }
        assertThat(broken).isEmpty();
    }

    @Test
    void shouldNameMembersThatTypesHave() throws IOException {
        var types =
                files(".java").stream()
                        .filter(file -> file.toString().contains("/src/main/java/org/jrdma/"))
                        .collect(
                                toMap(
                                        file -> file.getFileName().toString().replace(".java", ""),
                                        DocumentationTest::read,
                                        String::concat));
        assertThat(types).containsKeys("QueuePair", "ConnectOptions", "SegmentOptions");

        var unknown = new ArrayList<String>();
        for (var document : files(".md")) {
            if (document.endsWith(OF_OTHERS)) {
                continue;
            }
            for (var name : MEMBER.matcher(read(document)).results().toList()) {
                var source = types.get(name.group(1));
                if (source != null
                        && !Pattern.compile("\\b" + name.group(2) + "\\b").matcher(source).find()) {
                    unknown.add(ROOT.relativize(document) + " says " + name.group());
                }
            }
        }
        assertThat(unknown).isEmpty();
    }
}
