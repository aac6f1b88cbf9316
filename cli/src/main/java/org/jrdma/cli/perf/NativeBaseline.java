package org.jrdma.cli.perf;

import java.time.Duration;
import java.util.Optional;

/** C programs that perform the same operations as a path, with both sides on this machine. */
interface NativeBaseline {

    /** Returns the reason why there is no baseline for a path, or empty if there is a baseline. */
    Optional<String> missing(String path);

    /**
     * Runs the programs with the message size and the number of messages of a result, and compares
     * their figures with the result.
     */
    BaselineComparison compare(Result java, Duration time);
}
