package org.jrdma.sockets.sisci;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans all streams without a wake-up, soon after a thread has gone to sleep: stores that cross on
 * a link may keep an end from noticing the sleep of the other. A process without news scans rarely.
 */
final class StreamScanner {

    private static final Duration SOON = Duration.ofMillis(20);

    /** The period in which missed wake-ups and passed deadlines are found. */
    private static final long PERIOD_NANOS = 200_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(StreamScanner.class);

    private final Runnable scan;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("jrdma-sisci-look").unstarted(this::go);
    private volatile boolean wanted;

    StreamScanner(Runnable scan) {
        this.scan = scan;
    }

    void start() {
        thread.start();
    }

    /** Makes the next two scans soon: the first of them may be too early. */
    void scanSoon() {
        if (!wanted) {
            wanted = true;
            LockSupport.unpark(thread);
        }
    }

    private void go() {
        var again = false;
        while (true) {
            if (!again && !wanted) {
                LockSupport.parkNanos(PERIOD_NANOS);
            }
            if (again || wanted) {
                sleep();
            }
            again = wanted;
            wanted = false;
            try {
                scan.run();
            } catch (RuntimeException e) {
                LOG.error(
                        "The scan of the streams has failed",
                        e); // sleeping threads rely on this one
            }
        }
    }

    /** Sleeps; a request for a scan does not make it earlier. */
    private static void sleep() {
        try {
            Thread.sleep(SOON);
        } catch (InterruptedException _) {
            // no thread interrupts this one
        }
    }
}
