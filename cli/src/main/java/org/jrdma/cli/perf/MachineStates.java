package org.jrdma.cli.perf;

import java.util.ArrayList;
import java.util.List;

/**
 * The states of the machine during the passes of all paths. They show how fast the machine can be.
 * Confined to one thread.
 */
final class MachineStates {

    private static final double MAX_LOOP_RATIO = 1.15;
    private static final int MAX_CACHE_LINE_RATIO = 2;

    /** The longest plausible time if no other program uses the processors. */
    private static final int MAX_CACHE_LINE_NANOS = 2_000;

    private final boolean comparesStates;
    private final List<MachineState> states = new ArrayList<>();

    /**
     * Creates an object without a state.
     *
     * @param processors the number of processors. If it is not two, states are not compared,
     *     because the measured threads may run on other processors than those of the state.
     */
    MachineStates(int processors) {
        comparesStates = processors == 2;
    }

    void add(MachineState state) {
        states.add(state);
    }

    /**
     * Returns true if figures of a state can be compared with those of the fastest states: those
     * with the shortest loops, and of these, those with the shortest exchange of a cache line.
     * Virtual processors that share a core exchange a cache line in less time, but compute slower.
     * A state in which another program used a processor is never fast.
     */
    boolean isFast(MachineState state) {
        return state.cacheLineNanos() <= MAX_CACHE_LINE_NANOS
                && (!comparesStates || isAboutTheFastest(state));
    }

    private boolean isAboutTheFastest(MachineState state) {
        var shortest = states.stream().mapToLong(MachineState::loopNanos).min().orElseThrow();
        var fastestExchange =
                states.stream()
                        .filter(each -> hasAboutTheLoop(each, shortest))
                        .mapToLong(MachineState::cacheLineNanos)
                        .min()
                        .orElseThrow();
        return hasAboutTheLoop(state, shortest)
                && state.cacheLineNanos() <= MAX_CACHE_LINE_RATIO * fastestExchange;
    }

    private static boolean hasAboutTheLoop(MachineState state, long nanos) {
        return state.loopNanos() <= MAX_LOOP_RATIO * nanos;
    }
}
