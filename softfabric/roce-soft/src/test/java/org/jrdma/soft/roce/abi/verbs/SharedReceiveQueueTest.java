package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.abi.rdma.ibv_async_event;
import org.jrdma.abi.rdma.ibv_device_attr;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.abi.rdma.ibv_srq;
import org.jrdma.abi.rdma.ibv_srq_attr;
import org.jrdma.abi.rdma.ibv_srq_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests shared receive queues as a C program uses them. */
@Timeout(30)
class SharedReceiveQueueTest {

    private static final int BOTH = rdma_h.IBV_SRQ_MAX_WR() | rdma_h.IBV_SRQ_LIMIT();

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

    private MemorySegment config(int receives, int elements, int limit) {
        var config = ibv_srq_init_attr.allocate(arena);
        ibv_srq_init_attr.srq_context(config, MemorySegment.ofAddress(77));
        fill(ibv_srq_init_attr.attr(config), receives, elements, limit);
        return config;
    }

    private static MemorySegment fill(
            MemorySegment attributes, int receives, int elements, int limit) {
        ibv_srq_attr.max_wr(attributes, receives);
        ibv_srq_attr.max_sge(attributes, elements);
        ibv_srq_attr.srq_limit(attributes, limit);
        return attributes;
    }

    private long newQueue(int receives, int elements, int limit) {
        return SharedReceiveQueueExports.create(
                domain, config(receives, elements, limit).address());
    }

    private int modify(long queue, int receives, int limit, int mask) {
        return SharedReceiveQueueExports.modify(
                queue, fill(ibv_srq_attr.allocate(arena), receives, 0, limit).address(), mask);
    }

    private void assertHas(long queue, int receives, int elements, int limit) {
        var attr = ibv_srq_attr.allocate(arena);
        assertThat(SharedReceiveQueueExports.query(queue, attr.address())).isZero();
        assertThat(ibv_srq_attr.max_wr(attr)).isEqualTo(receives);
        assertThat(ibv_srq_attr.max_sge(attr)).isEqualTo(elements);
        assertThat(ibv_srq_attr.srq_limit(attr)).isEqualTo(limit);
    }

