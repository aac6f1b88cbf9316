package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.roce.abi.ExportedFunctionTestSupport.assertRejected;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_global_route;
import org.jrdma.abi.rdma.ibv_mw;
import org.jrdma.abi.rdma.ibv_mw_bind;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_wc;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.jrdma.soft.roce.abi.GidCodec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests memory windows as a C program uses them. */
class MemoryWindowObjectTest {

    private static final int TYPE_1 = rdma_h.IBV_MW_TYPE_1();
    private static final int TYPE_2 = rdma_h.IBV_MW_TYPE_2();

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment attributes = ibv_qp_attr.allocate(arena);
    private final MemorySegment completion = ibv_wc.allocate(arena);
    private final MemorySegment memory = arena.allocate(64);
    private final long context;
    private final long domain;
    private final long queue;
    private final long queuePair;
    private final long region;

    /**
     * Creates an unreliable queue pair in the RESET state, and a memory region to which windows can
     * be bound.
     */
    MemoryWindowObjectTest() {
        context =
                DeviceExports.openDevice(
                        ExportedFunctionTestSupport.newDevice().structure().address());
        domain = DomainAndMemoryExports.allocateDomain(context);
        queue = CompletionExports.createQueue(context, 16, 0, 0, 0);
        var config = ibv_qp_init_attr.allocate(arena);
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_UC());
        ibv_qp_init_attr.sq_sig_all(config, 1);
        ibv_qp_cap.max_send_wr(ibv_qp_init_attr.cap(config), 1);
        queuePair = QueuePairExports.create(domain, config.address());
        region =
                DomainAndMemoryExports.register(
                        domain,
                        memory.address(),
                        64,
                        rdma_h.IBV_ACCESS_LOCAL_WRITE() | rdma_h.IBV_ACCESS_MW_BIND());
    }

    @AfterEach
    void close() {
        DeviceExports.closeDevice(context);
        arena.close();
    }

    private void connectToItself() {
        ibv_qp_attr.port_num(attributes, (byte) DeviceLimits.PORT);
        step(
                rdma_h.IBV_QPS_INIT(),
                rdma_h.IBV_QP_PKEY_INDEX() | rdma_h.IBV_QP_PORT() | rdma_h.IBV_QP_ACCESS_FLAGS());
        var route = ibv_qp_attr.ah_attr(attributes);
        ibv_ah_attr.is_global(route, (byte) 1);
        ibv_ah_attr.port_num(route, (byte) DeviceLimits.PORT);
        GidCodec.write(
                ContextObject.of(context).port().address(),
                ibv_global_route.dgid(ibv_ah_attr.grh(route)));
        ibv_qp_attr.path_mtu(attributes, rdma_h.IBV_MTU_1024());
        ibv_qp_attr.dest_qp_num(
                attributes, ibv_qp.qp_num(CallerMemory.at(queuePair, ibv_qp.layout())));
        step(
                rdma_h.IBV_QPS_RTR(),
                rdma_h.IBV_QP_AV()
                        | rdma_h.IBV_QP_PATH_MTU()
                        | rdma_h.IBV_QP_DEST_QPN()
                        | rdma_h.IBV_QP_RQ_PSN());
        step(rdma_h.IBV_QPS_RTS(), rdma_h.IBV_QP_SQ_PSN());
    }

    /** Changes the state of the queue pair, and the attributes in a mask. */
    private void step(int state, int mask) {
        ibv_qp_attr.qp_state(attributes, state);
        QueuePairExports.modify(queuePair, attributes.address(), rdma_h.IBV_QP_STATE() | mask);
    }

    /** Returns a bind request for the start of the region; a length of 0 unbinds the window. */
    private MemorySegment bind(long length) {
        var config = ibv_mw_bind.allocate(arena);
        ibv_mw_bind.wr_id(config, 7);
        var info = ibv_mw_bind.bind_info(config);
        ibv_mw_bind_info.mr(info, MemorySegment.ofAddress(length == 0 ? 0 : region));
        ibv_mw_bind_info.addr(info, memory.address());
        ibv_mw_bind_info.length(info, length);
        ibv_mw_bind_info.mw_access_flags(info, rdma_h.IBV_ACCESS_REMOTE_WRITE());
        return config;
    }

    /** Binds a window and waits for the completion. */
    private void complete(long window, MemorySegment config) {
        assertThat(WindowAndDeviceMemoryFunctions.bindWindow(queuePair, window, config.address()))
                .isZero();
        var deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (DataPathFunctions.pollCompletions(queue, 1, completion.address()) == 0) {
            assertThat(deadline - System.nanoTime()).as("time left to wait").isPositive();
            Thread.onSpinWait();
        }
        assertThat(ibv_wc.status(completion)).isEqualTo(rdma_h.IBV_WC_SUCCESS());
        assertThat(ibv_wc.opcode(completion)).isEqualTo(rdma_h.IBV_WC_BIND_MW());
        assertThat(ibv_wc.wr_id(completion)).isEqualTo(7);
    }

    private static int key(long window) {
        return ibv_mw.rkey(CallerMemory.at(window, ibv_mw.layout()));
    }

    @Test
    void shouldReportTheNewKeyAfterABind() {
        connectToItself();
        var window = WindowAndDeviceMemoryFunctions.allocateWindow(domain, TYPE_1);
        for (var i = 0; i < 300; i++) {
            var before = key(window);

            complete(window, bind(64));

            assertThat(key(window) >>> 8).isEqualTo(before >>> 8);
            assertThat(key(window) & 0xff).isEqualTo(before + 1 & 0xff);
        }
    }

    @Test
    void shouldRejectDeregistrationWhileAWindowIsBound() {
        connectToItself();
        var window = WindowAndDeviceMemoryFunctions.allocateWindow(domain, TYPE_1);
        complete(window, bind(64));

        assertRejected(Errno.EBUSY, () -> DomainAndMemoryExports.deregister(region));
        assertRejected(
                Errno.EBUSY,
                () ->
                        DomainAndMemoryExports.change(
                                region,
                                rdma_h.IBV_REREG_MR_CHANGE_ACCESS(),
                                0,
                                0,
                                0,
                                rdma_h.IBV_ACCESS_LOCAL_WRITE()));

        complete(window, bind(0));
        assertThat(DomainAndMemoryExports.deregister(region)).isZero();
    }

    @Test
    void shouldRejectDeallocationOfADomainWithAWindow() {
        var other = DomainAndMemoryExports.allocateDomain(context);
        var window = WindowAndDeviceMemoryFunctions.allocateWindow(other, TYPE_2);

        assertRejected(Errno.EBUSY, () -> DomainAndMemoryExports.deallocateDomain(other));

        assertThat(WindowAndDeviceMemoryFunctions.deallocateWindow(window)).isZero();
        assertRejected(Errno.EINVAL, () -> WindowAndDeviceMemoryFunctions.deallocateWindow(window));
        assertThat(DomainAndMemoryExports.deallocateDomain(other)).isZero();
    }

    @Test
    void shouldCloseAContextWithABoundWindowOlderThanItsRegion() {
        var other = new MemoryWindowObjectTest();
        other.connectToItself();
        var window = WindowAndDeviceMemoryFunctions.allocateWindow(other.domain, TYPE_1);
        var newer =
                DomainAndMemoryExports.register(
                        other.domain, other.memory.address(), 64, rdma_h.IBV_ACCESS_MW_BIND());
        var config = other.bind(64);
        var info = ibv_mw_bind.bind_info(config);
        ibv_mw_bind_info.mr(info, MemorySegment.ofAddress(newer));
        ibv_mw_bind_info.mw_access_flags(info, 0);
        other.complete(window, config);

        other.close();

        assertRejected(Errno.EINVAL, () -> DomainAndMemoryExports.deregister(newer));
        assertRejected(Errno.EINVAL, () -> WindowAndDeviceMemoryFunctions.deallocateWindow(window));
    }

    @Test
    void shouldRejectAnUnknownWindowType() {
        assertRejected(
                Errno.EINVAL, () -> WindowAndDeviceMemoryFunctions.allocateWindow(domain, 0));
        assertRejected(
                Errno.EINVAL, () -> WindowAndDeviceMemoryFunctions.allocateWindow(domain, 3));
        assertRejected(
                Errno.EINVAL, () -> WindowAndDeviceMemoryFunctions.allocateWindow(queue, TYPE_1));
    }

    @Test
    void shouldRejectABindBeforeReadyToSend() {
        var window = WindowAndDeviceMemoryFunctions.allocateWindow(domain, TYPE_1);

        assertThat(WindowAndDeviceMemoryFunctions.bindWindow(queuePair, window, bind(64).address()))
                .isEqualTo(Errno.EINVAL);
    }

    @Test
    void shouldRejectABindByTheFunctionForTheOtherType() {
        connectToItself();
        var one = WindowAndDeviceMemoryFunctions.allocateWindow(domain, TYPE_1);
        var two = WindowAndDeviceMemoryFunctions.allocateWindow(domain, TYPE_2);

        assertThat(WindowAndDeviceMemoryFunctions.bindWindow(queuePair, two, bind(64).address()))
                .isEqualTo(Errno.EINVAL);
        assertThat(post(rdma_h.IBV_WR_BIND_MW(), one)).isEqualTo(Errno.EINVAL);
        assertThat(post(rdma_h.IBV_WR_BIND_MW(), 0)).isEqualTo(Errno.EINVAL);
        assertThat(post(rdma_h.IBV_WR_BIND_MW(), two)).isZero();
    }

    @Test
    void shouldRejectInvalidationOverAnUnreliableConnection() {
        connectToItself();

        assertThat(post(rdma_h.IBV_WR_LOCAL_INV(), 0)).isEqualTo(Errno.EINVAL);
        assertThat(post(rdma_h.IBV_WR_SEND_WITH_INV(), 0)).isEqualTo(Errno.EINVAL);
    }

    private int post(int opcode, long window) {
        var request = ibv_send_wr.allocate(arena);
        ibv_send_wr.opcode(request, opcode);
        var config = ibv_send_wr.bind_mw(request);
        ibv_send_wr.bind_mw.mw(config, MemorySegment.ofAddress(window));
        MemorySegment.copy(
                ibv_mw_bind.bind_info(bind(64)),
                0,
                ibv_send_wr.bind_mw.bind_info(config),
                0,
                ibv_mw_bind_info.layout().byteSize());
        var failed = arena.allocate(ValueLayout.JAVA_LONG);
        return DataPathFunctions.postSend(queuePair, request.address(), failed.address());
    }
}
