package org.jrdma.volume.drive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Executors;
import org.jrdma.ffi.FabricException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests which node {@link CoordinatorLease} makes the coordinator. */
class CoordinatorLeaseTest {

    private static final Duration DURATION = Duration.ofSeconds(2);

    private final MemoryDrive drive = new MemoryDrive(10);

    private CoordinatorLease record() {
        return record(DURATION, DURATION);
    }

    private CoordinatorLease record(Duration lease, Duration session) {
        return new CoordinatorLease(drive, 1, CoordinatorLease.Timeouts.of(lease, session));
    }

    private CoordinatorLease formatted() throws FabricException {
        record().format();
        return record();
    }

    /** Takes the record, also if this thread gets no processor between the two steps. */
    private static long take(CoordinatorLease record, long key) throws Exception {
        while (true) {
            if (record.observe()) {
                var taken = record.tryTake(key);
                if (taken.isPresent()) {
                    return taken.get().epoch();
                }
            }
            Thread.sleep(10);
        }
    }

    @Test
    void shouldIncreaseTheEpochWithEachHolder() throws Exception {
        var first = formatted();
        var epoch = take(first, 1);
        first.release(true);
        var second = record();
        assertThat(take(second, 2)).isGreaterThan(epoch);

        assertThatThrownBy(first::check).hasMessageContaining("not the coordinator");
        assertThatThrownBy(first::renew).hasMessageContaining("not the coordinator");
        assertThatCode(second::check).doesNotThrowAnyException();
        assertThat(record().read().orElseThrow().key()).isEqualTo(2);
    }

    @Test
    void shouldRejectOtherTimeoutsUntilTheHolderEndsWithoutSessions() throws Exception {
        var holder = formatted();
        var _ = take(holder, 1);
        var otherLease = record(DURATION.dividedBy(2), DURATION);
        var otherSession = record(DURATION, DURATION.multipliedBy(2));

        assertThatThrownBy(otherLease::observe)
                .hasMessageStartingWith(
                        "The last coordinator had a lease of 2000 ms and a session timeout of 2000 ms. This server has 1000 ms and 2000 ms.");
        assertThatThrownBy(otherSession::observe)
                .hasMessageContaining("This server has 2000 ms and 4000 ms.");
        assertThat(record().observe()).isFalse();

        holder.release(true);
        assertThatThrownBy(otherLease::observe).hasMessageContaining("need equal values");
        var next = record();
        var _ = take(next, 2);
        next.release(false);
        assertThat(otherLease.observe()).isTrue();
        assertThat(otherSession.observe()).isTrue();
    }

    @Test
    void shouldForgetTheHolderOfAFormerVolume() throws Exception {
        var holder = formatted();
        var _ = take(holder, 1);
        holder.renew();
        record().format();

        assertThat(record().read().orElseThrow().isReleased()).isTrue();
        assertThat(record().observe()).isTrue();
    }

    @Test
    @Tag("slow")
    void shouldNotTakeTheRecordOfAHolderThatRenews() throws Exception {
        var holder = formatted();
        var _ = take(holder, 1);
        var standby = record();
        var end = System.nanoTime() + DURATION.toNanos() * 7 / 4;
        while (System.nanoTime() - end < 0) {
            holder.renew();
            assertThat(standby.observe()).isFalse();
            Thread.sleep(20);
        }
    }

    @Test
    @Tag("slow")
    void shouldDeposeAHolderBeforeAnotherNodeTakesTheRecord() throws Exception {
        var holder = formatted();
        var _ = take(holder, 1);
        var standby = record();
        while (!standby.observe()) {
            Thread.sleep(5);
        }

        assertThatThrownBy(holder::check).hasMessageContaining("was not renewed in time");
        assertThat(take(standby, 2)).isGreaterThan(1);
        assertThatThrownBy(holder::renew).hasMessageContaining("not the coordinator");
        assertThatThrownBy(() -> holder.release(true)).hasMessageContaining("not the coordinator");
        assertThat(record().read().orElseThrow().key()).isEqualTo(2);
    }

    @Test
    @Timeout(60)
    void shouldGiveTheRecordToOneOfSeveralNodes() throws Exception {
        var holders = 0;
        while (holders == 0) { // a node whose thread gets no processor gives up
            holders = holdersAfterRace(4);
            assertThat(holders).isLessThanOrEqualTo(1);
        }
    }

    /** Lets several nodes take a new record at the same time, and returns how many have it. */
    private int holdersAfterRace(int nodes) throws Exception {
        record().format();
        var barrier = new CyclicBarrier(nodes);
        try (var executor = Executors.newFixedThreadPool(nodes)) {
            Callable<Boolean> task =
                    () -> {
                        var record = record();
                        assertThat(record.observe()).isTrue();
                        barrier.await();
                        return record.tryTake(1).isPresent();
                    };
            var holders = 0;
            for (var result : executor.invokeAll(Collections.nCopies(nodes, task))) {
                holders += result.get() ? 1 : 0;
            }
            return holders;
        }
    }

    @Test
    void shouldReadTheOtherBlockIfAWriteWasInterrupted() throws Exception {
        var holder = formatted();
        var _ = take(holder, 1);
        holder.renew();
        var last = record().read().orElseThrow();
        drive.flipBit(1 + last.sequence() % 2, 100);

        assertThat(record().read().orElseThrow().sequence()).isEqualTo(last.sequence() - 1);
        drive.flipBit(1 + (last.sequence() - 1) % 2, 100);
        assertThat(record().read()).isEmpty();
        assertThatThrownBy(() -> record().observe()).hasMessageContaining("no valid lease record");
    }
}
