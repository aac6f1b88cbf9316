package org.jrdma.verbs.internal;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Maps the constants of an enum to their numbers in C, and the numbers to the constants. */
public final class EnumCodes<E extends Enum<E>> {

    private static final int DENSE = 256;

    private final Class<E> type;
    private final EnumMap<E, Integer> codes;
    private final @Nullable Object[] dense = new Object[DENSE];
    private final Map<Integer, E> sparse = new HashMap<>();
    private final @Nullable E unknown;

    /**
     * Creates a mapping. Every constant has a number, except the constant {@code unknown}, which
     * represents all numbers that no other constant has.
     */
    EnumCodes(Class<E> type, @Nullable E unknown, ToIntFunction<E> code) {
        this.type = type;
        this.unknown = unknown;
        this.codes = new EnumMap<>(type);
        for (var constant : type.getEnumConstants()) {
            if (constant != unknown) {
                var number = code.applyAsInt(constant);
                codes.put(constant, number);
                sparse.put(number, constant);
                if (number >= 0 && number < DENSE) {
                    dense[number] = constant;
                }
            }
        }
    }

    public int code(E constant) {
        var code = codes.get(constant);
        if (code == null) {
            throw new IllegalArgumentException(constant + " has no number in C");
        }
        return code;
    }

    /**
     * Returns the constant that has the given number. Does not allocate memory for numbers from 0
     * to 255.
     */
    public E of(int code) {
        var constant = code >= 0 && code < DENSE ? type.cast(dense[code]) : sparse.get(code);
        if (constant != null) {
            return constant;
        }
        if (unknown == null) {
            throw new IllegalArgumentException(
                    "No " + type.getSimpleName() + " has the number " + code);
        }
        return unknown;
    }

    public int bits(Set<E> set) {
        return set.stream().mapToInt(this::code).reduce(0, (left, right) -> left | right);
    }

    /**
     * Returns the set of the constants whose bits are set in a word of flags. Unknown bits are
     * ignored.
     */
    public Set<E> ofBits(int bits) {
        var set = EnumSet.noneOf(type);
        Arrays.stream(type.getEnumConstants())
                .filter(constant -> constant != unknown && (bits & code(constant)) != 0)
                .forEach(set::add);
        return set;
    }
}
