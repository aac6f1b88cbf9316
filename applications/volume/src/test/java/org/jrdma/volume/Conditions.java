package org.jrdma.volume;

import java.util.Optional;
import java.util.concurrent.Callable;

/** Waits for conditions. */
public final class Conditions {

    private static final long PAUSE_MILLIS = 20;

    private Conditions() {}

    /** Repeats a call until it returns a result, or until the timeout of the test. */
    public static <T> T await(Callable<Optional<T>> condition) throws Exception {
        while (true) {
            var result = condition.call();
            if (result.isPresent()) {
                return result.get();
            }
            Thread.sleep(PAUSE_MILLIS);
        }
    }
}
