package org.jrdma.cli.perf;

import java.time.Duration;
import java.util.Optional;

/**
 * Runs C programs that perform the same operations as a path of this command, with both sides on
 * this machine, for comparison.
 */
interface NativeBaseline {

    /** Returns the reason why there are no C programs for a path; empty if there are some. */
    Optional<String> missing(String path);

    /**
     * Runs the C programs with the message size and the number of messages of {@code java}, and
     * compares their figures with it.
     */
    BaselineComparison compare(Result java, Duration time);
}
