package org.jrdma.sisci;

import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jrdma.sisci.internal.Constant;

/**
 * What an interrupt is to be.
 *
 * @param number the number wanted; empty for one that the library chooses
 * @param shared whether several interrupts of this node may have the number, and are all triggered
 * @param counting whether each trigger counts; otherwise some that come close may become one
 */
public record InterruptOptions(OptionalInt number, boolean shared, boolean counting) {

    /** With a number that the library chooses. */
    public static final InterruptOptions ANY =
            new InterruptOptions(OptionalInt.empty(), false, false);

    /** With a number of the caller's choice. In C: {@code SCI_FLAG_FIXED_INTNO}. */
    public static InterruptOptions number(int number) {
        return new InterruptOptions(OptionalInt.of(number), false, false);
    }

    /** The same, shared. In C: {@code SCI_FLAG_SHARED_INT}. */
    public InterruptOptions asShared() {
        return new InterruptOptions(number, true, counting);
    }

    /** The same, counting. In C: {@code SCI_FLAG_COUNTING_INT}. */
    public InterruptOptions asCounting() {
        return new InterruptOptions(number, shared, true);
    }

    Stream<Constant> flags() {
        return Stream.of(
                        number.isPresent() ? Stream.of(Constant.SCI_FLAG_FIXED_INTNO) : none(),
                        shared ? Stream.of(Constant.SCI_FLAG_SHARED_INT) : none(),
                        counting ? Stream.of(Constant.SCI_FLAG_COUNTING_INT) : none())
                .flatMap(flag -> flag);
    }

    private static Stream<Constant> none() {
        return Stream.empty();
    }
}
