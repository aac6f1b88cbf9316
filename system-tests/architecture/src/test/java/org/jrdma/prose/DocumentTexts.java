package org.jrdma.prose;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Finds the texts in documents, scripts and build files. */
final class DocumentTexts {

    private static final Pattern MARKDOWN_BLOCK = Pattern.compile("^\\s*(?:[*|#>-]|\\d+\\.) ?.*");
    private static final Pattern HERE_DOCUMENT = Pattern.compile("<<-? *'?(\\w+)'?");

    /**
     * Matches comments, and strings of at least three words. Its groups contain the text of the
     * comment or the content of the string.
     */
    private static final Pattern SCRIPT_TEXT =
            Pattern.compile("(?:^|\\s)#+ (.*)|\"([^\"]* [^\"]* [^\"]*)\"|'([^']* [^']* [^']*)'");

    private static final Pattern XML_TEXT =
            Pattern.compile("<!--(.*?)-->|<description>(.*?)</description>", Pattern.DOTALL);

    private DocumentTexts() {}

    /**
     * Returns the paragraphs, list items, headings and table rows of a document. Code blocks are
     * omitted.
     */
    static List<TextWithLocation> inMarkdown(String file, String source) {
        var texts = new ArrayList<TextWithLocation>();
        var block = new StringBuilder();
        var start = 1;
        var number = 0;
        var inCode = false;
        for (var line : (source + "\n\n").lines().toList()) {
            number++;
            var fence = line.strip().startsWith("```");
            if (fence || inCode || line.isBlank() || MARKDOWN_BLOCK.matcher(line).matches()) {
                add(texts, file, start, markdownWords(block.toString()));
                block.setLength(0);
                start = number;
            }
            if (fence) {
                inCode = !inCode;
            } else if (!inCode) {
                block.append(line).append(' ');
            }
        }
        add(texts, file, start, markdownWords(block.toString()));
        return texts;
    }

    private static String markdownWords(String block) {
        return block.replaceAll("`[^`]*`", "CODE")
                .replaceAll("]\\([^)]*\\)", "]")
                .replaceAll("^[\\s*|#>-]+", "");
    }

    /** Returns the comments, the messages, and the lines of the here-documents of a script. */
    static List<TextWithLocation> inScript(String file, String source) {
        var texts = new ArrayList<TextWithLocation>();
        String end = null;
        var number = 0;
        for (var line : source.lines().toList()) {
            number++;
            if (end != null) {
                end = line.strip().equals(end) ? null : end;
                add(texts, file, number, end == null ? "" : line);
                continue;
            }
            for (var matcher = SCRIPT_TEXT.matcher(line); matcher.find(); ) {
                add(texts, file, number, firstGroup(matcher));
            }
            var document = HERE_DOCUMENT.matcher(line);
            if (document.find()) {
                end = document.group(1);
            }
        }
        return texts;
    }

    /** Returns the comments and the module descriptions of a build file. */
    static List<TextWithLocation> inXml(String file, String source) {
        var texts = new ArrayList<TextWithLocation>();
        for (var matcher = XML_TEXT.matcher(source); matcher.find(); ) {
            var line = 1 + (int) source.substring(0, matcher.start()).lines().count();
            add(texts, file, line, firstGroup(matcher));
        }
        return texts;
    }

    /** Returns the paragraphs of a page, which has the same markup as a Javadoc comment. */
    static List<TextWithLocation> inHtml(String file, String source) {
        return JavaTexts.find(file, "/**" + source + "*/");
    }

    /** Returns the last cell of each row of a table whose cells are separated by tabs. */
    static List<TextWithLocation> inTable(String file, String source) {
        var texts = new ArrayList<TextWithLocation>();
        var number = 0;
        for (var line : source.lines().toList()) {
            add(texts, file, ++number, line.substring(line.lastIndexOf('\t') + 1));
        }
        return texts;
    }

    private static String firstGroup(Matcher matcher) {
        for (var group = 1; group < matcher.groupCount(); group++) {
            if (matcher.group(group) != null) {
                return matcher.group(group);
            }
        }
        return matcher.group(matcher.groupCount());
    }

    private static void add(List<TextWithLocation> texts, String file, int line, String words) {
        var oneLine = words.replaceAll("\\s+", " ").strip();
        if (!oneLine.isEmpty()) {
            texts.add(new TextWithLocation(file, line, oneLine));
        }
    }
}
