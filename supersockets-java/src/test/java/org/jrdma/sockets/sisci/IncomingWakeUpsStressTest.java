package org.jrdma.sockets.sisci;

import static java.time.Duration.ofNanos;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.InterruptOptions;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.internal.ThreadParker;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Wakes up random groups of threads, each thread once, while threads come and go. Until the whole
 * group is awake, nothing repeats a wake-up, so that the test fails if one is lost.
 */
@Timeout(60)
class IncomingWakeUpsStressTest {

    private static final int PLATFORM_THREADS = 3;
    private static final int VIRTUAL_THREADS = 2;
    private static final Deadline LATER = Deadline.after(ofSeconds(60));

    private final List<Sleeper> sleepers = new ArrayList<>();
    private volatile int round;

    /** A thread that sleeps like a thread that waits for a stream. */
    private static final class Sleeper {

        private final boolean isVirtual;

        /** Set before this thread is woken up; null while it is to sleep. */
        private volatile @Nullable CountDownLatch awake;

        /** Ends the time in which this thread is awake. */
        private final Semaphore resume = new Semaphore(0);

        // Guarded by this

        private @Nullable ThreadParker parker;

        /** True if the peer must send a trigger. */
        private boolean announced;

        /** True until a scan has woken up this thread, or it no longer sleeps. */
        private boolean awaited;

        Sleeper(boolean isVirtual) {
            this.isVirtual = isVirtual;
        }

        /** Sleeps until this thread is woken up, or the deadline passes. */
        void sleep(ThreadParker own, Deadline deadline) throws InterruptedException {
            prepare(own);
            while (awake == null && !deadline.hasPassed()) {
                own.park(deadline);
            }
            prepare(null);
            var wakeUp = awake;
            if (wakeUp != null) {
                awake = null;
                wakeUp.countDown();
                resume.acquire(); // Otherwise, this thread could become the missing leader.
            }
        }

        private synchronized void prepare(@Nullable ThreadParker own) {
            parker = own;
            awaited = own != null;
            announced = own != null;
        }

        /** Wakes up this thread as the peer does, or without a trigger if it is null. */
        void wakeUp(CountDownLatch group, @Nullable RemoteInterrupt trigger) throws Exception {
            synchronized (this) {
                awake = group;
                if (!announced || parker == null) {
                    return;
                }
                announced = false;
                if (trigger == null) {
                    parker.wakeUp();
                    return;
                }
            }
            trigger.trigger();
        }

        /** Wakes up this thread if it is ready. Returns true if it needs the service thread. */
        synchronized boolean scan() {
            if (awaited && awake != null && parker != null) {
                awaited = false;
                parker.wakeUp();
            }
            return isVirtual && awaited;
        }
    }

    private boolean scan() {
        var needsService = false;
        for (var sleeper : sleepers) {
            needsService |= sleeper.scan();
        }
        return needsService;
    }

    @Test
    void shouldNotLoseAWakeUpWhileThreadsComeAndGo(@TempDir Path folder) throws Exception {
        var node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))).open();
        var interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        var peer = node.connectInterrupt(node.id(), interrupt.number(), ofSeconds(1));
        var own = node.connectInterrupt(node.id(), interrupt.number(), ofSeconds(1));
        // A short wait would hide that a wake-up of the leader was lost.
        var wakeUps = new IncomingWakeUps(interrupt, own, ofSeconds(60), this::scan);
        for (var i = 0; i < PLATFORM_THREADS + VIRTUAL_THREADS; i++) {
            sleepers.add(new Sleeper(i >= PLATFORM_THREADS));
        }
        wakeUps.start();
        for (var sleeper : sleepers) {
            var builder = sleeper.isVirtual ? Thread.ofVirtual() : Thread.ofPlatform().daemon();
            builder.start(() -> sleepRepeatedly(sleeper, wakeUps));
        }

        wakeUpGroups(peer, wakeUps);
        node.close();
    }

    private void wakeUpGroups(RemoteInterrupt peer, IncomingWakeUps wakeUps) throws Exception {
        var random = ThreadLocalRandom.current();
        var end = Deadline.after(ofSeconds(3));
        var awake = new ArrayList<Sleeper>();
        for (var number = 1; !end.hasPassed(); number++) {
            round = number;
            for (var sleeper : List.copyOf(awake)) {
                if (random.nextBoolean()) {
                    awake.remove(sleeper);
                    sleeper.resume.release();
                }
            }
            if (random.nextInt(10) == 0) {
                Thread.sleep(1); // All threads sleep.
            }
            if (random.nextInt(4) == 0) {
                wakeUps.scanAll(this::scan); // The service thread may no longer be needed.
            }
            var group = new ArrayList<>(sleepers);
            group.removeAll(awake);
            Collections.shuffle(group, random);
            group.subList(random.nextInt(group.size() + 1), group.size()).clear();
            var latch = new CountDownLatch(group.size());
            for (var sleeper : group) {
                sleeper.wakeUp(latch, random.nextInt(4) == 0 ? null : peer);
                if (random.nextInt(4) == 0) {
                    LockSupport.parkNanos(50_000); // The next trigger is not for the same scan.
                }
            }
            assertThat(latch.await(10, TimeUnit.SECONDS)).as("round %d", number).isTrue();
            awake.addAll(group);
        }
    }

    /** Sleeps, for a short time at most once in each round. */
    private void sleepRepeatedly(Sleeper sleeper, IncomingWakeUps wakeUps) {
        var random = ThreadLocalRandom.current();
        var last = 0;
        try {
            while (true) {
                var now = round;
                var isShort = now != last && random.nextBoolean();
                last = now;
                sleeper.sleep(
                        wakeUps.parker(),
                        isShort ? Deadline.after(ofNanos(random.nextInt(300_000))) : LATER);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
