package org.jrdma.cli.perf;

import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Parses and formats message sizes in bytes, with the suffixes K and M. */
final class Size {

    private static final int KIBI = 1 << 10;
    private static final int MEBI = 1 << 20;

    private Size() {}

    /** Parses the value of an option that is a message size. */
    static final class Converter implements ITypeConverter<Integer> {
        @Override
        public Integer convert(String text) {
            var unit = text.endsWith("K") ? KIBI : text.endsWith("M") ? MEBI : 1;
            var digits = unit == 1 ? text : text.substring(0, text.length() - 1);
            try {
                var bytes = Math.multiplyExact(Integer.parseInt(digits), unit);
                if (bytes > 0) {
                    return bytes;
                }
            } catch (NumberFormatException | ArithmeticException _) {
                // The exception below reports the failure.
            }
            throw new TypeConversionException(
                    "\"%s\" is not a size such as 64, 4K or 1M".formatted(text));
        }
    }

    static String toString(int bytes) {
        if (bytes % MEBI == 0) {
            return bytes / MEBI + "M";
        }
        return bytes % KIBI == 0 ? bytes / KIBI + "K" : Integer.toString(bytes);
    }
}
