package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the limits for registered map outputs, and failures of the registration. */
@Timeout(60)
class MapOutputLimitsTest extends BlockTransferFixture {

    private static final long UNLIMITED = Long.MAX_VALUE / 2;
    private static final MapOutputIndex.Key FAILING = new MapOutputIndex.Key(0, 4);

    /** For each attempt to register an output, whether its memory was to be locked. */
    private final List<Boolean> attempts = new ArrayList<>();

    private int errno = Errno.ENOMEM;

    /** Called when the memory of a registered output is about to be unlocked. */
    private Runnable beforeClose = () -> {};

    @BeforeEach
    void writeOutputs() throws Exception {
        for (var map = 1; map <= 4; map++) {
            write(0, map);
        }
    }

    /** Replaces the map outputs by some with other limits. */
    private void limit(long pinnedBytes, int files, boolean onDemandPaging) {
        failIf(_ -> false, pinnedBytes, files, onDemandPaging);
    }

    /** Replaces the map outputs by some whose registration fails under a condition. */
    private void failIf(
            Predicate<Boolean> isFailing, long pinnedBytes, int files, boolean onDemandPaging) {
        outputs.close();
        var registration = MapOutputs.Registration.in(domain);
        outputs =
                new MapOutputs(
                        (index, isPinned) -> {
                            attempts.add(isPinned);
                            if (isFailing.test(isPinned)) {
                                throw new VerbsException("ibv_reg_mr", "for an output", errno, "");
                            }
                            var region = registration.register(index, isPinned);
                            region.onClose(() -> beforeClose.run());
                            return region;
                        },
                        indexes::get,
                        new MapOutputs.Limits(pinnedBytes, files, onDemandPaging),
                        metrics,
                        now::get);
    }

    private RegisteredMapOutput acquire(long map) throws Exception {
        return outputs.acquire(new MapOutputIndex.Key(0, map)).orElseThrow();
    }

    private void use(long map) throws Exception {
        outputs.release(acquire(map));
    }

    @Test
    void shouldDeregisterTheLeastRecentlyUsedOnDemandOutputAtTheLimitOfFiles() throws Exception {
        limit(0, 2, true);
        use(1);
        use(2);
        use(1);
        use(3);

        assertThat(attempts).containsExactly(false, false, false);
        assertThat(value(Metric.REGISTERED_FILES)).isEqualTo(2);
        assertThat(value(Metric.EVICTIONS)).isOne();

        use(1);
        assertThat(value(Metric.REGISTRATIONS)).isEqualTo(3);
        use(2);
        assertThat(value(Metric.REGISTRATIONS)).isEqualTo(4);
    }

    @Test
    void shouldRefuseAnOutputIfThoseInUseReachTheLimitOfFiles() throws Exception {
        limit(UNLIMITED, 2, true);
        var first = acquire(1);
        acquire(2);

        assertThat(outputs.acquire(new MapOutputIndex.Key(0, 3))).isEmpty();

        outputs.release(first);
        acquire(3);
        assertThat(value(Metric.REGISTERED_FILES)).isEqualTo(2);
    }

    @Test
    void shouldDeregisterUnusedOutputsAndRetryIfNoMemoryCanBeLocked() throws Exception {
        failIf(_ -> value(Metric.REGISTERED_FILES) > 2, UNLIMITED, 3, false);
        use(1);
        use(2);
        use(1);

        acquire(3);

        assertThat(attempts).hasSize(4);
        assertThat(value(Metric.EVICTIONS)).isOne();
        assertThat(value(Metric.REGISTERED_FILES)).isEqualTo(2);
        assertThat(value(Metric.REGISTERED_BYTES)).isEqualTo(2 * FILE_BYTES);
        use(1);
        assertThat(value(Metric.REGISTRATIONS)).isEqualTo(3);
    }

    @Test
    void shouldUseOnDemandPagingIfNoMemoryCanBeLockedAfterTheRetry() throws Exception {
        failIf(isPinned -> isPinned && attempts.size() > 1, UNLIMITED, 3, true);
        use(1);

        use(2);

        assertThat(attempts).containsExactly(true, true, true, false);
        assertThat(value(Metric.REGISTERED_FILES)).isOne();
        assertThat(value(Metric.REGISTERED_BYTES)).isZero();
    }

    @Test
    void shouldReserveNothingForAnOutputThatCannotBeRegistered() throws Exception {
        failIf(_ -> attempts.size() > 1, UNLIMITED, 3, true);
        acquire(1);

        assertThatThrownBy(() -> acquire(2))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ENOMEM");

        assertThat(attempts)
                .as("no retry without an unused output")
                .containsExactly(true, true, false);
        assertThat(value(Metric.REGISTERED_FILES)).isOne();
        assertThat(value(Metric.REGISTERED_BYTES)).isEqualTo(FILE_BYTES);
    }

    private void shouldFailToAcquire() {
        assertThatThrownBy(() -> outputs.acquire(FAILING)).isInstanceOf(VerbsException.class);
    }

    @Test
    void shouldDeregisterUnusedOutputsOnceForAnOutputThatCanNeverBeRegistered() throws Exception {
        failIf(_ -> attempts.size() > 3, UNLIMITED, 4, false);
        use(1);
        use(2);
        use(3);

        shouldFailToAcquire();
        for (var block = 1; block < PeerMessage.MAX_BLOCKS; block++) {
            assertThat(outputs.acquire(FAILING)).isEmpty();
        }

        assertThat(attempts).as("three outputs, an attempt and a retry").hasSize(3 + 2);
        assertThat(value(Metric.EVICTIONS)).isOne();
        assertThat(value(Metric.REGISTERED_FILES)).isEqualTo(2);
    }

    @Test
    void shouldRepeatAFailedRegistrationAfterAPause() throws Exception {
        failIf(_ -> attempts.size() == 1, UNLIMITED, 4, false);
        shouldFailToAcquire();

        now.addAndGet(MapOutputs.FAILURE_PAUSE.toNanos() - 1);
        assertThat(outputs.acquire(FAILING)).isEmpty();

        now.addAndGet(1);
        assertThat(outputs.acquire(FAILING)).isPresent();
        assertThat(attempts).hasSize(2);
    }

    @Test
    void shouldKeepUnusedOutputsIfARegistrationFailsForAnotherReasonThanMemory() throws Exception {
        errno = Errno.EINVAL;
        failIf(_ -> attempts.size() > 1, UNLIMITED, 4, false);
        use(1);

        shouldFailToAcquire();

        assertThat(attempts).as("no retry").hasSize(2);
        assertThat(value(Metric.EVICTIONS)).isZero();
        assertThat(value(Metric.REGISTERED_FILES)).isOne();
    }

    @Test
    void shouldCountTheMemoryOfAnOutputUntilItIsDeregistered() throws Exception {
        limit(FILE_BYTES, 4, false);
        var countedAtClose = new ArrayList<Long>();
        beforeClose = () -> countedAtClose.add(value(Metric.REGISTERED_BYTES));
        use(1);
        use(2); // deregisters the first output because of the limit
        outputs.forget(0);
        var inUse = acquire(3);
        outputs.forget(0);
        outputs.release(inUse);

        assertThat(countedAtClose).isEqualTo(Collections.nCopies(3, (long) FILE_BYTES));
        assertThat(value(Metric.REGISTERED_BYTES)).isZero();
        assertThat(value(Metric.REGISTERED_FILES)).isZero();
    }
}
