package org.jrdma.cli.perf;

import java.time.Duration;
import java.util.Optional;

/** Programs in C that do the same as a path, both sides on this machine. */
interface ProgramsInC {

    /** Why they have nothing to compare a path with; empty if they have. */
    Optional<String> whyNot(String path);

    /** They do as was done in Java. */
    InC compare(Result java, Duration time);
}
