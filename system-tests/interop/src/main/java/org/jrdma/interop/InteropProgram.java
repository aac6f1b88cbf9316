package org.jrdma.interop;

import org.jrdma.examples.FabricProgram;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

/**
 * A program that mirrors a C tool of rdma-core: same options, same data on the network, and, where
 * tests compare it, same output.
 */
public abstract class InteropProgram extends FabricProgram {

    /** Accepts numbers in hexadecimal digits, as {@code strtol} does. */
    @Override
    protected CommandLine commandLine() {
        return super.commandLine()
                .registerConverter(int.class, InteropProgram::number)
                .registerConverter(Integer.class, InteropProgram::number);
    }

    private static int number(String text) {
        try {
            return Integer.decode(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("\"%s\" is not a number".formatted(text));
        }
    }

    /** Rejects the value of an option that is outside of a range. */
    protected final void checkRange(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw usageError(
                    "%s takes a number from %d to %d, not \"%d\""
                            .formatted(option, min, max, value));
        }
    }
}
