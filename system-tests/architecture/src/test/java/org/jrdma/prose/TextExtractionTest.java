package org.jrdma.prose;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextExtractionTest {

    @Test
    void shouldFindEachParagraphOfAJavadocComment() {
        var texts =
                JavaTexts.find(
                        "A.java",
                        """
                        /**
                         * A queue of
                         * {@link Work work} and {@code null}.
                         *
                         * <p>It is <b>fast</b>.
                         *
                         * @param size the size
                         */
                        """);

        assertThat(texts)
                .extracting(TextWithLocation::words)
                .containsExactly(
                        "A queue of work and CODE.", "It is fast.", "@param size the size");
        assertThat(texts).first().extracting(TextWithLocation::line).isEqualTo(1);
    }

    @Test
    void shouldJoinLineCommentsOfConsecutiveLines() {
        var source = "int a; // Not\n    // here.\nint b;\n// Another.\n";

        assertThat(words(JavaTexts.find("A.java", source)))
                .containsExactly("Not here.", "Another.");
    }

    @Test
    void shouldJoinTheLiteralsOfAMessageAndIgnoreNames() {
        var source =
                """
                log.warn("The queue is" + "\\n \\"full\\" now", "name", '"');
                call("// no comment at all");
                """;

        assertThat(words(JavaTexts.find("A.java", source)))
                .containsExactly("The queue is \\\"full\\\" now", "// no comment at all");
    }

    @Test
    void shouldFindTextBlocks() {
        var source = "var usage = \"\"\"\n    Usage: \"run\"\n    it now\\n\"\"\";";

        assertThat(words(JavaTexts.find("A.java", source)))
                .containsExactly("Usage: \"run\" it now");
    }

    @Test
    void shouldFindTheBlocksOfADocumentWithoutItsCode() {
        var source =
                """
                # A heading
                A paragraph with `code` and
                a [link](other.md).

                * An item
                  of two lines
                * Another
                ```
                nobody.run();
                ```
                """;

        var texts = DocumentTexts.inMarkdown("a.md", source);

        assertThat(words(texts))
                .containsExactly(
                        "A heading A paragraph with CODE and a [link].",
                        "An item of two lines",
                        "Another");
    }

    @Test
    void shouldFindCommentsMessagesAndHereDocumentsOfAScript() {
        var source =
                """
                run --quiet # Without output.
                echo "It runs now"
                cat << 'END'
                usage: run
                END
                # The end.
                """;

        assertThat(DocumentTexts.inScript("run", source))
                .containsExactly(
                        new TextWithLocation("run", 1, "Without output."),
                        new TextWithLocation("run", 2, "It runs now"),
                        new TextWithLocation("run", 4, "usage: run"),
                        new TextWithLocation("run", 6, "The end."));
    }

    @Test
    void shouldFindTheCommentsAndDescriptionsOfABuildFile() {
        var source = "<a>\n<!-- One\n comment. -->\n<description>A module</description></a>";

        assertThat(words(DocumentTexts.inXml("pom.xml", source)))
                .containsExactly("One comment.", "A module");
    }

    @Test
    void shouldFindTheBlocksOfAPage() {
        var source =
                """
                <h2>Rules for <b>all</b> objects</h2>

                <p>A {@linkplain org.jrdma.verbs.Device device}
                is an adapter.</p>
                <table><tr><th scope="row">RDMA: devices</th><td>{@link Verbs}</td></tr></table>
                """;

        assertThat(words(DocumentTexts.inHtml("page.html", source)))
                .containsExactly(
                        "Rules for all objects",
                        "A device is an adapter.",
                        "RDMA: devices",
                        "CODE");
    }

    @Test
    void shouldFindTheDescriptionInEachRowOfATable() {
        assertThat(DocumentTexts.inTable("a.tsv", "atomics\tA program\nrping\tAnother program\n"))
                .containsExactly(
                        new TextWithLocation("a.tsv", 1, "A program"),
                        new TextWithLocation("a.tsv", 2, "Another program"));
    }

    private static List<String> words(List<TextWithLocation> texts) {
        return texts.stream().map(TextWithLocation::words).toList();
    }
}
