package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.List;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.DmaCapabilities;
import org.jrdma.sisci.model.NodeInfo;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class NodeTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private FakeLibrary library;
    private Node node;

    @BeforeEach
    void open() throws Exception {
        library = new FakeLibrary(Kind.WITH_CONSTANTS);
        node = library.sisci.open();
    }

    @AfterEach
    void close() {
        node.close();
    }

    @Test
    void shouldListTheExistingAdapters() throws Exception {
        assertThat(node.adapters())
                .singleElement()
                .hasToString("adapter 0 of node 4")
                .returns(0, Adapter::number)
                .returns(4, Adapter::nodeId);
        assertThatExceptionOfType(SisciException.class).isThrownBy(() -> node.adapter(3));
    }

    @Test
    void shouldReadAndWriteControlRegisters() throws Exception {
        var adapter = node.adapter();

        adapter.writeRegister(8, 0x1234_5678);
        adapter.writeRemoteRegister(12, 16, 0x8765_4321);

        assertThat(adapter.readRegister(8)).isEqualTo(0x1234_5678);
        assertThat(adapter.readRemoteRegister(4, 8)).isEqualTo(0x1234_5678);
        assertThat(adapter.readRemoteRegister(12, 16)).isEqualTo(0x8765_4321);
        assertThat(adapter.readRegister(16)).isZero();
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> adapter.readRemoteRegister(12, 64))
                .withMessageStartingWith(
                        "SCIGetCSRRegister failed for register 0x40 of node 12: OUT_OF_RANGE");
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> adapter.writeRegister(64, 1))
                .withMessageStartingWith("SCISetLocalCSR failed for register 0x40 of node 4");
    }

    @Test
    void shouldProbeNodes() throws Exception {
        assertThat(node.probe(4)).isTrue();
        assertThat(node.probe(8)).as("returns 0").isFalse();
        assertThat(node.probe(12)).as("reports an error").isFalse();
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.probe(5))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.ILLEGAL_NODE));
    }

    @Test
    void shouldFindTheIdsOfANodeByItsName() throws Exception {
        assertThat(node.nodeIds("storage01")).containsExactly(4, 8);
        assertThat(node.nodeIds("unknown")).isEmpty();
    }

    @Test
    void shouldReportTheAdapterThatReachesANamedNode() throws Exception {
        assertThat(node.nodeInfo("storage01"))
                .isEqualTo(new NodeInfo(List.of(4, 8), 1, 930, "MXH930"));
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.nodeInfo("unknown"))
                .withMessageStartingWith(
                        "SCIGetNodeInfoByAdapterName failed for \"unknown\": NO_SUCH_NODE");
    }

    @Test
    void shouldPassThePhysicalAddressByValue() throws Exception {
        try (var space = node.connectForeignSpace(0x1234, 0x5678_9abc_def0L, 4096);
                var map = space.map()) {
            assertThat(space.nodeId()).isEqualTo(0x1234);
            assertThat(space.byteSize()).isEqualTo(4096);
            assertThat(map.getInt(0)).isEqualTo(0x1234);
            assertThat(map.getInt(4)).isEqualTo(0x5678);
            assertThat(map.getInt(8)).isEqualTo(0x9abc_def0);
            assertThat(map.getInt(12)).isEqualTo(4096);
        }
        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.connectForeignSpace(12, 0x1000, 4096))
                .withMessageStartingWith(
                        "SCIConnectSCISpace failed for 4,096 bytes at 0x1000 of node 12 from node 4: CONNECTION_REFUSED");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.connectForeignSpace(8, 1L << 48, 4096));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> node.connectForeignSpace(1 << 16, 0, 4096));
        assertThatIllegalArgumentException().isThrownBy(() -> node.connectForeignSpace(8, 0, 0));
    }

    @Test
    void shouldQueryAdaptersLinksAndEngines() throws Exception {
        var adapter = node.adapter();

        assertThat(adapter.isLinkOperational(0)).isFalse();
        assertThat(adapter.isLinkOperational(1)).isTrue();
        assertThat(adapter.isDmaAvailable(DmaEngineKind.ADAPTER)).isTrue();
        assertThat(adapter.isDmaAvailable(DmaEngineKind.SYSTEM)).isFalse();
        assertThat(adapter.dmaCapabilities(DmaEngineKind.ADAPTER))
                .isEqualTo(new DmaCapabilities(1, 1L << 31, 3, true, false, true, 8, 64));
    }

    @Test
    void shouldReportTheSizeOfTheCacheLine() throws Exception {
        assertThat(node.cacheLineBytes()).isEqualTo(64);
    }

    @Test
    void shouldRegisterARequesterUntilClose() throws Exception {
        try (var requester = node.registerRequester(0x3b, 0x11)) {
            assertThat(requester).hasToString("device 3b:02.1 as requester of node 4");
            assertThatExceptionOfType(SisciException.class)
                    .isThrownBy(() -> node.registerRequester(0x3b, 0x11))
                    .withMessageContaining("for device 3b:02.1");
        }
        node.registerRequester(0x3b, 0x11).close();
        assertThat(library.calls("SCIUnregisterPCIeRequester")).isEqualTo(2);
    }

    @Test
    void shouldKeepTheCodeAndTextOfAnUnknownError() {
        library.fail("SCICreateSegment", 0x40000999, 1);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.newSegment(7, 4096))
                .withMessage(
                        "SCICreateSegment failed for segment 7 of 4,096 bytes: error 0x40000999. An error that no header documents.")
                .satisfies(e -> assertThat(e.code()).isEqualTo(0x40000999))
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.UNKNOWN));
    }

    @Test
    void shouldReportTheErrorOfTheOperatingSystem() {
        library.fail("SCICreateSegment", sisci_h.SCI_ERR_SYSTEM(), 1);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.newSegment(7, 4096))
                .withMessageEndingWith("SYSTEM (0x40000919), ENODEV (19).");
    }

    @Test
    void shouldConnectWhenTheSegmentBecomesAvailable() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.prepare();
        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_NO_LINK_ACCESS(), 3);
        var offering =
                Thread.startVirtualThread(() -> {
                    try {
                        while (library.calls("SCIConnectSegment") < 5) {
                            Thread.sleep(1);
                        }
                        segment.makeAvailable();
                    } catch (SisciException | InterruptedException e) {
                        throw new AssertionError(e);
                    }
                });

        try (var remote = node.connect(4, 7, TIMEOUT)) {
            assertThat(remote.byteSize()).isEqualTo(4096);
            assertThat(remote).hasToString("segment 7 of node 4 from node 4");
        }
        offering.join();
        assertThat(library.calls("SCIConnectSegment")).isGreaterThan(5);
    }

    @Test
    void shouldTimeOutWithTheLastError() {
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(4, 7, Duration.ofMillis(20)))
                .withMessage(
                        "No connection to segment 7 of node 4 (last error: NO_SUCH_SEGMENT (0x4000090C)) within 0.02s");
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connectInterrupt(4, 7, Duration.ofMillis(20)))
                .withMessageContaining("NO_SUCH_INTERRUPT (0x4000090C)");
    }

    @Test
    void shouldNotRetryAPermanentError() {
        library.fail("SCIConnectSegment", sisci_h.SCI_ERR_ILLEGAL_NODEID(), 1);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> node.connect(5, 7, TIMEOUT))
                .withMessageContaining("Node ids are multiples of 4, starting at 4.");
        assertThat(library.calls("SCIConnectSegment")).isOne();
    }

    @Test
    void shouldEndAConnectOnAThreadInterrupt() {
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> node.connect(4, 7, TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldEndAConnectWhenTheNodeIsClosed() throws Exception {
        Thread.startVirtualThread(() -> {
            while (library.calls("SCIConnectSegment") < 3) {
                Thread.onSpinWait();
            }
            node.close();
        });

        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> node.connect(4, 7, TIMEOUT))
                .withMessage("node 4 is closed");
    }

    @Test
    void shouldConnectToAGroupOnlyWithTheBroadcastFlag() throws Exception {
        try (var member = node.newSegment(SegmentOptions.inGroup(1, 4096))) {
            member.offer();

            try (var group = node.connectGroup(1, TIMEOUT);
                    var map = group.map()) {
                map.putInt(0, 42);
                assertThat(member.map().getInt(0)).isEqualTo(42);
            }
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> node.connect(4, 1, Duration.ZERO));
        }
    }

    @Test
    void shouldRejectUseAfterClose() {
        node.close();

        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> node.newSegment(7, 4096))
                .withMessage("node 4 is closed");
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> node.connect(4, 7, TIMEOUT));
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> node.probe(4));
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> node.adapter().query(Adapter.Query.LINKS));
    }

    @Test
    void shouldCloseItsObjectsInOrder() throws Exception {
        var segment = node.newSegment(7, 4096);
        segment.offer();
        var local = segment.map();
        var sequence = node.connect(4, 7, TIMEOUT).map().newSequence();

        node.close();

        assertThat(local.isOpen()).isFalse();
        assertThat(sequence.isOpen()).isFalse();
        assertThat(library.calls("SCIRemoveSequence")).isOne();
        assertThat(library.calls("SCIUnmapSegment")).isEqualTo(2);
        assertThat(library.calls("SCIDisconnectSegment")).isOne();
        assertThat(library.calls("SCISetSegmentUnavailable")).isOne();
        assertThat(library.calls("SCIRemoveSegment")).as("not BUSY").isOne();
        assertThat(library.calls("SCIClose")).isOne();
    }
}
