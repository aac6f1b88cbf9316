package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class MissedWakeUpScannerTest {

    private static final long SOON_NANOS = 500_000_000; // Half of a scan period.
    private static final int ATTEMPTS = 20;

    private final LinkedBlockingQueue<Long> scans = new LinkedBlockingQueue<>();
    private final MissedWakeUpScanner scanner =
            new MissedWakeUpScanner(() -> scans.add(System.nanoTime()));

    @BeforeEach
    void start() {
        scanner.start();
    }

    @Test
    void shouldScanRarelyIfNoThreadSleeps() throws InterruptedException {
        Thread.sleep(2_500);

        assertThat(scans.size()).isBetween(1, 3);
    }

    /**
     * A busy machine may delay scans, so the test makes several attempts, of which one must
     * succeed.
     */
    @Test
    void shouldScanTwiceSoonAfterAThreadGoesToSleep() throws InterruptedException {
        var soon = 0;
        for (var i = 0; i < ATTEMPTS && soon == 0; i++) {
            scans.clear();
            scans.take();
            var start = System.nanoTime();
            scanner.scanSoon();
            scans.take();
            if (scans.take() - start < SOON_NANOS) {
                soon++;
            }
        }

        assertThat(soon).isPositive();
    }

    @Test
    void shouldContinueAfterAFailedScan() throws InterruptedException {
        var calls = new CountDownLatch(2);
        new MissedWakeUpScanner(
                        () -> {
                            calls.countDown();
                            if (calls.getCount() != 0) {
                                throw new OutOfMemoryError("thrown by the scan, on purpose");
                            }
                        })
                .start();

        calls.await();
    }
}
