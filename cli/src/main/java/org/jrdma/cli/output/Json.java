package org.jrdma.cli.output;

import java.lang.reflect.RecordComponent;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.StringJoiner;
import org.jspecify.annotations.Nullable;

/**
 * Encodes values as JSON. A record becomes an object with its components in order, and a collection
 * becomes an array. An enum constant becomes a string that contains its {@link #name}, and an empty
 * {@code Optional} becomes null.
 */
public final class Json {

    private Json() {}

    /** Encodes a value as a single line. */
    public static String of(@Nullable Object value) {
        return switch (value) {
            case null -> "null";
            case Optional<?> optional -> of(optional.orElse(null));
            case Number number -> number.toString();
            case Boolean flag -> flag.toString();
            case Enum<?> constant -> text(name(constant));
            case Collection<?> values -> array(values);
            case Record fields -> object(fields);
            default -> text(value.toString());
        };
    }

    /**
     * Returns the name of an enum constant in the output, for example {@code channel-adapter} for
     * CHANNEL_ADAPTER.
     */
    public static String name(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
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
            accessor.setAccessible(true); // The record may be package-private.
            return accessor.invoke(fields);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException("Cannot read the record component " + field, e);
        }
    }

    private static String text(String value) {
        var text = new StringBuilder("\"");
        for (var place = 0; place < value.length(); place++) {
            var character = value.charAt(place);
            if (character == '"' || character == '\\') {
                text.append('\\').append(character);
            } else if (!PrintableText.isPrintable(character)) {
                text.append("\\u%04x".formatted((int) character));
            } else {
                text.append(character);
            }
        }
        return text.append('"').toString();
    }
}
