package org.jrdma.interop;

import org.jrdma.examples.FabricProgram;
import picocli.CommandLine;

/**
 * A program that mirrors a C tool of rdma-core: same options, same data on the network, and, where
 * tests compare it, same output.
 */
public abstract class InteropProgram extends FabricProgram {

    /** Accepts numbers in hexadecimal digits, as {@code strtol} does. */
    @Override
    protected CommandLine commandLine() {
        return super.commandLine()
                .registerConverter(int.class, Integer::decode)
                .registerConverter(Integer.class, Integer::decode);
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
