package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrorConvention;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that invalid calls by C programs fail with the correct error code. */
class RefusalsTest {

    private static final int LOCAL_WRITE = rdma_h.IBV_ACCESS_LOCAL_WRITE();

    private final Arena arena = Arena.ofConfined();
    private long context;
    private long domain;
    private long queue;

    @BeforeEach
    void open() {
        var device = ExportedFunctionTestSupport.newDevice();
        context = DeviceExports.openDevice(device.structure().address());
        domain = DomainAndMemoryExports.allocateDomain(context);
        queue = CompletionExports.createQueue(context, 16, 0, 0, 0);
    }

    @AfterEach
    void close() {
        DeviceExports.closeDevice(context);
        arena.close();
    }

    @Test
    void shouldRejectNullPointersAndObjectsOfAnotherType() {
        assertRejected(Errno.EINVAL, () -> DomainAndMemoryExports.allocateDomain(0));
        assertRejected(Errno.EINVAL, () -> DomainAndMemoryExports.deallocateDomain(queue));
        assertRejected(Errno.EINVAL, () -> DeviceExports.queryDevice(context, 0));
    }

    @Test
    void shouldRejectDestroyedObjects() {
        CompletionExports.destroyQueue(queue);

        assertRejected(Errno.EINVAL, () -> CompletionExports.destroyQueue(queue));
        assertThat(DataPathFunctions.pollCompletions(queue, 1, 0)).isEqualTo(-1);
        assertThat(DataPathFunctions.requestNotification(queue, 0)).isEqualTo(Errno.EINVAL);
    }

    @Test
    void shouldRejectDestructionOfObjectsInUse() {
        var memory = arena.allocate(64);
        var region = DomainAndMemoryExports.register(domain, memory.address(), 64, LOCAL_WRITE);
        var queuePair = newQueuePair();

        assertRejected(Errno.EBUSY, () -> DomainAndMemoryExports.deallocateDomain(domain));
        assertRejected(Errno.EBUSY, () -> CompletionExports.destroyQueue(queue));

        assertThat(DomainAndMemoryExports.deregister(region)).isZero();
        assertThat(QueuePairExports.destroy(queuePair)).isZero();
        assertThat(DomainAndMemoryExports.deallocateDomain(domain)).isZero();
    }

    @Test
    void shouldRejectUnmappedMemory() {
        var readable = arena.allocate(64);

        assertRejected(
                Errno.EFAULT,
                () -> DomainAndMemoryExports.register(domain, 4096, 4096, LOCAL_WRITE));
        assertRejected(
                Errno.EFAULT,
                () ->
                        DomainAndMemoryExports.register(
                                domain, readable.address(), 1L << 46, LOCAL_WRITE));
        assertRejected(
                Errno.EINVAL,
                () -> DomainAndMemoryExports.register(domain, readable.address(), 0, LOCAL_WRITE));
        assertRejected(
                Errno.EINVAL,
                () ->
                        DomainAndMemoryExports.register(
                                domain, readable.address(), 64, rdma_h.IBV_ACCESS_REMOTE_WRITE()));
        assertRejected(
                Errno.EOPNOTSUPP,
                () -> DomainAndMemoryExports.register(domain, readable.address(), 64, 1 << 30));
    }

    @Test
    void shouldRejectInvalidQueueSizes() {
        assertRejected(Errno.EINVAL, () -> CompletionExports.createQueue(context, 0, 0, 0, 0));
        assertRejected(
                Errno.EINVAL,
                () ->
                        CompletionExports.createQueue(
                                context, DeviceLimits.MAX_COMPLETIONS + 1, 0, 0, 0));
        assertRejected(Errno.EINVAL, () -> CompletionExports.createQueue(context, 1, 0, 0, 1));
    }

    @Test
    void shouldRejectMoreQueuePairsThanTheMaximum() {
        for (var i = 0; i < DeviceLimits.MAX_QUEUE_PAIRS; i++) {
            newQueuePair();
        }

        assertRejected(Errno.ENOMEM, this::newQueuePair);
    }

