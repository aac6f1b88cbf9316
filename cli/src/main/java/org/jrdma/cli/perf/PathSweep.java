package org.jrdma.cli.perf;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Measures one path with several message sizes in several passes. */
final class PathSweep {

    private final Path path;
    private final SortedMap<Integer, RepeatedPasses> sizes = new TreeMap<>();
    private boolean isFirstPass = true;

    /**
     * Creates a sweep without a result.
     *
     * @param sizes the message sizes, at least one
     * @param states the states of the machine during all passes of all paths
     */
    PathSweep(Path path, List<Integer> sizes, MachineStates states) {
        this.path = path;
        sizes.forEach(bytes -> this.sizes.put(bytes, new RepeatedPasses(states)));
    }

    Path path() {
        return path;
    }

    /**
     * Measures the sizes whose results are not complete.
     *
     * @param time the duration of the measurement of each figure, and of the warm-up of each size
     * @param warmUp the duration of the warm-up of the first pass
     */
    void measurePass(ControlChannel peer, Duration time, Duration warmUp) throws IOException {
        try (var side = MeasuringSide.open(peer, path, sizes.lastKey())) {
            if (isFirstPass) {
                side.warmUp(sizes.firstKey(), warmUp);
                isFirstPass = false;
            }
            for (var size : sizes.entrySet()) {
                if (!size.getValue().isComplete()) {
                    size.getValue().add(side.measureOnce(size.getKey(), time));
                }
            }
        }
    }

    /** Returns the number of sizes that another pass would measure. */
    int incompleteSizes() {
        return (int) sizes.values().stream().filter(passes -> !passes.isComplete()).count();
    }

    /** Returns the results of the sizes that were measured at least once, ordered by size. */
    List<Result> results() {
        return sizes.values().stream()
                .filter(passes -> !passes.isEmpty())
                .map(RepeatedPasses::best)
                .toList();
    }
}
