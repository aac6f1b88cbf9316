package org.jrdma.cli.output;

import java.util.regex.Pattern;

/**
 * Text from a file, a peer or another process, in a form that is safe to print on a terminal.
 * Control characters could start escape sequences, and format characters could reverse the text.
 */
public final class PrintableText {

    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

    private PrintableText() {}

    /** Returns the text with a question mark in place of each control or format character. */
    public static String of(String text) {
        return UNPRINTABLE.matcher(text).replaceAll("?");
    }

    /** Returns true if a character can be printed on a terminal. */
    static boolean isPrintable(char character) {
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
