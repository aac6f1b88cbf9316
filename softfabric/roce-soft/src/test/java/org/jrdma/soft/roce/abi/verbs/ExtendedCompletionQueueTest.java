package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.rdma.ibv_cq_ex;
import org.jrdma.abi.rdma.ibv_cq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.abi.rdma.ibv_values_ex;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.timespec;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests extended completion queues ({@code struct ibv_cq_ex}) as a C program uses them. */
@Timeout(30)
class ExtendedCompletionQueueTest {

    private static final int TIMESTAMP = rdma_h.IBV_WC_EX_WITH_COMPLETION_TIMESTAMP();

    private final Arena arena = Arena.ofConfined();
    private DeviceObject device;
    private long context;

    @BeforeEach
    void open() {
        device = ExportedFunctionTestSupport.newDevice();
        context = DeviceExports.openDevice(device.structure().address());
    }

    @AfterEach
    void close() {
        DeviceExports.closeDevice(context);
        arena.close();
    }

    private MemorySegment config(int fields) {
        var config = ibv_cq_init_attr_ex.allocate(arena);
        ibv_cq_init_attr_ex.cqe(config, 4);
        ibv_cq_init_attr_ex.cq_context(config, MemorySegment.ofAddress(77));
        ibv_cq_init_attr_ex.wc_flags(config, fields);
        return config;
    }

    private long newQueue(int fields) {
        return ControlPathFunctions.createCompletionQueue(context, config(fields).address());
    }

