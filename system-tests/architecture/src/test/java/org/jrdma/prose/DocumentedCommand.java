package org.jrdma.prose;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * A command line in a document.
 *
 * @param isExample true if the command is a line of a code block; false if it is part of a sentence
 * @param words the words of the command, without variables, quotation marks and comments
 */
record DocumentedCommand(boolean isExample, List<String> words) {

    private static final Pattern CODE_SPAN = Pattern.compile("`([^`]+)`");
    private static final Pattern WORD = Pattern.compile("(?:[^\\s'\"]|\"[^\"]*\"|'[^']*')+");

    /** A comment or another command. */
    private static final Pattern NEXT = Pattern.compile("[#&|;>].*");

    private static final Pattern VARIABLE = Pattern.compile("[A-Z_]+=.*");

    /** Returns the lines of the code blocks and the code in the sentences of a document. */
    static List<DocumentedCommand> inMarkdown(String source) {
        var commands = new ArrayList<DocumentedCommand>();
        var isInBlock = false;
        for (var text : source.replace("\\\n", " ").lines().toList()) {
            if (text.strip().startsWith("```")) {
                isInBlock = !isInBlock;
            } else if (isInBlock || text.startsWith("    ")) {
                add(commands, true, text);
            } else {
                for (var span : CODE_SPAN.matcher(text).results().toList()) {
                    add(commands, false, span.group(1));
                }
            }
        }
        return commands;
    }

    private static void add(List<DocumentedCommand> commands, boolean isExample, String text) {
        var words = new ArrayList<String>();
        for (var word : WORD.matcher(text).results().map(found -> found.group()).toList()) {
            if (NEXT.matcher(word).matches()) {
                break;
            }
            if (!words.isEmpty() || !VARIABLE.matcher(word).matches()) {
                words.add(word.replaceAll("['\"]|;$", ""));
            }
            if (word.endsWith(";")) {
                break;
            }
        }
        if (!words.isEmpty()) {
            commands.add(new DocumentedCommand(isExample, words));
        }
    }
}
