package org.jrdma.cli.output;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ParagraphTest {

    @Test
    void shouldKeepALineThatFits() {
        assertThat(Paragraph.wrap("x".repeat(40) + " " + "y".repeat(39), 2))
                .isEqualTo("x".repeat(40) + " " + "y".repeat(39));
    }

    @Test
    void shouldWrapAtTheLastSpaceThatFitsAndIndentTheNextLines() {
        var word = "x".repeat(39);

        assertThat(Paragraph.wrap("  " + word + " " + word + " " + word, 4))
                .isEqualTo("  %s%n    %s%n    %s".formatted(word, word, word));
    }

    @Test
    void shouldNotSplitALongWord() {
        var word = "x".repeat(100);

        assertThat(Paragraph.wrap("a " + word + " b", 2))
                .isEqualTo("a " + word + System.lineSeparator() + "  b");
        assertThat(Paragraph.wrap(word, 2)).isEqualTo(word);
    }
}
