package org.jrdma.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A strict JSON parser. Objects become maps, and arrays become lists. Other values become their
 * text.
 */
final class JsonReader {

    private static final Pattern TEXT =
            Pattern.compile(
                    "\"((?:[^\"\\\\\\x00-\\x1f]++|\\\\[\"\\\\/bfnrt]|\\\\u[0-9a-f]{4})*+)\"");
    private static final Pattern WORD =
            Pattern.compile("null|true|false|-?(?:0|[1-9]\\d*)(?:\\.\\d+)?(?:[eE][-+]?\\d+)?");

    private final String text;
    private int place;

    private JsonReader(String text) {
        this.text = text;
    }

    /** Parses a text with a single value and optional white space after it. */
    static Object read(String text) {
        var reader = new JsonReader(text.strip());
        var value = reader.value();
        if (reader.place < reader.text.length()) {
            throw reader.error("unexpected text");
        }
        return value;
    }

    private Object value() {
        return switch (text.charAt(place)) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> token(TEXT);
            default -> token(WORD);
        };
    }

    private Map<String, Object> object() {
        var object = new LinkedHashMap<String, Object>();
        readElements(
                '}',
                () -> {
                    var key = token(TEXT);
                    expect(':');
                    if (object.put(key, value()) != null) {
                        throw error("duplicate key " + key);
                    }
                });
        return object;
    }

    private List<Object> array() {
        var array = new ArrayList<>();
        readElements(']', () -> array.add(value()));
        return array;
    }

    private void readElements(char end, Runnable read) {
        place++;
        if (text.charAt(place) == end) {
            place++;
            return;
        }
        read.run();
        while (text.charAt(place) == ',') {
            place++;
            read.run();
        }
        expect(end);
    }

    private void expect(char character) {
        if (text.charAt(place) != character) {
            throw error("expected " + character);
        }
        place++;
    }

    private String token(Pattern pattern) {
        var token = pattern.matcher(text).region(place, text.length());
        if (!token.lookingAt()) {
            throw error("expected a value");
        }
        place = token.end();
        return token.groupCount() > 0 ? token.group(1) : token.group();
    }

    private IllegalArgumentException error(String what) {
        return new IllegalArgumentException(what + " at " + place + " of " + text);
    }
}
