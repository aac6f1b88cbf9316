package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_ex;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_qp_init_attr_ex;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests posts through {@code struct ibv_qp_ex} as a C program makes them, including invalid ones.
 */
@Timeout(30)
class ExtendedSendTest {

    private static final int SEND = rdma_h.IBV_QP_EX_WITH_SEND();
    private static final int REQUESTS = 4;
    private static final int INLINE = 32;

    private final Arena arena = Arena.ofConfined();
    private DeviceObject device;
    private long context;
    private long domain;
    private long completions;

    @BeforeEach
    void open() {
        device = ExportedFunctionTestSupport.newDevice();
        context = DeviceExports.openDevice(device.structure().address());
        domain = DomainAndMemoryExports.allocateDomain(context);
        completions = CompletionExports.createQueue(context, 16, 0, 0, 0);
    }

    @AfterEach
    void close() {
        DeviceExports.closeDevice(context);
        arena.close();
    }

    private MemorySegment config(int type, long operations) {
        var config = ibv_qp_init_attr_ex.allocate(arena);
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(completions));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(completions));
        ibv_qp_init_attr.qp_type(config, type);
        var caps = ibv_qp_init_attr.cap(config);
        ibv_qp_cap.max_send_wr(caps, REQUESTS);
        ibv_qp_cap.max_send_sge(caps, 2);
        ibv_qp_cap.max_inline_data(caps, INLINE);
        ibv_qp_init_attr_ex.pd(config, MemorySegment.ofAddress(domain));
        ibv_qp_init_attr_ex.send_ops_flags(config, operations);
        ibv_qp_init_attr_ex.comp_mask(
                config, rdma_h.IBV_QP_INIT_ATTR_PD() | rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS());
        return config;
    }

    private long create(MemorySegment config) {
        return ControlPathFunctions.createQueuePair(context, config.address());
    }

    /** Creates a queue pair in the error state, which flushes its work requests. */
    private long newQueuePair() {
        var made = create(config(rdma_h.IBV_QPT_RC(), SEND));
        TestQueuePairStates.toInit(made);
        TestQueuePairStates.toError(made);
        return made;
    }

    private static void send(long queuePair, long number) {
        ibv_qp_ex.wr_id(CallerMemory.at(queuePair, ibv_qp_ex.layout()), number);
        sends(queuePair).send();
    }

    private int completed() {
        return DataPathFunctions.pollCompletions(
                completions, 16, ibv_wc.allocateArray(16, arena).address());
    }

    @Test
    void shouldPostTheRequestsOnlyAtTheEnd() {
        var pair = newQueuePair();
        sends(pair).start();
        send(pair, 11);
        send(pair, 12);
        assertThat(completed()).isZero();

        assertThat(sends(pair).complete()).isZero();

        var taken = ibv_wc.allocateArray(16, arena);
        assertThat(DataPathFunctions.pollCompletions(completions, 16, taken.address()))
                .isEqualTo(2);
        assertThat(ibv_wc.wr_id(taken)).isEqualTo(11);
        assertThat(ibv_wc.wr_id(ibv_wc.asSlice(taken, 1))).isEqualTo(12);
        assertThat(ibv_wc.status(taken)).isEqualTo(rdma_h.IBV_WC_WR_FLUSH_ERR());
    }

    @Test
    void shouldPostNothingAfterAnAbort() {
        var pair = newQueuePair();
        sends(pair).start();
        send(pair, 1);
        sends(pair).abort();

        assertThat(completed()).isZero();
        sends(pair).start();
        assertThat(sends(pair).complete()).isZero();
        assertThat(completed()).isZero();
    }

    @Test
    void shouldPostNoneIfOneRequestIsInvalid() {
        var pair = newQueuePair();
        sends(pair).start();
        send(pair, 1);
        send(pair, 2);
        assertRejected(Errno.EINVAL, () -> sends(pair).setElements(3, 0));
        assertRejected(Errno.EINVAL, () -> send(pair, 3));
        assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
        assertThat(completed()).isZero();

        sends(pair).start();
        send(pair, 1);
        sends(pair).compareAndSwap(0, 3, 0, 0); // The address is not aligned to 8 bytes.
        assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
        assertThat(completed()).isZero();
    }

    @Test
    void shouldRejectNullPointers() {
        var pair = newQueuePair();
        for (var invalid :
                List.<Runnable>of(
                        () -> sends(pair).setElements(1, 0),
                        () -> sends(pair).setInline(0, 8),
                        () -> sends(pair).setInlines(1, 0))) {
            sends(pair).start();
            send(pair, 1);
            assertRejected(Errno.EINVAL, invalid::run);
            assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
        }
        assertThat(completed()).isZero();
    }

    @Test
    void shouldRejectInvalidAtomicWritesAndFlushes() {
        var pair = newQueuePair();
        for (var invalid :
                List.<Runnable>of(
                        () -> sends(pair).atomicWrite(0, 8, 0),
                        () -> sends(pair).flush(0, 0, 1L << 32, (byte) 1, (byte) 0))) {
            sends(pair).start();
            assertRejected(Errno.EINVAL, invalid::run);
            assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
        }
        var value = arena.allocate(Long.BYTES).address();
        for (var valid :
                List.<Runnable>of(
                        () -> sends(pair).atomicWrite(0, 8, value),
                        () -> sends(pair).flush(0, 0, 1, (byte) 1, (byte) 0))) {
            sends(pair).start();
            valid.run();
            sends(pair).setElement(0, value, 8); // Neither operation accepts a buffer.
            assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
        }
        assertThat(completed()).isZero();
    }

    @Test
    void shouldRejectExtendedOperationsInAPlainPost() {
        var pair = newQueuePair();
        var request = ibv_send_wr.allocate(arena);
        var failed = arena.allocate(Long.BYTES).address();
        for (var opcode : List.of(rdma_h.IBV_WR_ATOMIC_WRITE(), rdma_h.IBV_WR_FLUSH())) {
            ibv_send_wr.opcode(request, opcode);
            assertThat(DataPathFunctions.postSend(pair, request.address(), failed))
                    .isEqualTo(Errno.EINVAL);
        }
    }

    @Test
    void shouldRejectMoreRequestsOrDataThanTheCapacity() {
        var pair = newQueuePair();
        sends(pair).start();
        for (var number = 0; number < REQUESTS; number++) {
            send(pair, number);
        }
        assertRejected(Errno.ENOMEM, () -> send(pair, 99));
        assertThat(sends(pair).complete()).isEqualTo(Errno.ENOMEM);

        sends(pair).start();
        send(pair, 1);
        var data = arena.allocate(INLINE);
        sends(pair).setInline(data.address(), INLINE);
        assertRejected(Errno.EINVAL, () -> sends(pair).setInline(data.address(), INLINE + 1));
        assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
        assertThat(completed()).isZero();
    }

    @Test
    void shouldRejectSettersAndEndsWithoutARequest() {
        var pair = newQueuePair();
        assertRejected(Errno.EINVAL, () -> send(pair, 1));
        assertRejected(Errno.EINVAL, () -> sends(pair).complete());
        assertRejected(Errno.EINVAL, () -> sends(pair).abort());
        sends(pair).start();
        assertRejected(Errno.EINVAL, () -> sends(pair).start());
        assertRejected(Errno.EINVAL, () -> sends(pair).setElement(0, 0, 0));
        assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
    }

    @Test
    void shouldRejectPostsBeforeReadyToSend() {
        var pair = create(config(rdma_h.IBV_QPT_RC(), SEND));
        sends(pair).start();
        send(pair, 1);
        assertThat(sends(pair).complete()).isEqualTo(Errno.EINVAL);
    }

    @Test
    void shouldLetOnlyOneThreadPostAtATime() throws Exception {
        var pair = newQueuePair();
        sends(pair).start();
        var other =
                CompletableFuture.supplyAsync(() -> {
                    sends(pair).start();
                    return sends(pair).complete();
                });
        Thread.sleep(50);
        assertThat(other).isNotDone();

        assertThat(sends(pair).complete()).isZero();

        assertThat(other.get(10, TimeUnit.SECONDS)).isZero();
    }

    @Test
    void shouldRejectOperationsThatTheTypeDoesNotSupport() {
        var read = rdma_h.IBV_QP_EX_WITH_RDMA_READ();
        assertThat(create(config(rdma_h.IBV_QPT_RC(), read))).isNotZero();
        assertRejected(Errno.EOPNOTSUPP, () -> create(config(rdma_h.IBV_QPT_UC(), read)));
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> create(config(rdma_h.IBV_QPT_UD(), rdma_h.IBV_QP_EX_WITH_RDMA_WRITE())));
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> create(config(rdma_h.IBV_QPT_RC(), rdma_h.IBV_QP_EX_WITH_TSO())));
        var unknown = config(rdma_h.IBV_QPT_RC(), SEND);
        ibv_qp_init_attr_ex.comp_mask(unknown, rdma_h.IBV_QP_INIT_ATTR_MAX_TSO_HEADER());
        assertRejected(Errno.EOPNOTSUPP, () -> create(unknown));
        var noDomain = config(rdma_h.IBV_QPT_RC(), SEND);
        ibv_qp_init_attr_ex.comp_mask(noDomain, rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS());
        assertRejected(Errno.EINVAL, () -> create(noDomain));
    }

    @Test
    void shouldBeExtendedOnlyIfOperationsAreRequested() {
        var extended = create(config(rdma_h.IBV_QPT_RC(), SEND));
        assertThat(QueuePairExports.extended(extended)).isEqualTo(extended);
        var plain = config(rdma_h.IBV_QPT_RC(), SEND);
        ibv_qp_init_attr_ex.comp_mask(plain, rdma_h.IBV_QP_INIT_ATTR_PD());
        var made = create(plain);
        assertThat(QueuePairExports.extended(made)).isZero();
        assertRejected(Errno.EINVAL, () -> sends(made).start());
    }

    private static ExtendedSends sends(long queuePair) {
        return QueuePairObject.of(queuePair).extendedSends();
    }
}
