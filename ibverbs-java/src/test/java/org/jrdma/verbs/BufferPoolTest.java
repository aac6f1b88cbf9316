package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.verbs.memory.BufferPool;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@link BufferPool} and {@link PooledBuffer}. */
class BufferPoolTest {

    private static final long PAGE = LinuxCalls.pageBytes();
    private static final long LIMIT = 8 * PAGE;

    private final FakeLibrary library = new FakeLibrary();
    private Device device;
    private ProtectionDomain domain;
    private BufferPool pool;

    @BeforeEach
    void open() throws Exception {
        device = Verbs.from(library).openFirst();
        domain = device.newProtectionDomain();
        pool = domain.newBufferPool(LIMIT, Access.LOCAL_WRITE);
    }

    @AfterEach
    void close() {
        pool.close();
        device.close();
    }

    private int deregistrations() {
        return Collections.frequency(library.calls, "ibv_dereg_mr");
    }

    @Test
    void shouldReuseAReleasedBufferWithoutRegisteringItAgain() throws Exception {
        var first = pool.tryTake(PAGE - 1);
        var memory = first.segment();
        assertThat(memory.byteSize()).isEqualTo(PAGE - 1);
        assertThat(first.length()).isEqualTo(PAGE - 1);
        assertThat(first.release()).isTrue();

        var second = pool.tryTake(10);

        assertThat(second.segment().address()).isEqualTo(memory.address());
        assertThat(second.slice().length()).isEqualTo(10);
        assertThat(pool.statistics())
                .isEqualTo(new BufferPool.Statistics(LIMIT, PAGE, PAGE, 1, PAGE, 2, 1, 0));
        assertThat(deregistrations()).isZero();
    }

    @Test
    void shouldKeepABufferUntilItsLastReferenceIsReleased() throws Exception {
        var buffer = pool.tryTake(100).retain().retain();

        assertThat(buffer.release()).isFalse();
        assertThat(buffer.release()).isFalse();
        assertThat(pool.statistics().usedBuffers()).isEqualTo(1);
        assertThat(buffer.segment().byteSize()).isEqualTo(100);

        assertThat(buffer.release()).isTrue();
        assertThat(pool.statistics().usedBuffers()).isZero();
        assertThat(pool.statistics().usedBytes()).isZero();
    }

    @Test
    void shouldRejectTheUseOfABufferAfterItsLastReferenceWasReleased() throws Exception {
        var buffer = pool.tryTake(100);
        buffer.release();
        var next = pool.tryTake(100);

        for (var use :
                new Callable<?>[] {
                    buffer::segment,
                    buffer::slice,
                    () -> buffer.slice(0, 1),
                    buffer::retain,
                    buffer::release
                }) {
            assertThatIllegalStateException()
                    .isThrownBy(use::call)
                    .withMessage(
                            "A buffer of the %s was used after its last reference was released",
                            pool);
        }
        assertThat(pool.statistics().usedBuffers()).isEqualTo(1);
        assertThat(next.segment().byteSize()).isEqualTo(100);
    }

