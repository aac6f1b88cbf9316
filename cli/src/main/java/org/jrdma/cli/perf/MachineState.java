package org.jrdma.cli.perf;

/**
 * The speed of two processors at a moment. On a virtual machine, it changes when the host moves a
 * virtual processor, or lets another virtual machine use the same core.
 *
 * @param cacheLineNanos the result of {@link CacheLineExchange}
 * @param loopNanos the result of {@link ComputeLoop}
 */
record MachineState(long cacheLineNanos, long loopNanos) {

    /**
     * Measures the current state, which takes 20 ms. The first call returns a longer loop, because
     * the JVM has not compiled it yet.
     */
    static MachineState now() {
        return new MachineState(CacheLineExchange.nanos(), ComputeLoop.nanos());
    }

    /** Returns a state with the longer of both times. */
    MachineState slowerOf(MachineState other) {
        return new MachineState(
                Math.max(cacheLineNanos, other.cacheLineNanos),
                Math.max(loopNanos, other.loopNanos));
    }
}
