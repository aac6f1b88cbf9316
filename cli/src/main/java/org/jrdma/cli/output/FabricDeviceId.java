package org.jrdma.cli.output;

import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses and formats fabric device ids, which are unsigned numbers in hexadecimal. */
public final class FabricDeviceId {

    /** The form of an id. */
    public static final Pattern FORM = Pattern.compile("0x[0-9a-fA-F]{1,16}");

    private FabricDeviceId() {}

    /** Parses a text of the {@linkplain #FORM form} of an id. */
    public static long parse(String text) {
        return Long.parseUnsignedLong(text.substring(2), 16);
    }

    /** Formats an id. */
    public static String format(long id) {
        return "0x" + Long.toHexString(id);
    }

    /** Parses an id on the command line. */
    public static final class Converter implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            if (!FORM.matcher(text).matches()) {
                throw new TypeConversionException(
                        "\"%s\" is not a fabric device id such as 0x401".formatted(text));
            }
            return parse(text);
        }
    }
}
