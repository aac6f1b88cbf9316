package org.jrdma.verbs.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.jrdma.abi.rdma.ibv_mw_bind;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.ibv_recv_wr;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.ibv_sge;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that the generated accessors of the C structures read the values that {@link WorkRequest}
 * has written at raw offsets.
 */
@SuppressWarnings("restricted")
class WorkRequestTest {

    private static final long ADDRESS = 0x7f12_3456_7000L;

    private static MemorySegment at(long address, long bytes) {
        return MemorySegment.ofAddress(address).reinterpret(bytes);
    }

    private static MemorySegment structure(WorkRequest.Send request) {
        return at(request.address(), ibv_send_wr.layout().byteSize());
    }

    @ParameterizedTest
    @EnumSource
    void shouldWriteTheOperation(Operation operation) {
        var request = new WorkRequest.Send(1);

        request.operation(operation);

        assertThat(ibv_send_wr.opcode(structure(request)))
                .isEqualTo(
                        switch (operation) {
                            case WRITE -> rdma_h.IBV_WR_RDMA_WRITE();
                            case WRITE_WITH_IMMEDIATE -> rdma_h.IBV_WR_RDMA_WRITE_WITH_IMM();
                            case SEND -> rdma_h.IBV_WR_SEND();
                            case SEND_WITH_IMMEDIATE -> rdma_h.IBV_WR_SEND_WITH_IMM();
                            case READ -> rdma_h.IBV_WR_RDMA_READ();
                            case COMPARE_AND_SWAP -> rdma_h.IBV_WR_ATOMIC_CMP_AND_SWP();
                            case FETCH_AND_ADD -> rdma_h.IBV_WR_ATOMIC_FETCH_AND_ADD();
                            case SEND_WITH_INVALIDATE -> rdma_h.IBV_WR_SEND_WITH_INV();
                            case ATOMIC_WRITE -> rdma_h.IBV_WR_ATOMIC_WRITE();
                            case FLUSH -> rdma_h.IBV_WR_FLUSH();
                            case BIND -> rdma_h.IBV_WR_BIND_MW();
                            case INVALIDATE -> rdma_h.IBV_WR_LOCAL_INV();
                        });
    }

    @Test
    void shouldWriteTheDestinationOfADatagram() {
        var request = new WorkRequest.Send(1);

        request.destination(0x7766_5544_3322_1100L, 0x12_3456, 0x8000_0001);

        var datagram = structure(request).asSlice(ibv_send_wr.wr$offset());
        assertThat(datagram.get(ValueLayout.JAVA_LONG, ibv_send_wr.wr.ud.ah$offset()))
                .isEqualTo(0x7766_5544_3322_1100L);
        assertThat(datagram.get(ValueLayout.JAVA_INT, ibv_send_wr.wr.ud.remote_qpn$offset()))
                .isEqualTo(0x12_3456);
        assertThat(datagram.get(ValueLayout.JAVA_INT, ibv_send_wr.wr.ud.remote_qkey$offset()))
                .isEqualTo(0x8000_0001);
    }

    @Test
    void shouldReportARejectedRequestOnce() {
        var request = new WorkRequest.Send(1);
        MemorySegment.ofAddress(request.refusedAddress())
                .reinterpret(Long.BYTES)
                .set(ValueLayout.JAVA_LONG, 0, 4711);

        assertThat(request.takeRefused()).isEqualTo(4711);
        assertThat(request.takeRefused()).isZero();
    }

    @Test
    void shouldWriteTheCommonFields() {
        var request = new WorkRequest.Send(2);
        var next = new WorkRequest.Send(1);

        request.number(0x8877_6655_4433_2211L);
        request.next(next.address());
        request.elements(2);
        request.flags(WorkRequest.Send.SIGNALED | WorkRequest.Send.FENCE);

        assertThat(ibv_send_wr.wr_id(structure(request))).isEqualTo(0x8877_6655_4433_2211L);
        assertThat(ibv_send_wr.next(structure(request)).address()).isEqualTo(next.address());
        assertThat(ibv_send_wr.num_sge(structure(request))).isEqualTo(2);
        assertThat(ibv_send_wr.send_flags(structure(request)))
                .isEqualTo(rdma_h.IBV_SEND_SIGNALED() | rdma_h.IBV_SEND_FENCE());
        request.next(0);
        assertThat(ibv_send_wr.next(structure(request))).isEqualTo(MemorySegment.NULL);
    }

    @Test
    void shouldWriteTheScatterGatherList() {
        var request = new WorkRequest.Send(3);

        for (var i = 0; i < 3; i++) {
            request.element(i, ADDRESS + i, 100 + i, 0xf000_0000 + i);
        }

        var list =
                at(
                        ibv_send_wr.sg_list(structure(request)).address(),
                        3 * ibv_sge.layout().byteSize());
        for (var i = 0; i < 3; i++) {
            var piece = ibv_sge.asSlice(list, i);
            assertThat(ibv_sge.addr(piece)).isEqualTo(ADDRESS + i);
            assertThat(ibv_sge.length(piece)).isEqualTo(100 + i);
            assertThat(ibv_sge.lkey(piece)).isEqualTo(0xf000_0000 + i);
        }
        assertThat(request.maxElements()).isEqualTo(3);
    }

    @Test
    void shouldWriteTheRemoteMemoryOfReadsAndWrites() {
        var request = new WorkRequest.Send(1);

        request.remote(ADDRESS, 0x8001_02ff);

        var rdma = ibv_send_wr.wr.rdma(ibv_send_wr.wr(structure(request)));
        assertThat(ibv_send_wr.wr.rdma.remote_addr(rdma)).isEqualTo(ADDRESS);
        assertThat(ibv_send_wr.wr.rdma.rkey(rdma)).isEqualTo(0x8001_02ff);
        request.remoteAddress(ADDRESS + 8);
        assertThat(ibv_send_wr.wr.rdma.remote_addr(rdma)).isEqualTo(ADDRESS + 8);
        assertThat(ibv_send_wr.wr.rdma.rkey(rdma)).isEqualTo(0x8001_02ff);
    }

