package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.soft.sisci.abi.ThreeNodes.BYTES;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import org.jrdma.abi.sisci.dis_dma_vec_t;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.soft.sisci.FaultOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests of transfers between a segment of the second node and a segment of the first node. */
class DmaTest {

    private ThreeNodes nodes;
    private MemorySegment remoteMemory;
    private long local;
    private MemorySegment localMemory;
    private long remote;
    private long queue;

    @BeforeEach
    void connect() throws Exception {
        connect(FaultOptions.NONE);
    }

    private void connect(FaultOptions faults) throws Exception {
        nodes = new ThreeNodes(faults);
        remoteMemory =
                nodes.first
                        .mapLocal(nodes.first.offer(nodes.firstDescriptor, 7, BYTES), BYTES)
                        .memory();
        local = nodes.second.create(nodes.secondDescriptor, 8, BYTES, sisci_h.SCI_FLAG_PRIVATE());
        localMemory = nodes.second.mapLocal(local, BYTES).memory();
        remote = nodes.second.connect(nodes.secondDescriptor, nodes.first.node(), 7);
        var place = nodes.second.place();
        nodes.second.ok("SCICreateDMAQueue", nodes.secondDescriptor, place.address(), 0, 4, 0);
        queue = LibraryCaller.handle(place);
    }

    @AfterEach
    void leave() throws Exception {
        nodes.close();
    }

    private String start(long localOffset, long bytes, long remoteOffset, int flags) {
        return nodes.second.attempt(
                "SCIStartDmaTransfer",
                queue,
                local,
                remote,
                localOffset,
                bytes,
                remoteOffset,
                0,
                0,
                flags);
    }

    private int state() {
        return (int) nodes.second.plain("SCIDMAQueueState", queue);
    }

    @Test
    void shouldPushAndPullAtTheGivenOffsets() {
        nodes.second.ok("SCIPrepareSegment", local, 0, 0);
        localMemory.set(JAVA_LONG, 64, 5);
        remoteMemory.set(JAVA_LONG, 256, 6);
        assertThat(state()).isEqualTo(sisci_h.SCI_DMAQUEUE_IDLE());

        assertThat(start(64, 8, 128, sisci_h.SCI_FLAG_DMA_WAIT())).isEqualTo("OK");
        assertThat(remoteMemory.get(JAVA_LONG, 128)).isEqualTo(5);
        assertThat(state()).isEqualTo(sisci_h.SCI_DMAQUEUE_DONE());
        assertThat(start(512, 8, 256, sisci_h.SCI_FLAG_DMA_READ() | sisci_h.SCI_FLAG_DMA_ADAPTER()))
                .isEqualTo("OK");
        assertThat(nodes.second.ok("SCIWaitForDMAQueue", queue, 5_000, 0))
                .isEqualTo(sisci_h.SCI_DMAQUEUE_DONE());
        assertThat(localMemory.get(JAVA_LONG, 512)).isEqualTo(6);
    }

    @Test
    void shouldEndAShortTransferBeforeTheStartReturns() {
        nodes.second.ok("SCIPrepareSegment", local, 0, 0);
        localMemory.set(JAVA_LONG, 64, 5);

        assertThat(start(64, 8, 128, 0)).isEqualTo("OK");

        assertThat(state()).isEqualTo(sisci_h.SCI_DMAQUEUE_DONE());
        assertThat(remoteMemory.get(JAVA_LONG, 128)).isEqualTo(5);
    }

    @Test
    void shouldTransferPiecesAndRejectMoreThanTheQueueHolds() {
        nodes.second.ok("SCIPrepareSegment", local, 0, 0);
        try (var arena = Arena.ofConfined()) {
            var pieces = dis_dma_vec_t.allocateArray(5, arena);
            for (var i = 0; i < 5; i++) {
                localMemory.set(JAVA_LONG, 8L * i, i + 1);
                var piece = dis_dma_vec_t.asSlice(pieces, i);
                dis_dma_vec_t.size(piece, 8);
                dis_dma_vec_t.local_offset(piece, 8 * i);
                dis_dma_vec_t.remote_offset(piece, 1024 * i);
            }

            nodes.second.ok(
                    "SCIStartDmaTransferVec",
                    queue,
                    local,
                    remote,
                    4,
                    pieces.address(),
                    0,
                    0,
                    sisci_h.SCI_FLAG_DMA_WAIT());

            for (var i = 0; i < 4; i++) {
                assertThat(remoteMemory.get(JAVA_LONG, 1024L * i)).isEqualTo(i + 1);
            }
            assertThat(
                            nodes.second.attempt(
                                    "SCIStartDmaTransferVec",
                                    queue,
                                    local,
                                    remote,
                                    5,
                                    pieces.address(),
                                    0,
                                    0,
                                    0))
                    .isEqualTo("MAX_ENTRIES");
        }
    }

    @Test
    void shouldTransferMemoryOfTheProgramAndRejectUnmappedMemory() {
        try (var arena = Arena.ofConfined()) {
            var memory = arena.allocateFrom(JAVA_LONG, 7);

            nodes.second.ok(
                    "SCIStartDmaTransferMem",
                    queue,
                    memory.address(),
                    remote,
                    8,
                    16,
                    0,
                    0,
                    sisci_h.SCI_FLAG_DMA_WAIT() | sisci_h.SCI_FLAG_DMA_USER_MEM());

            assertThat(remoteMemory.get(JAVA_LONG, 16)).isEqualTo(7);
            assertThat(
                            nodes.second.attempt(
                                    "SCIStartDmaTransferMem", queue, 4096, remote, 8, 16, 0, 0, 0))
                    .isEqualTo("ILLEGAL_ADDRESS");
        }
    }