    private MemorySegment queuePairConfig(long shared) {
        var config = ibv_qp_init_attr.allocate(arena);
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(completions));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(completions));
        ibv_qp_init_attr.srq(config, MemorySegment.ofAddress(shared));
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_RC());
        var caps = ibv_qp_init_attr.cap(config);
        ibv_qp_cap.max_send_wr(caps, 1);
        ibv_qp_cap.max_recv_wr(caps, 5);
        ibv_qp_cap.max_send_sge(caps, 1);
        ibv_qp_cap.max_recv_sge(caps, 5);
        return config;
    }

    /** Posts a receive that claims to have {@code elements} buffers but contains none. */
    private int post(long queue, int elements) {
        var request = ibv_recv_wr.allocate(arena);
        ibv_recv_wr.num_sge(request, elements);
        var failed = arena.allocate(ValueLayout.JAVA_LONG);
        var errno = DataPathFunctions.postSharedReceive(queue, request.address(), failed.address());
        assertThat(failed.get(ValueLayout.JAVA_LONG, 0))
                .isEqualTo(errno == 0 ? 0 : request.address());
        return errno;
    }

    @Test
    void shouldHaveTheRequestedCapacity() {
        var queue = newQueue(10, 3, 99);

        var structure = CallerMemory.at(queue, ibv_srq.layout());
        assertThat(ibv_srq.context(structure).address()).isEqualTo(context);
        assertThat(ibv_srq.srq_context(structure).address()).isEqualTo(77);
        assertThat(ibv_srq.pd(structure).address()).isEqualTo(domain);
        assertHas(queue, 10, 3, 0);
        var least = config(1, 0, 0);
        assertHas(SharedReceiveQueueExports.create(domain, least.address()), 1, 1, 0);
        assertThat(ibv_srq_attr.max_sge(ibv_srq_init_attr.attr(least))).isEqualTo(1);
    }

    @Test
    void shouldAcceptCapacitiesUpToTheLimitsOfTheDevice() {
        var attrs = ibv_device_attr.allocate(arena);
        DeviceExports.queryDevice(context, attrs.address());
        var receives = ibv_device_attr.max_srq_wr(attrs);
        var elements = ibv_device_attr.max_srq_sge(attrs);

        assertHas(newQueue(receives, elements, 0), receives, elements, 0);

        assertThat(ibv_device_attr.max_srq(attrs)).isPositive();
        assertThat(ibv_device_attr.device_cap_flags(attrs) & rdma_h.IBV_DEVICE_SRQ_RESIZE())
                .isNotZero();
        assertRejected(Errno.EINVAL, () -> newQueue(0, 1, 0));
        assertRejected(Errno.EINVAL, () -> newQueue(receives + 1, 1, 0));
        assertRejected(Errno.EINVAL, () -> newQueue(-1, 1, 0));
        assertRejected(Errno.EINVAL, () -> newQueue(1, elements + 1, 0));
        assertRejected(Errno.EINVAL, () -> newQueue(1, -1, 0));
    }

    @Test
    void shouldChangeAllAttributesInTheMaskOrNone() {
        var queue = newQueue(4, 1, 0);

        assertThat(modify(queue, 8, 99, rdma_h.IBV_SRQ_MAX_WR())).isZero();
        assertHas(queue, 8, 1, 0);
        assertThat(modify(queue, 99, 6, rdma_h.IBV_SRQ_LIMIT())).isZero();
        assertHas(queue, 8, 1, 6);
        assertRejected(Errno.EINVAL, () -> modify(queue, 5, 0, rdma_h.IBV_SRQ_MAX_WR()));
        assertRejected(Errno.EINVAL, () -> modify(queue, 0, 9, rdma_h.IBV_SRQ_LIMIT()));
        assertRejected(Errno.EINVAL, () -> modify(queue, 0, 0, BOTH));
        assertRejected(Errno.EINVAL, () -> modify(queue, 9, 10, BOTH));
        assertHas(queue, 8, 1, 6);
        assertThat(modify(queue, 5, 5, BOTH)).isZero();
        assertHas(queue, 5, 1, 5);
    }

    @Test
    void shouldAcceptReceivesUntilFullAndKeepThemWhenResized() {
        var queue = newQueue(2, 1, 0);
        assertThat(post(queue, 0)).isZero();
        assertThat(post(queue, 2)).as("two buffers").isEqualTo(Errno.EINVAL);
        assertThat(post(queue, 0)).isZero();
        assertThat(post(queue, 0)).isEqualTo(Errno.ENOMEM);

        assertRejected(Errno.EINVAL, () -> modify(queue, 1, 0, rdma_h.IBV_SRQ_MAX_WR()));
        assertThat(modify(queue, 3, 0, rdma_h.IBV_SRQ_MAX_WR())).isZero();

        assertThat(post(queue, 0)).isZero();
        assertThat(post(queue, 0)).isEqualTo(Errno.ENOMEM);
    }

    @Test
    void shouldBeUsedInsteadOfTheReceiveQueueOfAQueuePair() {
        var queue = newQueue(2, 1, 0);
        var config = queuePairConfig(queue);

        var queuePair = QueuePairExports.create(domain, config.address());

        var caps = ibv_qp_init_attr.cap(config);
        assertThat(ibv_qp_cap.max_recv_wr(caps)).isZero();
        assertThat(ibv_qp_cap.max_recv_sge(caps)).isZero();
        var structure = CallerMemory.at(queuePair, ibv_qp.layout());
        assertThat(ibv_qp.srq(structure).address()).isEqualTo(queue);
        var initial = ibv_qp_init_attr.allocate(arena);
        QueuePairExports.query(
                queuePair, ibv_qp_attr.allocate(arena).address(), 0, initial.address());
        assertThat(ibv_qp_init_attr.srq(initial).address()).isEqualTo(queue);
        TestQueuePairStates.toInit(queuePair);
        var request = ibv_recv_wr.allocate(arena).address();
        assertThat(
                        DataPathFunctions.postReceive(
                                queuePair,
                                request,
                                arena.allocate(ValueLayout.JAVA_LONG).address()))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void shouldRejectDestructionWhileInUse() {
        var queue = newQueue(2, 1, 0);
        var queuePair = QueuePairExports.create(domain, queuePairConfig(queue).address());

        assertRejected(Errno.EBUSY, () -> SharedReceiveQueueExports.destroy(queue));
        QueuePairExports.destroy(queuePair);
        assertRejected(Errno.EBUSY, () -> DomainAndMemoryExports.deallocateDomain(domain));
        assertThat(SharedReceiveQueueExports.destroy(queue)).isZero();
        assertThat(DomainAndMemoryExports.deallocateDomain(domain)).isZero();

        assertThat(DataPathFunctions.postSharedReceive(queue, 0, 0)).isEqualTo(Errno.EINVAL);
        assertRejected(Errno.EINVAL, () -> SharedReceiveQueueExports.destroy(queue));
        assertRejected(Errno.EINVAL, () -> modify(queue, 1, 0, BOTH));
        assertRejected(Errno.EINVAL, () -> SharedReceiveQueueExports.query(queue, queue));
    }

    @Test
    void shouldRejectQueuePairsOfAnotherContext() {
        var queue = newQueue(2, 1, 0);
        var otherContext = DeviceExports.openDevice(device.structure().address());
        var otherDomain = DomainAndMemoryExports.allocateDomain(otherContext);
        var config = queuePairConfig(queue);
        var otherCompletions = CompletionExports.createQueue(otherContext, 16, 0, 0, 0);
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(otherCompletions));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(otherCompletions));

        assertRejected(Errno.EINVAL, () -> QueuePairExports.create(otherDomain, config.address()));
        assertRejected(
                Errno.EINVAL,
                () -> QueuePairExports.create(domain, queuePairConfig(completions).address()));

        DeviceExports.closeDevice(otherContext);
    }

    @Test
    void shouldBeDestroyedOnlyAfterItsEventsAreAcknowledged() throws Exception {
        var queue = newQueue(2, 1, 0);
        var events = SharedReceiveQueueObject.of(queue).asyncEvents();
        events.taken();

        var destroyer = Thread.ofPlatform().start(() -> SharedReceiveQueueExports.destroy(queue));
        destroyer.join(50);
        assertThat(destroyer.isAlive()).isTrue();
        events.acknowledged(1);
        destroyer.join();

        assertRejected(Errno.EINVAL, () -> SharedReceiveQueueExports.destroy(queue));
    }

    @Test
    void shouldReportTheLastReceiveWhenAQueuePairFails() throws Exception {
        var queue = newQueue(2, 1, 0);
        var queuePair = QueuePairExports.create(domain, queuePairConfig(queue).address());
        TestQueuePairStates.toInit(queuePair);
        TestQueuePairStates.toError(queuePair);
        var event = ibv_async_event.allocate(arena);
        assertThat(DeviceExports.getAsyncEvent(context, event.address())).isZero();
        assertThat(ibv_async_event.event_type(event))
                .isEqualTo(rdma_h.IBV_EVENT_QP_LAST_WQE_REACHED());
        assertRejected(Errno.EAGAIN, () -> DeviceExports.getAsyncEvent(context, event.address()));

        DeviceExports.acknowledgeAsyncEvent(event.address());
    }
}
