package org.jrdma.soft.roce.abi.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_ah_attr;
import org.jrdma.abi.rdma.ibv_global_route;
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
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ExportedFunctionTestSupport;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.engine.RoceGid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests a queue pair whose send queue is drained, and the attributes that can be changed in that
 * state.
 */
@Timeout(20)
class SendQueueDrainTest {

    private static final int STATE = rdma_h.IBV_QP_STATE();

    /** An address at which no port is open. */
    private static final RoceGid ABSENT = RoceGid.ipv4(127 << 24 | 79 << 16 | 1);

    private final Arena arena = Arena.ofConfined();
    private final MemorySegment attributes = ibv_qp_attr.allocate(arena);
    private final long context;
    private final long queue;
    private final long queuePair;

    /** Creates a queue pair, which the tests connect to itself or to an absent peer. */
    SendQueueDrainTest() {
        var device = ExportedFunctionTestSupport.newDevice();
        context = DeviceExports.openDevice(device.structure().address());
        queue = CompletionExports.createQueue(context, 16, 0, 0, 0);
        var config = ibv_qp_init_attr.allocate(arena);
        ibv_qp_init_attr.send_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.recv_cq(config, MemorySegment.ofAddress(queue));
        ibv_qp_init_attr.qp_type(config, rdma_h.IBV_QPT_RC());
        ibv_qp_init_attr.sq_sig_all(config, 1);
        var caps = ibv_qp_init_attr.cap(config);
        ibv_qp_cap.max_send_wr(caps, 4);
        ibv_qp_cap.max_recv_wr(caps, 1);
        ibv_qp_cap.max_send_sge(caps, 1);
        ibv_qp_cap.max_recv_sge(caps, 1);
        queuePair =
                QueuePairExports.create(
                        DomainAndMemoryExports.allocateDomain(context), config.address());
    }

    @AfterEach
    void close() {
        DeviceExports.closeDevice(context);
        arena.close();
    }

    /** Returns the address of the device. */
    private RoceGid own() {
        return ContextObject.of(context).port().address();
    }

    private void connect(RoceGid peer) {
        ibv_qp_attr.port_num(attributes, (byte) DeviceLimits.PORT);
        ibv_qp_attr.qp_access_flags(attributes, rdma_h.IBV_ACCESS_REMOTE_WRITE());
        step(
                rdma_h.IBV_QPS_INIT(),
                rdma_h.IBV_QP_PKEY_INDEX() | rdma_h.IBV_QP_PORT() | rdma_h.IBV_QP_ACCESS_FLAGS());
        setPeer(peer);
        ibv_qp_attr.path_mtu(attributes, rdma_h.IBV_MTU_1024());
        ibv_qp_attr.dest_qp_num(
                attributes, ibv_qp.qp_num(CallerMemory.at(queuePair, ibv_qp.layout())));
        step(
                rdma_h.IBV_QPS_RTR(),
                rdma_h.IBV_QP_AV()
                        | rdma_h.IBV_QP_PATH_MTU()
                        | rdma_h.IBV_QP_DEST_QPN()
                        | rdma_h.IBV_QP_RQ_PSN()
                        | rdma_h.IBV_QP_MAX_DEST_RD_ATOMIC()
                        | rdma_h.IBV_QP_MIN_RNR_TIMER());
        ibv_qp_attr.timeout(attributes, (byte) 0); // 0 disables the timeout.
        step(
                rdma_h.IBV_QPS_RTS(),
                rdma_h.IBV_QP_TIMEOUT()
                        | rdma_h.IBV_QP_RETRY_CNT()
                        | rdma_h.IBV_QP_RNR_RETRY()
                        | rdma_h.IBV_QP_SQ_PSN()
                        | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC());
    }

    private void setPeer(RoceGid peer) {
        var route = ibv_qp_attr.ah_attr(attributes);
        ibv_ah_attr.is_global(route, (byte) 1);
        ibv_ah_attr.port_num(route, (byte) DeviceLimits.PORT);
        GidCodec.write(peer, ibv_global_route.dgid(ibv_ah_attr.grh(route)));
    }

    /** Changes the state of the queue pair, and the attributes in a mask. */
    private void step(int state, int mask) {
        ibv_qp_attr.qp_state(attributes, state);
        QueuePairExports.modify(queuePair, attributes.address(), STATE | mask);
    }

    private void assertRejected(int state, int mask, String reason) {
        assertThatThrownBy(() -> step(state, mask))
                .isInstanceOfSatisfying(
                        ErrnoException.class,
                        failure -> assertThat(failure.errno()).isEqualTo(Errno.EINVAL))
                .hasMessageContaining(reason);
    }

