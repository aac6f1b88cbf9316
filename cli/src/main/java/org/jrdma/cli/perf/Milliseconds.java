package org.jrdma.cli.perf;

import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Times, as people write them. In less than one nothing could be measured. */
final class Milliseconds implements ITypeConverter<Duration> {

    @Override
    public Duration convert(String text) {
        try {
            var millis = Integer.parseInt(text);
            if (millis > 0) {
                return Duration.ofMillis(millis);
            }
        } catch (NumberFormatException _) {
            // told below
        }
        throw new TypeConversionException(
                "\"%s\" is no time; it is at least 1 millisecond".formatted(text));
    }
}
