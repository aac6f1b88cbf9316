package org.jrdma.stress;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jrdma.ffi.Lifetime;

/**
 * A program for a JVM with one carrier thread: a virtual thread with a pending interrupt closes an
 * object that another virtual thread holds. The wait must release the carrier.
 */
final class InterruptedCloser {

    private InterruptedCloser() {}

    public static void main(String... arguments) throws InterruptedException {
        var lifetime = new Lifetime("a thing", List.of(), () -> {});
        var held = new CountDownLatch(1);
        var holder =
                Thread.ofVirtual()
                        .start(() -> {
                            lifetime.hold();
                            held.countDown();
                            try {
                                Thread.sleep(50);
                            } catch (InterruptedException e) {
                                throw new AssertionError(e);
                            } finally {
                                lifetime.release();
                            }
                        });
        held.await();
        var closer =
                Thread.ofVirtual()
                        .start(() -> {
                            Thread.currentThread().interrupt();
                            lifetime.close();
                            System.out.println(
                                    "closed, interrupted: "
                                            + Thread.currentThread().isInterrupted());
                        });
        var ended = closer.join(Duration.ofSeconds(10)) && holder.join(Duration.ofSeconds(10));
        System.exit(ended ? 0 : 1);
    }
}
