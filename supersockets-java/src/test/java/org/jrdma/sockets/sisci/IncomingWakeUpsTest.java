package org.jrdma.sockets.sisci;

import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.InterruptOptions;
import org.jrdma.sisci.LocalInterrupt;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.RemoteInterrupt;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.internal.ThreadParker;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class IncomingWakeUpsTest {

    private Node node;
    private LocalInterrupt interrupt;
    private RemoteInterrupt peer;
    private IncomingWakeUps wakeUps;

    /** The threads that have scanned the streams. */
    private final LinkedBlockingQueue<Thread> scans = new LinkedBlockingQueue<>();

    /** The threads that the next scan wakes up. */
    private final Map<String, ThreadParker> ready = new ConcurrentHashMap<>();

    @BeforeEach
    void open(@TempDir Path folder) throws Exception {
        node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))).open();
        interrupt = node.newInterrupt(InterruptOptions.ANY.asAwaited());
        peer = node.connectInterrupt(node.id(), interrupt.number(), ofSeconds(1));
        wakeUps = new IncomingWakeUps(interrupt, peer, IncomingWakeUps.MAX_WAIT, this::scan);
        wakeUps.start();
    }

    @AfterEach
    void close() {
        node.close();
    }

    private void scan() {
        ready.forEach((name, parker) -> {
            if (ready.remove(name, parker)) {
                parker.wakeUp();
            }
        });
        scans.add(Thread.currentThread());
    }

    /** A thread that waits until a scan or another thread wakes it up. */
    private final class Sleeper {

        final CompletableFuture<ThreadParker> parker = new CompletableFuture<>();
        final CompletableFuture<Boolean> end = new CompletableFuture<>();
        final Thread thread;
        private volatile boolean done;

        Sleeper(Thread.Builder builder, Duration timeout) throws Exception {
            thread =
                    builder.start(() -> {
                        try {
                            var own = wakeUps.parker();
                            parker.complete(own);
                            var deadline = Deadline.after(timeout);
                            while (!done
                                    && !Thread.currentThread().isInterrupted()
                                    && !deadline.hasPassed()) {
                                own.park(deadline);
                            }
                            end.complete(done);
                        } catch (Throwable e) {
                            end.completeExceptionally(e);
                        }
                    });
            parker.get();
            awaitSleep();
        }

        private void awaitSleep() throws InterruptedException {
            // A leader waits in the kernel, which its state does not show.
            Thread.sleep(50);
        }

        /** Lets the next scan wake up this thread. */
        void makeReady() {
            ready.put(thread.toString(), new Waking(this));
        }
    }

    /** Marks a sleeper as done before it is woken up. */
    private record Waking(Sleeper sleeper) implements ThreadParker {

        @Override
        public void park(Deadline deadline) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void wakeUp() {
            sleeper.done = true;
            sleeper.parker.join().wakeUp();
        }
    }

    private Sleeper platform() throws Exception {
        return new Sleeper(Thread.ofPlatform().daemon(), ofSeconds(20));
    }

    private Sleeper virtual() throws Exception {
        return new Sleeper(Thread.ofVirtual(), ofSeconds(20));
    }

    private Thread scanAfterTrigger() throws Exception {
        scans.clear();
        peer.trigger();
        var scanning = scans.poll(10, TimeUnit.SECONDS);
        assertThat(scanning).isNotNull();
        return scanning;
    }

    private static boolean end(Sleeper sleeper) throws Exception {
        return sleeper.end.get(10, TimeUnit.SECONDS);
    }

    private static boolean isService(Thread thread) {
        return thread.getName().equals("jrdma-sisci-wake-up");
    }

    @Test
    void shouldWakeUpThePlatformThreadThatWaitsDirectly() throws Exception {
        var sleeper = platform();
        sleeper.makeReady();

        assertThat(scanAfterTrigger()).isSameAs(sleeper.thread);
        assertThat(end(sleeper)).isTrue();
    }

    @Test
    void shouldContinueToWaitAfterAWakeUpForAnotherStream() throws Exception {
        var sleeper = platform();
        for (var i = 0; i < 3; i++) {
            assertThat(scanAfterTrigger()).isSameAs(sleeper.thread);
            assertThat(sleeper.end).isNotDone();
        }
        sleeper.makeReady();

        assertThat(scanAfterTrigger()).isSameAs(sleeper.thread);
        assertThat(end(sleeper)).isTrue();
    }

    @Test
    void shouldWakeUpAFollowerAndKeepTheLeader() throws Exception {
        var leader = platform();
        var follower = platform();
        follower.makeReady();

        assertThat(scanAfterTrigger()).isSameAs(leader.thread);
        assertThat(end(follower)).isTrue();
        assertThat(scanAfterTrigger()).isSameAs(leader.thread);
        leader.makeReady();
        scanAfterTrigger();
        assertThat(end(leader)).isTrue();
    }

    @Test
    void shouldMakeAFollowerTheLeaderWhenTheLeaderLeaves() throws Exception {
        var threads = List.of(platform(), platform(), platform());
        for (var each : threads) {
            each.makeReady();

            assertThat(scanAfterTrigger()).isSameAs(each.thread);
            assertThat(end(each)).isTrue();
            Thread.sleep(50);
        }
    }

    @Test
    void shouldServeVirtualThreadsByTheServiceThread() throws Exception {
        for (var i = 0; i < 3; i++) {
            var sleeper = virtual();
            sleeper.makeReady();

            assertThat(isService(scanAfterTrigger())).isTrue();
            assertThat(end(sleeper)).isTrue();
        }
    }

    @Test
    void shouldReplaceTheServiceThreadByAPlatformThread() throws Exception {
        var virtual = virtual();
        virtual.makeReady();
        scanAfterTrigger();
        assertThat(end(virtual)).isTrue();

        wakeUps.scanAll(() -> false);
        var platform = platform();
        platform.makeReady();

        assertThat(scanAfterTrigger()).isSameAs(platform.thread);
        assertThat(end(platform)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldServeAVirtualThreadAfterThePlatformThreadsHaveLeft(boolean scansAll)
            throws Exception {
        var platform = platform();
        var virtual = virtual();
        platform.makeReady();
        assertThat(scanAfterTrigger()).isSameAs(platform.thread);
        assertThat(end(platform)).isTrue();
        if (scansAll) {
            wakeUps.scanAll(() -> true);
        }

        virtual.makeReady();

        assertThat(isService(scanAfterTrigger())).isTrue();
        assertThat(end(virtual)).isTrue();
    }

    @Test
    void shouldServeAVirtualThreadThatStartsToWaitDuringAScan() throws Exception {
        var virtual = new CompletableFuture<Sleeper>();
        var platform = platform();
        ready.put(
                "during the scan",
                new ThreadParker() {
                    @Override
                    public void park(Deadline deadline) {}

                    @Override
                    public void wakeUp() {
                        try {
                            virtual.complete(virtual());
                        } catch (Exception e) {
                            virtual.completeExceptionally(e);
                        }
                    }
                });
        platform.makeReady();
        assertThat(scanAfterTrigger()).isSameAs(platform.thread);
        assertThat(end(platform)).isTrue();

        virtual.get().makeReady();

        assertThat(isService(scanAfterTrigger())).isTrue();
        assertThat(end(virtual.get())).isTrue();
    }

    @Test
    void shouldEndTheWaitOfTheLeaderAndOfAFollowerByAnotherThread() throws Exception {
        var leader = platform();
        var follower = platform();

        new Waking(leader).wakeUp();
        assertThat(end(leader)).isTrue();
        new Waking(follower).wakeUp();
        assertThat(end(follower)).isTrue();
    }

    /** The wake-up arrives after the leader has checked for one, and before it waits. */
    @Test
    void shouldNotWaitIfTheLeaderIsWokenUpBeforeItsWait() throws Exception {
        wakeUps = new IncomingWakeUps(interrupt, peer, ofSeconds(60), this::scan);
        var end = new CompletableFuture<@Nullable Void>();
        new Thread() {
            private final AtomicBoolean checked = new AtomicBoolean();
            private @Nullable ThreadParker own;

            @Override
            public void run() {
                own = wakeUps.parker();
                own.park(Deadline.NEVER);
                end.complete(null);
            }

            @Override
            public boolean isInterrupted() {
                var parker = own;
                if (parker != null && checked.compareAndSet(false, true)) {
                    CompletableFuture.runAsync(parker::wakeUp).join();
                }
                return super.isInterrupted();
            }
        }.start();

        end.get(10, TimeUnit.SECONDS);
    }

    @Test
    void shouldEndTheWaitOfTheLeaderEvenIfItsInterruptCannotBeTriggered() throws Exception {
        wakeUps = new IncomingWakeUps(interrupt, null, IncomingWakeUps.MAX_WAIT, this::scan);
        var leader = platform();

        new Waking(leader).wakeUp();

        assertThat(end(leader)).isTrue();
    }

    @Test
    void shouldEndTheWaitOfALeaderOrAFollowerThatIsInterrupted() throws Exception {
        var leader = platform();
        var follower = platform();

        leader.thread.interrupt();
        assertThat(end(leader)).isFalse();
        follower.makeReady();
        assertThat(scanAfterTrigger()).isSameAs(follower.thread);
        assertThat(end(follower)).isTrue();

        leader = platform();
        follower = platform();
        follower.thread.interrupt();
        assertThat(end(follower)).isFalse();
        leader.makeReady();
        assertThat(scanAfterTrigger()).isSameAs(leader.thread);
        assertThat(end(leader)).isTrue();
    }

    @Test
    void shouldChooseAnotherLeaderIfTheLeaderTimesOut() throws Exception {
        var leader = new Sleeper(Thread.ofPlatform().daemon(), ofMillis(300));
        var follower = platform();
        assertThat(end(leader)).isFalse();

        follower.makeReady();

        assertThat(scanAfterTrigger()).isSameAs(follower.thread);
        assertThat(end(follower)).isTrue();
    }

    @Test
    void shouldKeepATriggerUntilAThreadWaits() throws Exception {
        peer.trigger();
        var sleeper = platform();

        assertThat(scans.poll(10, TimeUnit.SECONDS)).isSameAs(sleeper.thread);
        new Waking(sleeper).wakeUp();
        assertThat(end(sleeper)).isTrue();
    }

    /** After the node was closed, the interrupt fails in every call. */
    @Test
    void shouldScanPeriodicallyIfTheInterruptFails() throws Exception {
        node.close();
        var sleeper = platform();
        sleeper.makeReady();

        assertThat(end(sleeper)).isTrue();
    }

    @Test
    void shouldStopTheServiceThreadIfNoThreadNeedsIt() throws Exception {
        var virtual = virtual();
        virtual.makeReady();
        var service = scanAfterTrigger();
        assertThat(end(virtual)).isTrue();

        wakeUps.scanAll(() -> false);
        // A thread that waits for the interrupt is in the kernel, and therefore in the state
        // RUNNABLE.
        while (service.getState() != Thread.State.WAITING) {
            Thread.sleep(10);
        }
    }
}
