package org.jrdma.cli.perf;

import static java.util.Comparator.comparingDouble;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The results of one path and message size in several passes.
 *
 * <p>Only passes during which the machine was about as fast as it can be count, because other
 * passes cannot be compared. Of these, the lowest latency and the highest bandwidth are the result,
 * because other programs make a pass slower. Each is stable if the second best pass confirms it.
 */
final class RepeatedPasses {

    static final int MIN_PASSES = 5;
    static final int MAX_PASSES = 15;

    /** The maximum ratio of the two best passes. */
    private static final double MAX_RATIO = 1.1;

    private final MachineStates states;
    private final List<Result> passes = new ArrayList<>();

    /**
     * Creates an object without a pass.
     *
     * @param states the states of the machine during all passes of all paths
     */
    RepeatedPasses(MachineStates states) {
        this.states = states;
    }

    void add(Result pass) {
        passes.add(pass);
        states.add(pass.machine());
    }

    boolean isEmpty() {
        return passes.isEmpty();
    }

    /** Returns true if there are enough passes and both figures are stable. */
    boolean isComplete() {
        return passes.size() >= MIN_PASSES && best().stable().ofBoth();
    }

    /**
     * Returns the best latency and the best bandwidth. The state of the machine belongs to the
     * latency. If no pass counts, the best figures of all passes are returned, and are not stable.
     *
     * @throws java.util.NoSuchElementException if there was no pass
     */
    Result best() {
        var counted = passes.stream().filter(pass -> states.isFast(pass.machine())).toList();
        var compared = counted.isEmpty() ? passes : counted;
        var byLatency = sorted(compared, comparingDouble(RepeatedPasses::median));
        var byRate = sorted(compared, comparingDouble(RepeatedPasses::rate)).reversed();
        var stability =
                counted.size() < 2
                        ? Stability.NONE
                        : new Stability(
                                agree(median(byLatency.getFirst()), median(byLatency.get(1))),
                                agree(rate(byRate.get(1)), rate(byRate.getFirst())));
        return byLatency.getFirst().withBandwidth(byRate.getFirst().bandwidth(), stability);
    }

    private static List<Result> sorted(List<Result> passes, Comparator<Result> order) {
        return passes.stream().sorted(order).toList();
    }

    private static boolean agree(double smaller, double larger) {
        return larger <= MAX_RATIO * smaller;
    }

    private static double median(Result pass) {
        return pass.latency().median();
    }

    private static double rate(Result pass) {
        return pass.bandwidth().messagesPerSecond();
    }
}
