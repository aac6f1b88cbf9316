package org.jrdma.sockets.sisci;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans all streams soon after a thread has gone to sleep, without a wake-up of the peer. Stores
 * that cross on a link may prevent an end from noticing that the other sleeps. Without sleeping
 * threads, scans are rare.
 */
final class StreamScanner {

    private static final Duration SOON = Duration.ofMillis(20);

    /** The period of scans that find missed wake-ups and passed deadlines. */
    private static final long PERIOD_NANOS = 200_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(StreamScanner.class);

    private final Runnable scan;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("jrdma-sisci-scan").unstarted(this::run);
    private volatile boolean wanted;

    StreamScanner(Runnable scan) {
        this.scan = scan;
    }

    void start() {
        thread.start();
    }

    /** Schedules the next two scans soon, because the first of them may be too early. */
    void scanSoon() {
        if (!wanted) {
            wanted = true;
            LockSupport.unpark(thread);
        }
    }

    private void run() {
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
                LOG.error("Could not scan the SISCI streams", e); // continues: threads depend on it
            }
        }
    }

    /** Sleeps. A request for a scan does not shorten the sleep. */
    private static void sleep() {
        try {
            Thread.sleep(SOON);
        } catch (InterruptedException _) {
            // no thread interrupts this one
        }
    }
}
