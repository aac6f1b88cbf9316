package org.jrdma.cli.perf;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses the values of options that are whole numbers. */
final class WholeNumberConverter {

    private static final int MAX_PORT = 65_535;

    private WholeNumberConverter() {}

    private static int parse(String text, int min, int max) {
        try {
            var number = Integer.parseInt(text);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException _) {
            // The exception below reports the failure.
        }
        throw new TypeConversionException(
                "\"%s\" is not a whole number from %d to %d".formatted(text, min, max));
    }

    /** Parses a TCP port. Port 0 selects a free port. */
    static final class Port implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return parse(text, 0, MAX_PORT);
        }
    }

    /** Parses a positive number. */
    static final class Positive implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            return parse(text, 1, Integer.MAX_VALUE);
        }
    }
}
