package org.jrdma.ffi.linkage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Exchanger;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;

/**
 * Main program of a separate JVM with two carrier threads. Thousands of virtual threads wait for
 * descriptors, while two further virtual threads must make progress. If a waiting thread occupied
 * its carrier, most of the threads could not start.
 */
final class VirtualThreadWaitProgram {

    private static final int DESCRIPTORS = 400;
    private static final int WAITERS = 10;
    private static final int STEPS = 10_000;

    private VirtualThreadWaitProgram() {}

    public static void main(String... arguments) throws Exception {
        var descriptors = new int[DESCRIPTORS];
        var waiters = new ArrayList<DescriptorWaiter>();
        var begun = new CountDownLatch(DESCRIPTORS * WAITERS);
        var ended = new CountDownLatch(DESCRIPTORS * WAITERS);
        var woken = new AtomicInteger();
        for (var i = 0; i < DESCRIPTORS; i++) {
            descriptors[i] = TestDescriptors.event();
            var waiter = DescriptorWaiter.on(descriptors[i]);
            waiters.add(waiter);
            for (var j = 0; j < WAITERS; j++) {
                Thread.startVirtualThread(() -> {
                    try {
                        begun.countDown();
                        var readable = waiter.await(waiter.ticket(), Deadline.NEVER);
                        if (readable) {
                            woken.incrementAndGet();
                        }
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    } finally {
                        ended.countDown();
                    }
                });
            }
        }
        check(begun.await(20, TimeUnit.SECONDS), "only " + begun.getCount() + " are not waiting");

        var steps = new AtomicInteger();
        var exchanger = new Exchanger<Integer>();
        var others = new ArrayList<Thread>();
        for (var i = 0; i < 2; i++) {
            others.add(Thread.startVirtualThread(() -> exchange(exchanger, steps)));
        }
        for (var other : others) {
            check(other.join(Duration.ofSeconds(20)), "other threads make no progress");
        }
        for (var descriptor : descriptors) {
            TestDescriptors.signal(descriptor);
        }
        check(ended.await(20, TimeUnit.SECONDS), ended.getCount() + " were not woken");
        waiters.forEach(DescriptorWaiter::close);
        System.out.printf(
                "%d waited, others made %d steps, %d woke%n",
                DESCRIPTORS * WAITERS, steps.get() / 2, woken.get());
    }

    private static void exchange(Exchanger<Integer> exchanger, AtomicInteger steps) {
        try {
            for (var i = 0; i < STEPS; i++) {
                exchanger.exchange(i);
                steps.incrementAndGet();
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void check(boolean condition, String failure) {
        if (!condition) {
            System.out.println(failure);
            System.exit(1);
        }
    }
}
