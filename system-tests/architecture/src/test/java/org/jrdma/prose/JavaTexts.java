package org.jrdma.prose;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Finds comments, Javadoc paragraphs and messages in a source file of Java or C. */
final class JavaTexts {

    /**
     * Matches literals of at least three words. Shorter literals are names or formats rather than
     * messages.
     */
    private static final Pattern MESSAGE = Pattern.compile("\\S\\s+\\S+\\s+\\S");

    private static final Pattern PARAGRAPH_END =
            Pattern.compile("\\n\\s*\\*?\\s*(?=\\n)|\\n\\s*\\*?\\s*(?=@)|<p>|<li>|<t[dh][^>]*>");

    private static final Pattern LABELED_LINK =
            Pattern.compile("\\{@link(?:plain)?\\s+[^\\s}]+\\s+([^}]+)}");

    private static final Pattern INLINE_TAG = Pattern.compile("\\{@[^{}]*}");
    private static final Pattern LINE_START = Pattern.compile("\\s*\\n\\s*(?:\\*(?!/)|//+)?\\s*");

    private final String file;
    private final String source;
    private final List<TextWithLocation> texts = new ArrayList<>();

    /**
     * The concatenated literals of the current expression. {@code messageStart} is the position of
     * the first literal.
     */
    private final StringBuilder message = new StringBuilder();

    private int messageStart;
    private int position;

    private JavaTexts(String file, String source) {
        this.file = file;
        this.source = source;
    }

    static List<TextWithLocation> find(String file, String source) {
        var finder = new JavaTexts(file, source);
        finder.scan();
        return finder.texts;
    }

    private void scan() {
        while (position < source.length()) {
            if (source.startsWith("/*", position)) {
                addComment(end("*/", position + 2));
            } else if (source.startsWith("//", position)) {
                addComment(endOfLineComments());
            } else if (source.startsWith("\"\"\"", position)) {
                addLiteral(3, endOfLiteral("\"\"\""));
            } else if (source.charAt(position) == '"') {
                addLiteral(1, endOfLiteral("\""));
            } else if (source.charAt(position) == '\'') {
                position = endOfLiteral("'");
            } else {
                var character = source.charAt(position++);
                if (character != '+' && !Character.isWhitespace(character)) {
                    endMessage();
                }
            }
        }
        endMessage();
    }

    private void addComment(int end) {
        var comment = source.substring(position, end);
        var start = 0;
        var matcher = PARAGRAPH_END.matcher(comment);
        while (matcher.find()) {
            addParagraph(comment.substring(start, matcher.start()), position + start);
            start = matcher.end();
        }
        addParagraph(comment.substring(start), position + start);
        position = end;
    }

    private void addParagraph(String paragraph, int start) {
        var text = LABELED_LINK.matcher(paragraph).replaceAll("$1");
        text = INLINE_TAG.matcher(text).replaceAll("CODE");
        text = LINE_START.matcher(text).replaceAll(" ");
        text = text.replaceAll("^[\\s/*]+|[\\s/*]+$|<[^>]*>", "").strip();
        if (!text.isEmpty()) {
            texts.add(new TextWithLocation(file, line(start), text));
        }
    }

    private void addLiteral(int quotes, int end) {
        if (message.isEmpty()) {
            messageStart = position;
        }
        message.append(source, position + quotes, end - quotes);
        position = end;
    }

    private void endMessage() {
        if (MESSAGE.matcher(message).find()) {
            var words = message.toString().replaceAll("(?:\\s|\\\\n)+", " ").strip();
            texts.add(new TextWithLocation(file, line(messageStart), words));
        }
        message.setLength(0);
    }

    /**
     * Returns the end of the line comment at the current position. Line comments that follow on the
     * next lines belong to the same text.
     */
    private int endOfLineComments() {
        var end = end("\n", position);
        while (true) {
            var next = end;
            while (next < source.length()
                    && source.charAt(next) != '\n'
                    && Character.isWhitespace(source.charAt(next))) {
                next++;
            }
            if (!source.startsWith("//", next)) {
                return end;
            }
            end = end("\n", next);
        }
    }

    private int endOfLiteral(String quotes) {
        var end = position + quotes.length();
        while (end < source.length() && !source.startsWith(quotes, end)) {
            end += source.charAt(end) == '\\' ? 2 : 1;
        }
        return Math.min(end + quotes.length(), source.length());
    }

    private int end(String mark, int from) {
        var found = source.indexOf(mark, from);
        return found < 0 ? source.length() : found + mark.length();
    }

    private int line(int offset) {
        return 1 + (int) source.substring(0, offset).chars().filter(c -> c == '\n').count();
    }
}
