package org.jrdma.sisci;

import java.util.EnumSet;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.sisci.internal.SisciConstant;

/**
 * The options of a new interrupt. Immutable: {@link #asShared}, {@link #asCounting} and {@link
 * #asAwaited} return a changed copy.
 *
 * @param number the number of the interrupt; empty if the library chooses it
 * @param shared true if several interrupts of this node may have the same number; peers then
 *     trigger all of them
 * @param counting true if each trigger is reported; otherwise several triggers in quick succession
 *     may be reported as one
 * @param awaited true if the program only waits for triggers and registers no listener
 */
@CheckReturnValue
public record InterruptOptions(
        OptionalInt number, boolean shared, boolean counting, boolean awaited) {

    /** The default options, with a number that the library chooses. */
    public static final InterruptOptions ANY =
            new InterruptOptions(OptionalInt.empty(), false, false, false);

    /** Returns options with a given number. In C: {@code SCI_FLAG_FIXED_INTNO}. */
    public static InterruptOptions number(int number) {
        return new InterruptOptions(OptionalInt.of(number), false, false, false);
    }

    /**
     * Returns a copy of these options with {@link #shared()} set to true. In C: {@code
     * SCI_FLAG_SHARED_INT}.
     */
    public InterruptOptions asShared() {
        return new InterruptOptions(number, true, counting, awaited);
    }

    /**
     * Returns a copy of these options with {@link #counting()} set to true. In C: {@code
     * SCI_FLAG_COUNTING_INT}.
     */
    public InterruptOptions asCounting() {
        return new InterruptOptions(number, shared, true, awaited);
    }

    /**
     * Returns a copy of these options with {@link #awaited()} set to true. A platform thread in
     * {@link LocalInterrupt#await} then waits in the library, so that a trigger wakes it up
     * directly. Otherwise, a trigger first wakes up a thread of the library, which calls a
     * callback. In C: without {@code SCI_FLAG_USE_CALLBACK}.
     */
    public InterruptOptions asAwaited() {
        return new InterruptOptions(number, shared, counting, true);
    }

    Stream<SisciConstant> flags() {
        var flags = EnumSet.noneOf(SisciConstant.class);
        if (number.isPresent()) {
            flags.add(SisciConstant.SCI_FLAG_FIXED_INTNO);
        }
        if (shared) {
            flags.add(SisciConstant.SCI_FLAG_SHARED_INT);
        }
        if (counting) {
            flags.add(SisciConstant.SCI_FLAG_COUNTING_INT);
        }
        return flags.stream();
    }
}
