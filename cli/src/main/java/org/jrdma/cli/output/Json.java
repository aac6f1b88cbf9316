package org.jrdma.cli.output;

import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.Optional;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Values as JSON: records as objects with their components in order, collections as arrays, enums
 * by name, nothing as null.
 */
public final class Json {

    private static final int FIRST_PRINTABLE = 0x20;

    private Json() {}

    /** One line. */
    public static String of(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case Optional<?> optional -> of(optional.orElse(null));
            case Number number -> number.toString();
            case Boolean flag -> flag.toString();
            case Collection<?> values -> array(values);
            case Record fields -> object(fields);
            default -> text(value.toString());
        };
    }

    private static String array(Collection<?> values) {
        var array = new StringJoiner(",", "[", "]");
        values.forEach(value -> array.add(of(value)));
        return array.toString();
    }

    private static String object(Record fields) {
        var object = new StringJoiner(",", "{", "}");
        for (var field : fields.getClass().getRecordComponents()) {
            object.add(text(field.getName()) + ":" + of(value(fields, field)));
        }
        return object.toString();
    }

    private static Object value(Record fields, RecordComponent field) {
        try {
            var accessor = field.getAccessor();
            accessor.setAccessible(true); // of a record that is not public
            return accessor.invoke(fields);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(field + " cannot be read", e);
        }
    }

    private static String text(String value) {
        var text = new StringBuilder("\"");
        for (var place = 0; place < value.length(); place++) {
            var character = value.charAt(place);
            if (character == '"' || character == '\\') {
                text.append('\\').append(character);
            } else if (character < FIRST_PRINTABLE) {
                text.append("\\u%04x".formatted((int) character));
            } else {
                text.append(character);
            }
        }
        return text.append('"').toString();
    }
}
