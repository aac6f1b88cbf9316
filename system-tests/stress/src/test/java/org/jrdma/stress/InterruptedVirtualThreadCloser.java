package org.jrdma.stress;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jrdma.ffi.Lifetime;

/**
 * A program for a JVM with one carrier thread. A virtual thread whose interrupt status is set
 * closes an object that another virtual thread holds. The program ends only if the closing thread
 * releases the carrier while it waits.
 */
final class InterruptedVirtualThreadCloser {

    private InterruptedVirtualThreadCloser() {}

    public static void main(String... arguments) throws InterruptedException {
        var lifetime = new Lifetime("test object", List.of(), () -> {});
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
