package org.jrdma.sockets.sisci;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at all streams without having been woken, soon after somebody has gone to sleep: stores
 * that cross on a link may keep an end from learning of that. Whoever has slept for longer is known
 * of, so that a process in which nothing happens hardly ever looks.
 */
final class StreamScanner {

    private static final Duration SOON = Duration.ofMillis(20);

    /** What was missed all the same, and time that has passed, are found then. */
    private static final long REST_NANOS = 200_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(StreamScanner.class);

    private final Runnable look;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("jrdma-sisci-look").unstarted(this::go);
    private volatile boolean wanted;

    StreamScanner(Runnable look) {
        this.look = look;
    }

    void start() {
        thread.start();
    }

    /** Has the next two rounds be soon: the first of them may be too soon. */
    void goSoon() {
        if (!wanted) {
            wanted = true;
            LockSupport.unpark(thread);
        }
    }

    private void go() {
        var again = false;
        while (true) {
            if (!again && !wanted) {
                LockSupport.parkNanos(REST_NANOS);
            }
            if (again || wanted) {
                sleep();
            }
            again = wanted;
            wanted = false;
            try {
                look.run();
            } catch (RuntimeException e) {
                LOG.error("Streams were not looked at", e); // those that sleep rely on this thread
            }
        }
    }

    /** Whoever wants a round meanwhile does not make it come earlier. */
    private static void sleep() {
        try {
            Thread.sleep(SOON);
        } catch (InterruptedException _) {
            // nobody interrupts this thread
        }
    }
}