    private MemorySegment query() {
        var present = ibv_qp_attr.allocate(arena);
        var initial = ibv_qp_init_attr.allocate(arena);
        QueuePairExports.query(queuePair, present.address(), 0, initial.address());
        return present;
    }

    /** Posts a WRITE of 0 bytes, which the peer must acknowledge. */
    private void post() {
        var request = ibv_send_wr.allocate(arena);
        ibv_send_wr.opcode(request, rdma_h.IBV_WR_RDMA_WRITE());
        var failed = arena.allocate(Long.BYTES, Long.BYTES);
        assertThat(DataPathFunctions.postSend(queuePair, request.address(), failed.address()))
                .isZero();
    }

    private int awaitStatus() {
        var completion = ibv_wc.allocate(arena);
        while (DataPathFunctions.pollCompletions(queue, 1, completion.address()) == 0) {
            Thread.onSpinWait();
        }
        return ibv_wc.status(completion);
    }

    @Test
    void shouldReportDrainingAndResumeOnlyWhenDrained() {
        connect(ABSENT);
        post();

        step(rdma_h.IBV_QPS_SQD(), 0);

        assertThat(ibv_qp_attr.sq_draining(query())).isEqualTo((byte) 1);
        assertRejected(rdma_h.IBV_QPS_RTS(), 0, "still draining");
        assertRejected(rdma_h.IBV_QPS_SQD(), rdma_h.IBV_QP_AV(), "still draining");
        assertRejected(rdma_h.IBV_QPS_SQD(), rdma_h.IBV_QP_TIMEOUT(), "still draining");
        assertThat(ibv_qp_attr.qp_state(query())).isEqualTo(rdma_h.IBV_QPS_SQD());
        step(rdma_h.IBV_QPS_ERR(), 0);
        assertThat(awaitStatus()).isEqualTo(rdma_h.IBV_WC_WR_FLUSH_ERR());
        assertThat(ibv_qp_attr.sq_draining(query())).isZero();
    }

    @Test
    void shouldContinueAfterAChangeOfThePeerAddress() {
        connect(ABSENT);
        step(rdma_h.IBV_QPS_SQD(), 0);
        assertThat(ibv_qp_attr.sq_draining(query())).isZero();

        setPeer(own());
        step(rdma_h.IBV_QPS_SQD(), rdma_h.IBV_QP_AV());
        step(rdma_h.IBV_QPS_RTS(), 0);
        post();

        assertThat(awaitStatus()).isEqualTo(rdma_h.IBV_WC_SUCCESS());
        var route = ibv_ah_attr.grh(ibv_qp_attr.ah_attr(query()));
        assertThat(GidCodec.read(ibv_global_route.dgid(route))).isEqualTo(own());
    }

    @Test
    void shouldContinueAfterAChangeOfTimeoutAndRetries() {
        connect(ABSENT);
        step(rdma_h.IBV_QPS_SQD(), 0);

        ibv_qp_attr.timeout(attributes, (byte) 8); // The timeout is about one millisecond.
        ibv_qp_attr.retry_cnt(attributes, (byte) 1);
        step(rdma_h.IBV_QPS_SQD(), rdma_h.IBV_QP_TIMEOUT() | rdma_h.IBV_QP_RETRY_CNT());
        step(rdma_h.IBV_QPS_RTS(), 0);
        post();

        assertThat(awaitStatus()).isEqualTo(rdma_h.IBV_WC_RETRY_EXC_ERR());
        assertThat(ibv_qp_attr.timeout(query())).isEqualTo((byte) 8);
    }

    @Test
    void shouldRejectTheSameAttributesAsTheKernel() {
        assertRejected(rdma_h.IBV_QPS_ERR(), 0, "");
        connect(own());
        assertRejected(rdma_h.IBV_QPS_SQD(), rdma_h.IBV_QP_CUR_STATE(), "");
        assertRejected(rdma_h.IBV_QPS_RESET(), rdma_h.IBV_QP_CUR_STATE(), "");
        step(rdma_h.IBV_QPS_SQD(), 0);
        assertRejected(rdma_h.IBV_QPS_SQD(), rdma_h.IBV_QP_PATH_MTU(), "");
        assertRejected(rdma_h.IBV_QPS_RTS(), rdma_h.IBV_QP_AV(), "");
        assertThat(ibv_qp_attr.qp_state(query())).isEqualTo(rdma_h.IBV_QPS_SQD());
    }
}