    @Test
    void shouldRejectAnUnpreparedSegmentInvalidOffsetsAndTwoEngines() {
        assertThat(start(0, 8, 0, 0)).isEqualTo("SEGMENT_NOT_PREPARED");
        nodes.second.ok("SCIPrepareSegment", local, 0, sisci_h.SCI_FLAG_DMA_SOURCE_ONLY());

        assertThat(start(0, 8, 0, sisci_h.SCI_FLAG_DMA_READ())).isEqualTo("ILLEGAL_OPERATION");
        assertThat(start(BYTES - 4, 8, 0, 0)).isEqualTo("OUT_OF_RANGE");
        assertThat(start(0, 8, BYTES, 0)).isEqualTo("OUT_OF_RANGE");
        assertThat(start(0, 8, 0, sisci_h.SCI_FLAG_DMA_ADAPTER() | sisci_h.SCI_FLAG_DMA_SYSDMA()))
                .isEqualTo("ILLEGAL_FLAG");
        assertThat(nodes.second.attempt("SCIWaitForDMAQueue", queue, 0, 0))
                .isEqualTo("ILLEGAL_OPERATION");
    }

    @Test
    void shouldRejectASecondTransferAndStopWhenAborted() throws Exception {
        nodes.close();
        connect(FaultOptions.NONE.delay(Duration.ofSeconds(20)));
        nodes.second.ok("SCIPrepareSegment", local, 0, 0);
        assertThat(start(0, BYTES, 0, 0)).isEqualTo("OK");

        assertThat(state()).isEqualTo(sisci_h.SCI_DMAQUEUE_POSTED());
        assertThat(start(0, 8, 0, 0)).isEqualTo("BUSY");
        assertThat(nodes.second.attempt("SCIRemoveDMAQueue", queue, 0))
                .isEqualTo("ILLEGAL_OPERATION");
        assertThat(nodes.second.attempt("SCIDisconnectSegment", remote, 0)).isEqualTo("BUSY");
        nodes.second.ok("SCIAbortDMAQueue", queue, 0);

        assertThat(nodes.second.ok("SCIWaitForDMAQueue", queue, 5_000, 0))
                .isEqualTo(sisci_h.SCI_DMAQUEUE_ABORTED());
        nodes.second.ok("SCIRemoveDMAQueue", queue, 0);
    }

    @Test
    void shouldFailWithACutLinkAndLeaveBothSegmentsUntouched() throws Exception {
        nodes.second.ok("SCIPrepareSegment", local, 0, 0);
        localMemory.set(JAVA_LONG, 0, 5);

        nodes.first.fabric().cutLink(0);

        assertThat(start(0, 8, 0, sisci_h.SCI_FLAG_DMA_WAIT())).isEqualTo("TRANSFER_FAILED");
        assertThat(state()).isEqualTo(sisci_h.SCI_DMAQUEUE_ERROR());
        assertThat(remoteMemory.get(JAVA_LONG, 0)).isZero();
        assertThat(nodes.second.attempt("SCIRemoveSegment", local, 0)).isEqualTo("BUSY"); // mapped
    }

    @Test
    void shouldRejectASecondAllocationOfAChannelUnlessItIsShared() {
        var type = sisci_h.SCI_DMA_TYPE_ADAPTER();
        var channel = request(type, 2, 0);
        assertThat(requestError(type, 2, 0)).isEqualTo("BUSY");
        assertThat(requestError(type, 2, sisci_h.SCI_FLAG_DMA_CHANNEL_SHARED())).isEqualTo("BUSY");
        nodes.second.ok("SCIAssignDMAChannel", channel, queue, 0);
        nodes.second.ok("SCIPrepareLocalSegmentForDMA", channel, local, 0);
        assertThat(nodes.second.attempt("SCIReturnDMAChannel", channel)).isEqualTo("BUSY");
        nodes.second.ok("SCIUnprepareLocalSegmentForDMA", channel, local, 0);
        nodes.second.ok("SCIReturnDMAChannel", channel);

        request(type, 2, sisci_h.SCI_FLAG_DMA_CHANNEL_SHARED());
        request(type, 2, sisci_h.SCI_FLAG_DMA_CHANNEL_SHARED());
        for (var i = 0; i < 3; i++) {
            request(type, sisci_h.SCI_DMA_CHANNEL_ID_DONTCARE(), 0);
        }
        assertThat(requestError(type, sisci_h.SCI_DMA_CHANNEL_ID_DONTCARE(), 0)).isEqualTo("BUSY");
    }

    private long request(int type, int number, int flags) {
        var place = nodes.second.place();
        nodes.second.ok(
                "SCIRequestDMAChannel",
                nodes.secondDescriptor,
                place.address(),
                0,
                type,
                number,
                flags);
        return LibraryCaller.handle(place);
    }

    private String requestError(int type, int number, int flags) {
        return nodes.second.attempt(
                "SCIRequestDMAChannel",
                nodes.secondDescriptor,
                nodes.second.place().address(),
                0,
                type,
                number,
                flags);
    }
}
