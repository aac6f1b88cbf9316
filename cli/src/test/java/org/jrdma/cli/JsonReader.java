package org.jrdma.cli;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** A strict JSON parser. Objects become maps, arrays lists, and other values their text. */
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
            throw reader.wrong("more");
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
        each(
                '}',
                () -> {
                    var key = token(TEXT);
                    take(':');
                    if (object.put(key, value()) != null) {
                        throw wrong("a second " + key);
                    }
                });
        return object;
    }

    private List<Object> array() {
        var array = new ArrayList<>();
        each(']', () -> array.add(value()));
        return array;
    }

    private void each(char end, Runnable read) {
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
        take(end);
    }

    private void take(char character) {
        if (text.charAt(place) != character) {
            throw wrong("no " + character);
        }
        place++;
    }

    private String token(Pattern pattern) {
        var token = pattern.matcher(text).region(place, text.length());
        if (!token.lookingAt()) {
            throw wrong("no value");
        }
        place = token.end();
        return token.groupCount() > 0 ? token.group(1) : token.group();
    }

    private IllegalArgumentException wrong(String what) {
        return new IllegalArgumentException(what + " at " + place + " of " + text);
    }
}
