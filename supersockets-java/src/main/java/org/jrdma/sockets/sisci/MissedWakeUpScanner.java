package org.jrdma.sockets.sisci;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.linkage.FailureLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans all streams soon after a thread has gone to sleep, even if the peer sends no wake-up. If
 * this end announces a sleep while the peer stores bytes, the stores cross on the link, and the
 * peer may not notice that a thread of this end sleeps. As long as no thread goes to sleep, scans
 * are rare.
 */
final class MissedWakeUpScanner {

    /** The delay of a scan after a thread has gone to sleep. */
    private static final Duration SOON = Duration.ofMillis(20);

    /**
     * The period of the scans that are not requested. They find passed deadlines, such as that of
     * an unused segment, and wake-ups that were missed for another reason.
     */
    private static final long PERIOD_NANOS = 1_000_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(MissedWakeUpScanner.class);

    private final Runnable scan;
    private final Thread thread =
            Thread.ofPlatform().daemon().name("jrdma-sisci-scan").unstarted(this::run);
    private volatile boolean requested;

    MissedWakeUpScanner(Runnable scan) {
        this.scan = scan;
    }

    void start() {
        thread.start();
    }

    /**
     * Requests two scans in succession, because the first may be too early to see what the peer has
     * stored.
     */
    void scanSoon() {
        if (!requested) {
            requested = true;
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        var again = false;
        while (true) {
            if (!again && !requested) {
                LockSupport.parkNanos(PERIOD_NANOS);
            }
            if (again || requested) {
                sleep();
            }
            again = requested;
            requested = false;
            try {
                scan.run();
            } catch (Throwable e) {
                // The loop continues after a failure, because sleeping threads depend on the scans.
                FailureLog.error(LOG, "Could not scan the SISCI streams", e);
            }
        }
    }

    /** Sleeps before a requested scan. Further requests do not shorten the sleep. */
    private static void sleep() {
        try {
            Thread.sleep(SOON);
        } catch (InterruptedException _) {
            // No thread interrupts this one.
        }
    }
}
