package org.jrdma.cli.perf;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses a positive number of milliseconds. */
final class MillisecondsConverter implements ITypeConverter<Duration> {

    @Override
    public Duration convert(String text) {
        try {
            var millis = Integer.parseInt(text);
            if (millis > 0) {
                return Duration.ofMillis(millis);
            }
        } catch (NumberFormatException _) {
            // The exception below reports the failure.
        }
        throw new TypeConversionException(
                "\"%s\" is not a whole number of milliseconds of at least 1".formatted(text));
    }
}