    @Test
    void shouldWriteTheRemoteMemoryAndTheOperandsOfAtomics() {
        var request = new WorkRequest.Send(1);

        request.atomic(ADDRESS, 0x8001_02ff);
        request.operands(-2, Long.MIN_VALUE);

        var atomic = ibv_send_wr.wr.atomic(ibv_send_wr.wr(structure(request)));
        assertThat(ibv_send_wr.wr.atomic.remote_addr(atomic)).isEqualTo(ADDRESS);
        assertThat(ibv_send_wr.wr.atomic.rkey(atomic)).isEqualTo(0x8001_02ff);
        assertThat(ibv_send_wr.wr.atomic.compare_add(atomic)).isEqualTo(-2);
        assertThat(ibv_send_wr.wr.atomic.swap(atomic)).isEqualTo(Long.MIN_VALUE);
    }

    @Test
    void shouldWriteABindForBothPostFunctions() {
        var request = new WorkRequest.Send(1);
        var window = MemorySegment.ofAddress(0x1000);
        var region = MemorySegment.ofAddress(0x2000);

        request.number(4711);
        request.flags(WorkRequest.Send.FENCE);
        request.bind(window, region, rdma_h.IBV_ACCESS_REMOTE_READ());
        request.bindRange(ADDRESS, 1L << 40);
        request.newKey(0x8001_02ff);

        var bind = ibv_send_wr.bind_mw(structure(request));
        assertThat(ibv_send_wr.bind_mw.mw(bind)).isEqualTo(window);
        assertThat(ibv_send_wr.bind_mw.rkey(bind)).isEqualTo(0x8001_02ff);
        assertDescribesTheBind(ibv_send_wr.bind_mw.bind_info(bind), region);
        assertThat(request.boundLength()).isEqualTo(1L << 40);
        var bindRequest = at(request.bindRequest(), ibv_mw_bind.layout().byteSize());
        assertThat(ibv_mw_bind.wr_id(bindRequest)).isEqualTo(4711);
        assertThat(ibv_mw_bind.send_flags(bindRequest)).isEqualTo(rdma_h.IBV_SEND_FENCE());
        assertDescribesTheBind(ibv_mw_bind.bind_info(bindRequest), region);
    }

    private static void assertDescribesTheBind(MemorySegment info, MemorySegment region) {
        assertThat(ibv_mw_bind_info.mr(info)).isEqualTo(region);
        assertThat(ibv_mw_bind_info.addr(info)).isEqualTo(ADDRESS);
        assertThat(ibv_mw_bind_info.length(info)).isEqualTo(1L << 40);
        assertThat(ibv_mw_bind_info.mw_access_flags(info))
                .isEqualTo(rdma_h.IBV_ACCESS_REMOTE_READ());
    }

    @Test
    void shouldWriteTheKeyToInvalidateToBothFieldsThatProvidersRead() {
        var request = new WorkRequest.Send(1);

        request.invalidatedKey(0x1122_3344);

        assertThat(ibv_send_wr.invalidate_rkey(structure(request))).isEqualTo(0x1122_3344);
        var rdma = ibv_send_wr.wr.rdma(ibv_send_wr.wr(structure(request)));
        assertThat(ibv_send_wr.wr.rdma.rkey(rdma)).isEqualTo(0x1122_3344);
    }

    @Test
    void shouldWriteImmediateDataInNetworkOrder() {
        var request = new WorkRequest.Send(1);

        request.immediate(0x1122_3344);

        var bytes =
                structure(request)
                        .asSlice(ibv_send_wr.imm_data$offset(), 4)
                        .toArray(ValueLayout.JAVA_BYTE);
        assertThat(bytes).containsExactly(0x11, 0x22, 0x33, 0x44);
    }

    @Test
    void shouldReadTheRejectedRequestAfterTheListOfPieces() {
        var request = new WorkRequest.Send(2);
        request.element(1, -1, -1, -1);
        assertThat(request.takeRefused()).as("the location after the list of pieces").isZero();

        at(request.refusedAddress(), 8).set(ValueLayout.JAVA_LONG, 0, request.address());

        assertThat(request.takeRefused()).isEqualTo(request.address());
    }

    @Test
    void shouldWriteAReceive() {
        var request = new WorkRequest.Receive(2);

        request.number(0x1_0000_0007L);
        request.next(0);
        request.elements(2);
        request.element(0, ADDRESS, 4096, 7);
        request.element(1, ADDRESS + 4096, 1, 8);

        var receive = at(request.address(), ibv_recv_wr.layout().byteSize());
        assertThat(ibv_recv_wr.wr_id(receive)).isEqualTo(0x1_0000_0007L);
        assertThat(ibv_recv_wr.next(receive)).isEqualTo(MemorySegment.NULL);
        assertThat(ibv_recv_wr.num_sge(receive)).isEqualTo(2);
        var list = at(ibv_recv_wr.sg_list(receive).address(), 2 * ibv_sge.layout().byteSize());
        assertThat(ibv_sge.addr(ibv_sge.asSlice(list, 0))).isEqualTo(ADDRESS);
        assertThat(ibv_sge.length(ibv_sge.asSlice(list, 0))).isEqualTo(4096);
        assertThat(ibv_sge.lkey(ibv_sge.asSlice(list, 1))).isEqualTo(8);
        assertThat(request.refusedAddress() - list.address())
                .isEqualTo(2 * ibv_sge.layout().byteSize());
    }
}
