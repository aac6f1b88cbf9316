package org.jrdma.cli.output;

/**
 * Makes text from a file, a peer or another process safe to print on a terminal. Control characters
 * could start escape sequences, and format characters could reverse the text.
 */
public final class PrintableText {

    private PrintableText() {}

    /** Returns the text with a question mark in place of each control or format character. */
    public static String of(String text) {
        return text.codePoints()
                .map(character -> isPrintable(character) ? character : '?')
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                .toString();
    }

    /** Returns true if a character can be printed on a terminal. */
    static boolean isPrintable(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR ->
                    false;
            default -> true;
        };
    }
}
