package org.jrdma.interop;

import java.util.Locale;
import org.jrdma.examples.FabricProgram;
import org.jrdma.verbs.cm.model.PortSpace;
import picocli.CommandLine;
import picocli.CommandLine.TypeConversionException;

/**
 * A program that mirrors a C tool of rdma-core. It has the same options and sends the same data
 * over the network. If a test compares the output of the two programs, the output is also the same.
 */
public abstract class RdmaCoreProgram extends FabricProgram {

    /**
     * Lets numeric options also accept hexadecimal numbers such as 0x10, as {@code strtol} does in
     * the C tools.
     */
    @Override
    protected CommandLine commandLine() {
        return super.commandLine()
                .setCaseInsensitiveEnumValuesAllowed(true)
                .registerConverter(PortSpace.class, RdmaCoreProgram::portSpace)
                .registerConverter(int.class, RdmaCoreProgram::number)
                .registerConverter(Integer.class, RdmaCoreProgram::number);
    }

    private static PortSpace portSpace(String text) {
        return switch (text.toLowerCase(Locale.ROOT)) {
            case "tcp" -> PortSpace.TCP;
            case "udp" -> PortSpace.UDP;
            case "ipoib" -> PortSpace.IPOIB;
            case "ib" -> PortSpace.IB;
            default ->
                    throw new TypeConversionException(
                            "\"%s\" is not one of tcp, udp, ipoib and ib".formatted(text));
        };
    }

    private static int number(String text) {
        try {
            return Integer.decode(text);
        } catch (NumberFormatException e) {
            throw new TypeConversionException("\"%s\" is not a whole number".formatted(text));
        }
    }

    /** Rejects the value of an option if it is outside of a range. */
    protected final void checkRange(String option, int value, int min, int max) {
        if (value < min || value > max) {
            throw usageError(
                    "%s takes a number from %d to %d, not \"%d\""
                            .formatted(option, min, max, value));
        }
    }
}
