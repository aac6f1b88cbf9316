package org.jrdma.cli.perf;

import java.util.ArrayList;
import java.util.List;

/**
 * The states of the machine since the start of the command, which show how fast it can be. Confined
 * to one thread.
 */
final class MachineStates {

    private static final double MAX_LOOP_RATIO = 1.15;
    private static final int MAX_CACHE_LINE_RATIO = 2;

    private final List<MachineState> states = new ArrayList<>();

    void add(MachineState state) {
        states.add(state);
    }

    /**
     * Returns true if figures of a state can be compared with those of the fastest states: those
     * with the shortest loops, and of these, those with the shortest exchange of a cache line.
     * Virtual processors that share a core exchange a cache line in less time, but compute slower.
     */
    boolean isFast(MachineState state) {
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
