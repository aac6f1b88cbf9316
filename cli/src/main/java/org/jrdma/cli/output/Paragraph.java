package org.jrdma.cli.output;

/** Wraps long lines for a terminal. */
public final class Paragraph {

    /** The number of characters to which lines are wrapped. */
    public static final int WIDTH = 80;

    private Paragraph() {}

    /**
     * Returns a line wrapped at {@link #WIDTH} characters. A word that is longer than a line is not
     * split.
     *
     * @param indentation the number of spaces before each line except the first
     */
    public static String wrap(String line, int indentation) {
        var wrapped = new StringBuilder();
        var rest = line;
        while (rest.length() > WIDTH) {
            var space = rest.lastIndexOf(' ', WIDTH);
            if (space <= indentation) {
                space = rest.indexOf(' ', WIDTH);
            }
            if (space < 0) {
                break;
            }
            wrapped.append(rest.substring(0, space).stripTrailing()).append(System.lineSeparator());
            rest = " ".repeat(indentation) + rest.substring(space).stripLeading();
        }
        return wrapped.append(rest).toString();
    }
}
