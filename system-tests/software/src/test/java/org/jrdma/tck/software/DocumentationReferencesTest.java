package org.jrdma.tck.software;

import static java.util.stream.Collectors.toMap;
import static java.util.stream.Collectors.toSet;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jrdma.sockets.model.ConnectionsMXBean;
import org.junit.jupiter.api.Test;

/**
 * Tests that the links and the names of types, members and tests in Markdown documents refer to
 * existing things.
 */
class DocumentationReferencesTest {

    private static final Path ROOT = Path.of("../..").toAbsolutePath().normalize();

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]*)(?:#([^)]*))?\\)");

    /** A member of a type, such as {@code QueuePair.query()}. */
    private static final Pattern MEMBER = Pattern.compile("`([A-Z]\\w+)\\.(\\w+)(?:\\([^`]*\\))?`");

    /** A type, or a member of a type. */
    private static final Pattern TYPE =
            Pattern.compile("`@?([A-Z]\\w+)(?:\\.\\w+)?(?:\\([^`]*\\))?`");

    private static final Pattern TEST_METHOD = Pattern.compile("`(?:\\w+[.#])?(should[A-Z]\\w+)`");

    private static final Pattern MANAGEMENT_BEAN = Pattern.compile("org\\.jrdma[.\\w]*:type=\\w+");

    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.+)$");

    private static final Set<String> TYPES_OF_THE_JDK = Set.of("MemorySegment", "SymbolLookup");

    /** The example of a test name in CONTRIBUTING.md, which is not the name of an existing test. */
    private static final String EXAMPLE = "shouldRejectAWriteBeyondTheRegion";

    /**
     * A document that contains names of tests of another project. Some of them look like members of
     * types of this project.
     */
    private static final String OTHER_PROJECT = "rdma-core.md";

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldLinkToExistingFilesAndHeadings() throws IOException {
        var broken = new ArrayList<String>();
        for (var document : RepositoryFiles.endingWith(".md")) {
            for (var link : LINK.matcher(read(document)).results().toList()) {
                var target =
                        link.group(1).isEmpty() ? document : document.resolveSibling(link.group(1));
                if (!Files.exists(target)
                        || (link.group(2) != null && !anchors(target).contains(link.group(2)))) {
                    broken.add(ROOT.relativize(document) + " to " + link.group());
                }
            }
        }
        assertThat(broken).isEmpty();
    }

    /** Follows the links from README.md. A link to a folder leads to its README. */
    @Test
    void shouldReachEachDocumentFromTheReadme() throws IOException {
        var reached = new TreeSet<Path>();
        var next = new ArrayDeque<>(List.of(ROOT.resolve("README.md")));
        while (!next.isEmpty()) {
            var document = next.remove();
            if (!document.toString().endsWith(".md")
                    || !Files.exists(document)
                    || !reached.add(document)) {
                continue;
            }
            for (var link : LINK.matcher(read(document)).results().toList()) {
                var target = document.resolveSibling(link.group(1)).normalize();
                next.add(Files.isDirectory(target) ? target.resolve("README.md") : target);
            }
        }
        assertThat(reached).containsAll(RepositoryFiles.endingWith(".md"));
    }

    /** Returns the anchors of the headings of a document, derived in the same way as on GitHub. */
    private static Set<String> anchors(Path document) {
        return HEADING.matcher(read(document))
                .results()
                .map(heading ->
                        heading.group(1)
                                .toLowerCase(Locale.ROOT)
                                .replaceAll("[^\\w -]", "")
                                .replace(' ', '-'))
                .collect(toSet());
    }

    @Test
    void shouldNameMembersThatTypesHave() throws IOException {
        var types =
                RepositoryFiles.endingWith(".java").stream()
                        .filter(file -> file.toString().contains("/src/main/java/org/jrdma/"))
                        .collect(
                                toMap(
                                        file -> file.getFileName().toString().replace(".java", ""),
                                        DocumentationReferencesTest::read,
                                        String::concat));
        assertThat(types).containsKeys("QueuePair", "DirectConnectOptions", "SegmentOptions");

        var unknown = new ArrayList<String>();
        for (var document : RepositoryFiles.endingWith(".md")) {
            if (document.endsWith(OTHER_PROJECT)) {
                continue;
            }
            for (var name : MEMBER.matcher(read(document)).results().toList()) {
                var source = types.get(name.group(1));
                if (source != null
                        && !Pattern.compile("\\b" + name.group(2) + "\\b").matcher(source).find()) {
                    unknown.add(ROOT.relativize(document) + " names " + name.group());
                }
            }
        }
        assertThat(unknown).isEmpty();
    }

    @Test
    void shouldNameTypesThatExistInTheArchitecture() throws IOException {
        var types =
                RepositoryFiles.endingWith(".java").stream()
                        .map(file -> file.getFileName().toString().replace(".java", ""))
                        .collect(toSet());
        var named =
                TYPE.matcher(read(ROOT.resolve("ARCHITECTURE.md")))
                        .results()
                        .map(name -> name.group(1))
                        .collect(toSet());
        assertThat(named).contains("PreparedRequest", "StreamWriter");

        named.removeAll(TYPES_OF_THE_JDK);
        named.removeAll(types);
        assertThat(named).as("types that do not exist").isEmpty();
    }

    @Test
    void shouldNameTheManagementBeanOfTheConnections() throws IOException {
        var names = new TreeSet<String>();
        for (var document : RepositoryFiles.endingWith(".md")) {
            MANAGEMENT_BEAN
                    .matcher(read(document))
                    .results()
                    .forEach(name -> names.add(name.group()));
        }
        assertThat(names).containsExactly(ConnectionsMXBean.NAME);
    }

    @Test
    void shouldNameTestMethodsThatExist() throws IOException {
        var sources = new StringBuilder();
        for (var file : RepositoryFiles.endingWith("Test.java")) {
            sources.append(read(file));
        }
        var unknown = new ArrayList<String>();
        for (var document : RepositoryFiles.endingWith(".md")) {
            TEST_METHOD
                    .matcher(read(document))
                    .results()
                    .map(name -> name.group(1))
                    .filter(name -> !name.equals(EXAMPLE) && sources.indexOf(name + "(") < 0)
                    .forEach(name -> unknown.add(ROOT.relativize(document) + " names " + name));
        }
        assertThat(unknown).isEmpty();
    }
}