    @Test
    void shouldRejectAnInvalidPortOrIndex() {
        var target = arena.allocate(64).address();

        assertRejected(Errno.EINVAL, () -> DeviceExports.queryGid(context, (byte) 2, 0, target));
        assertRejected(Errno.EINVAL, () -> DeviceExports.queryGid(context, (byte) 1, 1, target));
        assertRejected(Errno.EINVAL, () -> DeviceExports.queryGid(context, (byte) 1, -1, target));
        assertRejected(
                Errno.EINVAL, () -> DeviceExports.queryPartitionKey(context, (byte) 1, 1, target));
        assertRejected(Errno.EINVAL, () -> DeviceExports.queryGidTable(context, target, 0, 0, 32));
        assertRejected(Errno.EINVAL, () -> DeviceExports.queryGidTable(context, target, 1, 1, 32));
    }

    @Test
    void shouldRejectAnInvalidTransitionAndKeepItsState() {
        var queuePair = newQueuePair();
        var attributes = ibv_qp_attr.allocate(arena);
        ibv_qp_attr.qp_state(attributes, rdma_h.IBV_QPS_RTS());

        assertRejected(
                Errno.EINVAL,
                () ->
                        QueuePairExports.modify(
                                queuePair, attributes.address(), rdma_h.IBV_QP_STATE()));
        ibv_qp_attr.qp_state(attributes, 99);
        assertRejected(
                Errno.EINVAL,
                () ->
                        QueuePairExports.modify(
                                queuePair, attributes.address(), rdma_h.IBV_QP_STATE()));

        var initial = ibv_qp_init_attr.allocate(arena);
        QueuePairExports.query(queuePair, attributes.address(), 0, initial.address());
        assertThat(ibv_qp_attr.qp_state(attributes)).isEqualTo(rdma_h.IBV_QPS_RESET());
    }

    @Test
    void shouldRejectARequestInTheWrongStateAndReportIt() {
        var queuePair = newQueuePair();
        var request = ibv_send_wr.allocate(arena);
        var failed = arena.allocate(ValueLayout.JAVA_LONG);

        assertThat(DataPathFunctions.postSend(queuePair, request.address(), failed.address()))
                .isEqualTo(Errno.EINVAL);
        assertThat(failed.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(request.address());
        assertThat(DataPathFunctions.postReceive(queuePair, request.address(), failed.address()))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void shouldCloseRemainingObjectsWithoutWaitingForAcknowledgements() {
        newQueuePair();
        DomainAndMemoryExports.register(domain, arena.allocate(64).address(), 64, LOCAL_WRITE);
        CompletionExports.createChannel(context);

        DeviceExports.closeDevice(context);

        assertRejected(Errno.EINVAL, () -> DomainAndMemoryExports.deallocateDomain(domain));
        assertRejected(Errno.EINVAL, () -> CompletionExports.destroyQueue(queue));
        open();
    }

    @Test
    void shouldFailInsteadOfBlockingIfThereIsNoEvent() {
        var channel = CompletionExports.createChannel(context);
        var target = arena.allocate(64).address();

        assertRejected(Errno.EAGAIN, () -> CompletionExports.getEvent(channel, target, target + 8));
        assertRejected(Errno.EAGAIN, () -> DeviceExports.getAsyncEvent(context, target));
    }

    @Test
    void shouldConvertUnexpectedExceptionsToAnErrorCode() throws Throwable {
        var failing =
                MethodHandles.lookup()
                        .findStatic(RefusalsTest.class, "fail", MethodType.methodType(int.class));

        assertThat((int) ErrorConvention.ERRNO.guard(failing).handle().invokeExact())
                .isEqualTo(Errno.EIO);
        assertThat((int) ErrorConvention.MINUS_ONE.guard(failing).handle().invokeExact())
                .isEqualTo(-1);
    }

    static int fail() {
        throw new IllegalStateException("thrown on purpose");
    }

    private long newQueuePair() {
        var config = ibv_qp_init_attr.allocate(arena);
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_RC());
        var caps = ibv_qp_init_attr.cap(config);
        ibv_qp_cap.max_send_wr(caps, 1);
        ibv_qp_cap.max_recv_wr(caps, 1);
        ibv_qp_cap.max_send_sge(caps, 1);
        ibv_qp_cap.max_recv_sge(caps, 1);
        return QueuePairExports.create(domain, config.address());
    }
}
