package org.jrdma.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Parses JSON (RFC 8259) into maps, lists, strings, doubles, booleans and null. */
public final class StrictJson {

    private static final Pattern TEXT =
            Pattern.compile(
                    "\"((?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]|u\\p{XDigit}{4}))*+)\"");
    private static final Pattern NUMBER =
            Pattern.compile("-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][-+]?\\d+)?");
    private static final Pattern SPACE = Pattern.compile("[ \\t\\r\\n]*");

    private final String text;
    private int place;

    private StrictJson(String text) {
        this.text = text;
    }

    /**
     * Parses a single JSON value.
     *
     * @throws IllegalArgumentException if the text is not valid JSON
     */
    public static @Nullable Object parse(String text) {
        var json = new StrictJson(text);
        var value = json.value();
        if (json.place < text.length()) {
            throw json.error();
        }
        return value;
    }

    /** Parses an array of objects. */
    @SuppressWarnings("unchecked")
    public static List<Map<String, Object>> parseObjects(String text) {
        return (List<Map<String, Object>>) parse(text);
    }

    private @Nullable Object value() {
        take(SPACE);
        if (place == text.length()) {
            throw error();
        }
        var value =
                switch (text.charAt(place)) {
                    case '{' -> object();
                    case '[' -> array();
                    case '"' -> text();
                    case 't' -> word("true", true);
                    case 'f' -> word("false", false);
                    case 'n' -> word("null", null);
                    default -> Double.valueOf(take(NUMBER));
                };
        take(SPACE);
        return value;
    }

    private Map<String, Object> object() {
        var object = new LinkedHashMap<String, Object>();
        for (var isMore = begins('{', '}'); isMore; isMore = isMore('}')) {
            take(SPACE);
            var name = text();
            take(SPACE);
            take(':');
            if (object.containsKey(name)) {
                throw error();
            }
            object.put(name, value());
        }
        return object;
    }

    private List<Object> array() {
        var array = new ArrayList<Object>();
        for (var isMore = begins('[', ']'); isMore; isMore = isMore(']')) {
            array.add(value());
        }
        return array;
    }

    /** Returns true if the brackets contain a value. */
    private boolean begins(char open, char close) {
        take(open);
        take(SPACE);
        if (!text.startsWith(String.valueOf(close), place)) {
            return true;
        }
        take(close);
        return false;
    }

    private boolean isMore(char close) {
        var isMore = text.startsWith(",", place);
        take(isMore ? ',' : close);
        return isMore;
    }

    private String text() {
        var quoted = take(TEXT);
        return quoted.substring(1, quoted.length() - 1);
    }

    private @Nullable Object word(String word, @Nullable Object meaning) {
        take(Pattern.compile(word));
        return meaning;
    }

    private void take(char character) {
        take(Pattern.compile(Pattern.quote(String.valueOf(character))));
    }

    private String take(Pattern pattern) {
        var matcher = pattern.matcher(text).region(place, text.length());
        if (!matcher.lookingAt()) {
            throw error();
        }
        place = matcher.end();
        return matcher.group();
    }

    private IllegalArgumentException error() {
        return new IllegalArgumentException(
                "Invalid JSON at character %d: %s".formatted(place, text));
    }
}