    /**
     * Adds {@code count} completions of flushed receives with the IDs 0, 1, 2 and so on to a
     * completion queue. Returns the queue pair of the receives.
     */
    private long complete(long queue, int count) {
        var config = ibv_qp_init_attr.allocate(arena);
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_RC());
        ibv_qp_cap.max_recv_wr(ibv_qp_init_attr.cap(config), 4);
        ibv_qp_cap.max_send_wr(ibv_qp_init_attr.cap(config), 1);
        var pair =
                QueuePairExports.create(
                        DomainAndMemoryExports.allocateDomain(context), config.address());
        TestQueuePairStates.toInit(pair);
        var failed = arena.allocate(ValueLayout.JAVA_LONG);
        for (var number = 0; number < count; number++) {
            var request = ibv_recv_wr.allocate(arena);
            ibv_recv_wr.wr_id(request, number);
            assertThat(DataPathFunctions.postReceive(pair, request.address(), failed.address()))
                    .isZero();
        }
        TestQueuePairStates.toError(pair);
        return pair;
    }

    private static int start(long queue) {
        return poll(queue).start(0);
    }

    private static long number(long queue) {
        return ibv_cq_ex.wr_id(CallerMemory.at(queue, ibv_cq_ex.layout()));
    }

    @Test
    void shouldContainOnlyTheRequestedFunctions() {
        var queue = CallerMemory.at(newQueue(rdma_h.IBV_WC_EX_WITH_BYTE_LEN()), ibv_cq_ex.layout());

        assertThat(ibv_cq_ex.cq_context(queue).address()).isEqualTo(77);
        assertThat(ibv_cq_ex.cqe(queue)).isEqualTo(4);
        assertThat(ibv_cq_ex.start_poll(queue).address()).isNotZero();
        assertThat(ibv_cq_ex.next_poll(queue).address()).isNotZero();
        assertThat(ibv_cq_ex.end_poll(queue).address()).isNotZero();
        assertThat(ibv_cq_ex.read_opcode(queue).address()).isNotZero();
        assertThat(ibv_cq_ex.read_byte_len(queue).address()).isNotZero();
        assertThat(ibv_cq_ex.read_imm_data(queue).address()).isZero();
        assertThat(ibv_cq_ex.read_completion_ts(queue).address()).isZero();
        assertThat(ibv_cq_ex.read_flow_tag(queue).address()).isZero();
    }

    @Test
    void shouldRejectUnsupportedFieldsAndUnknownFlags() {
        assertRejected(Errno.EOPNOTSUPP, () -> newQueue(rdma_h.IBV_WC_EX_WITH_CVLAN()));
        assertRejected(Errno.EOPNOTSUPP, () -> newQueue(rdma_h.IBV_WC_EX_WITH_FLOW_TAG()));
        assertRejected(Errno.EOPNOTSUPP, () -> newQueue(rdma_h.IBV_WC_EX_WITH_TM_INFO()));
        var unknown = config(0);
        ibv_cq_init_attr_ex.comp_mask(unknown, 1 << 20);
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> ControlPathFunctions.createCompletionQueue(context, unknown.address()));
        var flags = config(0);
        ibv_cq_init_attr_ex.comp_mask(flags, rdma_h.IBV_CQ_INIT_ATTR_MASK_FLAGS());
        ibv_cq_init_attr_ex.flags(flags, 1 << 20);
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> ControlPathFunctions.createCompletionQueue(context, flags.address()));
    }

    @Test
    void shouldRemoveCompletionsThatWereReadWhenThePollEnds() {
        var queue = newQueue(TIMESTAMP);
        assertThat(start(queue)).isEqualTo(Errno.ENOENT);
        complete(queue, 3);

        assertThat(start(queue)).isZero();
        assertThat(number(queue)).isZero();
        assertThat(poll(queue).next()).isZero();
        assertThat(number(queue)).isEqualTo(1);
        poll(queue).end();

        assertThat(start(queue)).isZero();
        assertThat(number(queue)).isEqualTo(2);
        assertThat(poll(queue).next()).isEqualTo(Errno.ENOENT);
        poll(queue).end();
        assertThat(start(queue)).isEqualTo(Errno.ENOENT);
    }

    @Test
    void shouldKeepTimestampsWhenItIsResized() {
        var before = System.nanoTime();
        var queue = newQueue(TIMESTAMP);
        complete(queue, 4);
        assertThat(start(queue)).isZero();
        poll(queue).end();
        var after = System.nanoTime();

        CompletionExports.resizeQueue(queue, 3);

        for (var number = 1; number < 4; number++) {
            assertThat(start(queue)).isZero();
            assertThat(number(queue)).isEqualTo(number);
            assertThat(poll(queue).timestamp()).isBetween(before, after);
            poll(queue).end();
        }
    }

    @Test
    void shouldSupportPlainPolls() {
        var queue = newQueue(0);
        complete(queue, 2);
        var taken = ibv_wc.allocateArray(4, arena);

        assertThat(DataPathFunctions.pollCompletions(queue, 4, taken.address())).isEqualTo(2);
        assertThat(ibv_wc.wr_id(ibv_wc.asSlice(taken, 1))).isEqualTo(1);
    }

    @Test
    void shouldRejectOtherPollsAndResizeDuringAPoll() {
        var queue = newQueue(0);
        complete(queue, 3);
        var taken = ibv_wc.allocateArray(4, arena);
        assertThat(start(queue)).isZero();

        assertRejected(
                Errno.EINVAL, () -> DataPathFunctions.pollCompletions(queue, 4, taken.address()));
        assertRejected(Errno.EINVAL, () -> CompletionExports.resizeQueue(queue, 10));

        poll(queue).end();
        assertThat(DataPathFunctions.pollCompletions(queue, 4, taken.address())).isEqualTo(2);
    }

    @Test
    void shouldRejectNextAndEndWithoutStart() {
        var queue = newQueue(0);
        complete(queue, 2);

        assertRejected(Errno.EINVAL, () -> poll(queue).next());
        assertRejected(Errno.EINVAL, () -> poll(queue).end());
        assertThat(start(queue)).isZero();
        assertRejected(Errno.EINVAL, () -> start(queue));
        poll(queue).end();
        var plain = CompletionExports.createQueue(context, 4, 0, 0, 0);
        assertRejected(Errno.EINVAL, () -> start(plain));
    }

    @Test
    void shouldLetOnlyOneThreadPollAtATime() throws Exception {
        var queue = newQueue(0);
        complete(queue, 2);
        assertThat(start(queue)).isZero();
        var other =
                CompletableFuture.supplyAsync(() -> {
                    start(queue);
                    var number = number(queue);
                    poll(queue).end();
                    return number;
                });
        Thread.sleep(50);
        assertThat(other).isNotDone();

        poll(queue).end();

        assertThat(other.get(10, TimeUnit.SECONDS)).isEqualTo(1);
    }

    @Test
    void shouldDropADelayedEventWhenItIsDestroyed() throws InterruptedException {
        var channel = CompletionExports.createChannel(context);
        var queue = CompletionExports.createQueue(context, 4, 0, channel, 0);
        var later = CompletionExports.createQueue(context, 4, 0, channel, 0);
        CompletionQueueObject.of(queue).moderate(3, 20_000);
        CompletionQueueObject.of(later).moderate(3, 20_000);
        DataPathFunctions.requestNotification(queue, 0);
        DataPathFunctions.requestNotification(later, 0);
        var pair = complete(queue, 1);
        QueuePairExports.destroy(pair);
        CompletionExports.destroyQueue(queue);

        complete(later, 1);

        // The delay of the destroyed queue expires before the delay of the other queue.
        assertThat(awaitEvent(channel)).isEqualTo(later);
        var target = arena.allocate(ValueLayout.JAVA_LONG).address();
        assertRejected(Errno.EAGAIN, () -> CompletionExports.getEvent(channel, target, target));
    }

    /** Waits for the next event of a channel, and returns its completion queue. */
    private long awaitEvent(long channel) throws InterruptedException {
        var queue = arena.allocate(ValueLayout.JAVA_LONG);
        var userContext = arena.allocate(ValueLayout.JAVA_LONG);
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (true) {
            try {
                CompletionExports.getEvent(channel, queue.address(), userContext.address());
                return queue.get(ValueLayout.JAVA_LONG, 0);
            } catch (ErrnoException e) {
                assertThat(e.errno()).isEqualTo(Errno.EAGAIN);
                assertThat(deadline - System.nanoTime()).as("time left to wait").isPositive();
                Thread.sleep(1);
            }
        }
    }

    @Test
    void shouldReportAnEventAfterThreeCompletionsOrADelay() throws InterruptedException {
        var channel = CompletionExports.createChannel(context);
        var queue = CompletionExports.createQueue(context, 8, 0, channel, 0);
        var target = arena.allocate(ValueLayout.JAVA_LONG).address();
        CompletionQueueObject.of(queue).moderate(3, 0);
        DataPathFunctions.requestNotification(queue, 0);
        complete(queue, 2);
        assertRejected(Errno.EAGAIN, () -> CompletionExports.getEvent(channel, target, target));
        complete(queue, 1);
        assertThat(CompletionExports.getEvent(channel, target, target)).isZero();

        CompletionQueueObject.of(queue).moderate(3, 20_000);
        DataPathFunctions.requestNotification(queue, 0);
        complete(queue, 1);

        assertThat(awaitEvent(channel)).isEqualTo(queue);
        CompletionExports.acknowledgeEvents(queue, 2);
    }

    @Test
    void shouldReportOnlyTheRawClock() {
        var values = ibv_values_ex.allocate(arena);
        ibv_values_ex.comp_mask(values, rdma_h.IBV_VALUES_MASK_RAW_CLOCK());
        var before = System.nanoTime();
        assertThat(ControlPathFunctions.queryClock(context, values.address())).isZero();
        var clock = ibv_values_ex.raw_clock(values);
        assertThat(timespec.tv_sec(clock)).isZero();
        assertThat(timespec.tv_nsec(clock)).isBetween(before, System.nanoTime());

        ibv_values_ex.comp_mask(values, 1 << 20);
        assertRejected(
                Errno.EOPNOTSUPP, () -> ControlPathFunctions.queryClock(context, values.address()));
    }

    private static ExtendedPoll poll(long queue) {
        return CompletionQueueObject.of(queue).extendedPoll();
    }
}
