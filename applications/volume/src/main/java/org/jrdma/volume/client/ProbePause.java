package org.jrdma.volume.client;

import java.time.Duration;

/**
 * The pause before an attempt to use a preferred path again. It grows with each attempt that fails.
 */
record ProbePause(long nanos) {

    static final ProbePause FIRST = new ProbePause(Duration.ofMillis(500).toNanos());

    /** The longest pause. */
    static final ProbePause LAST = new ProbePause(Duration.ofSeconds(30).toNanos());

    /** Returns the pause before the next attempt. */
    ProbePause next() {
        return new ProbePause(Math.min(2 * nanos, LAST.nanos));
    }
}