    @Test
    void shouldRejectASliceOutsideTheBuffer() throws Exception {
        var buffer = pool.tryTake(100);

        assertThat(buffer.slice(60, 40).offset()).isEqualTo(60);
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> buffer.slice(60, 41));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> buffer.slice(-1, 1));
    }

    @Test
    void shouldReturnNoBufferAboveItsLimitUntilAnotherBufferIsReleased() throws Exception {
        var half = pool.tryTake(4 * PAGE);
        var other = pool.tryTake(4 * PAGE);

        assertThat(pool.tryTake(1)).isNull();
        assertThat(pool.tryTake(4 * PAGE)).isNull();
        assertThat(pool.statistics())
                .isEqualTo(new BufferPool.Statistics(LIMIT, LIMIT, LIMIT, 2, LIMIT, 2, 2, 2));

        half.release();
        assertThat(pool.tryTake(4 * PAGE)).isNotNull();
        other.release();
        assertThat(pool.statistics().usedBytes()).isEqualTo(4 * PAGE);
        assertThat(pool.statistics().peakUsedBytes()).isEqualTo(LIMIT);
    }

    @Test
    void shouldCloseTheLargestIdleBufferForABufferOfAnotherSize() throws Exception {
        var small = pool.tryTake(PAGE);
        var large = pool.tryTake(5 * PAGE);
        var memory = large.segment();
        small.release();
        large.release();

        var buffer = pool.tryTake(4 * PAGE);

        assertThat(buffer.length()).isEqualTo(4 * PAGE);
        assertThat(deregistrations()).isEqualTo(1);
        assertThat(memory.scope().isAlive()).isFalse();
        assertThat(pool.statistics().registeredBytes()).isEqualTo(5 * PAGE);
    }

    /** Closing idle buffers would not help, so they must be kept. */
    @Test
    void shouldKeepIdleBuffersIfTheBuffersInUseLeaveNoRoom() throws Exception {
        pool.tryTake(PAGE).release();
        assertThat(pool.tryTake(5 * PAGE)).isNotNull();

        assertThat(pool.tryTake(4 * PAGE)).isNull();

        assertThat(deregistrations()).isZero();
        assertThat(pool.statistics().registeredBytes()).isEqualTo(6 * PAGE);
    }

    @Test
    void shouldRoundASizeUpByAtMostAQuarter() throws Exception {
        try (var large = domain.newBufferPool(1L << 24, Access.LOCAL_WRITE)) {
            for (var bytes : new long[] {1, PAGE, PAGE + 1, 16 * PAGE, 16 * PAGE + 1, 99 * PAGE}) {
                var buffer = large.tryTake(bytes);
                var size = large.statistics().usedBytes();

                assertThat(size % PAGE).isZero();
                assertThat(size).isBetween(bytes, Math.max(2 * PAGE, bytes + bytes / 4));
                buffer.release();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE})
    void shouldRejectAnImpossibleSize(long bytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> pool.tryTake(bytes))
                .withMessageContaining("number of bytes");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> domain.newBufferPool(bytes, Access.LOCAL_WRITE))
                .withMessageContaining("number of bytes");
        assertThat(pool.statistics().exhaustions()).isZero();
    }

    /** Otherwise, a caller would wait forever for room in the pool. */
    @Test
    void shouldRejectASizeThatIsAboveTheLimitOnceItIsRoundedUp() {
        var odd = domain.newBufferPool(9 * PAGE, Access.LOCAL_WRITE);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> odd.tryTake(8 * PAGE + 1))
                .withMessage(
                        "A buffer of %d bytes, rounded up to %d, exceeds the limit of the %s",
                        8 * PAGE + 1, 10 * PAGE, odd);
    }

    @Test
    void shouldCloseABufferInUseWhenItIsReleasedAfterTheClose() throws Exception {
        var idle = pool.tryTake(PAGE);
        var used = pool.tryTake(PAGE);
        idle.release();

        pool.close();
        pool.close();

        assertThat(deregistrations()).isEqualTo(1);
        assertThat(used.segment().byteSize()).isEqualTo(PAGE);
        used.release();
        assertThat(deregistrations()).isEqualTo(2);
        assertThat(pool.statistics().registeredBytes()).isZero();
        assertThatIllegalStateException()
                .isThrownBy(() -> pool.tryTake(1))
                .withMessage("The %s is closed", pool);
    }

    @Test
    void shouldCloseOnlyTheIdleBuffersWhenItIsTrimmed() throws Exception {
        var used = pool.tryTake(PAGE);
        pool.tryTake(2 * PAGE).release();
        pool.tryTake(PAGE).release();

        pool.trim();

        assertThat(deregistrations()).isEqualTo(2);
        assertThat(pool.statistics().registeredBytes()).isEqualTo(PAGE);
        assertThat(used.segment().byteSize()).isEqualTo(PAGE);

        used.release();
        assertThat(pool.statistics().registeredBytes()).isEqualTo(PAGE);
        assertThat(pool.tryTake(LIMIT)).isNotNull();
    }

    @Test
    void shouldReserveNothingForABufferThatCannotBeRegistered() throws Exception {
        library.answer("ibv_reg_mr", MemorySegment.NULL, Errno.ENOMEM);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> pool.tryTake(LIMIT))
                .withMessageContaining("ibv_reg_mr");
        assertThat(pool.statistics())
                .isEqualTo(new BufferPool.Statistics(LIMIT, 0, 0, 0, LIMIT, 0, 0, 0));

        library.resetAnswer("ibv_reg_mr");
        assertThat(pool.tryTake(LIMIT)).isNotNull();
    }

    @Test
    void shouldNotReuseABufferWhoseRegionWasClosed() throws Exception {
        var buffer = pool.tryTake(PAGE);
        buffer.slice().region().close();
        buffer.release();

        assertThat(pool.statistics().registeredBytes()).isZero();
        assertThat(pool.tryTake(PAGE).slice().region().isOpen()).isTrue();
    }

    @Test
    void shouldCloseAllBuffersWithTheDomain() throws Exception {
        var used = pool.tryTake(PAGE);
        var memory = used.segment();
        pool.tryTake(2 * PAGE).release();

        domain.close();

        assertThat(deregistrations()).isEqualTo(2);
        assertThat(memory.scope().isAlive()).isFalse();
        assertThat(used.release()).isTrue();
        assertThatIllegalStateException()
                .isThrownBy(() -> pool.tryTake(1))
                .withMessageContaining("protection domain");
    }

    @Test
    void shouldStayWithinItsLimitWithManyThreads() throws Exception {
        try (var threads = Executors.newFixedThreadPool(8)) {
            var users = new ArrayList<Future<Integer>>();
            for (var thread = 0; thread < 8; thread++) {
                users.add(threads.submit(this::takeAndRelease));
            }
            var taken = 0;
            for (var user : users) {
                taken += user.get(60, TimeUnit.SECONDS);
            }
            assertThat(taken).isPositive();
        }

        var statistics = pool.statistics();
        assertThat(statistics.usedBytes()).isZero();
        assertThat(statistics.usedBuffers()).isZero();
        assertThat(statistics.registeredBytes()).isLessThanOrEqualTo(LIMIT);
        assertThat(statistics.peakUsedBytes()).isLessThanOrEqualTo(LIMIT);
        pool.close();
        assertThat(deregistrations()).isEqualTo((int) statistics.registrations());
    }

    /** Writes to each buffer and checks that no other thread has changed it. */
    private int takeAndRelease() throws VerbsException {
        var random = ThreadLocalRandom.current();
        var taken = 0;
        for (var round = 0; round < 300; round++) {
            var buffer = pool.tryTake(random.nextLong(1, 5 * PAGE));
            if (buffer != null) {
                var mark = (byte) random.nextInt();
                buffer.segment().fill(mark);
                Thread.onSpinWait();
                var expected = new byte[(int) buffer.length()];
                Arrays.fill(expected, mark);
                assertThat(buffer.segment().mismatch(MemorySegment.ofArray(expected)))
                        .isEqualTo(-1);
                buffer.release();
                taken++;
            }
            assertThat(pool.statistics().registeredBytes()).isLessThanOrEqualTo(LIMIT);
        }
        return taken;
    }
}
