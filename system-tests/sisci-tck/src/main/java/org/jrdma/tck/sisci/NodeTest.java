package org.jrdma.tck.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.SisciAssertions.assertFails;

import java.time.Duration;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.Adapter;
import org.jrdma.sisci.Adapter.LinkQuery;
import org.jrdma.sisci.DmaEngineKind;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests the id of a node, probes of other nodes, and queries of adapters and links. */
class NodeTest extends AbstractMultiNodeTest {

    @Test
    void shouldHaveAUniqueIdThatIsAMultipleOfFour() throws Exception {
        assertThat(node.id()).isPositive().isEqualTo(node.id() / 4 * 4);
        assertThat(peer.node()).isPositive().isNotEqualTo(node.id());
    }

    @Test
    void shouldProbeAnExistingAndAMissingNode() throws Exception {
        assertThat(node.probe(peer.node())).isTrue();
        assertThat(node.probe(node.id())).isTrue();
        assertThat(node.probe(244)).isFalse();
    }

    @Test
    void shouldRejectAnInvalidNodeId() {
        assertFails(SisciError.ILLEGAL_NODE, () -> node.probe(5));
        assertFails(SisciError.ILLEGAL_NODE, () -> node.connect(5, SEGMENT, TIMEOUT));
    }

    @Test
    void shouldListItsAdapters() throws Exception {
        var adapter = node.adapter();

        assertThat(adapter.number()).isZero();
        assertThat(adapter.nodeId()).isEqualTo(node.id());
        assertThat(node.adapters())
                .extracting(Adapter::number)
                .startsWith(0)
                .doesNotHaveDuplicates();
        assertThat(node.adapter(0)).hasToString("adapter 0 of node " + node.id());
    }

    @Test
    void shouldRejectAMissingAdapter() throws Exception {
        var number = node.adapters().size();

        assertFails(SisciError.NO_SUCH_ADAPTER, () -> node.adapter(number));
        assertFails(SisciError.NO_SUCH_ADAPTER, () -> fabric.sisci().open(number));
        assertFails(SisciError.ILLEGAL_ADAPTER, () -> node.adapter(99));
    }

    @ParameterizedTest
    @EnumSource
    void shouldQueryAnAdapter(Adapter.Query query) throws Exception {
        var value = node.adapter().query(query);

        switch (query) {
            case NODE_ID -> assertThat(value).isEqualTo(node.id());
            case CONFIGURED, LINKS -> assertThat(value).isPositive();
            case SERIAL_NUMBER, CARD_TYPE, DMA_MTU, MULTICAST_GROUPS, BUS_DEVICE_FUNCTION ->
                    assertThat(value).isNotNegative();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldQueryALink(LinkQuery query) throws Exception {
        var value = node.adapter().query(query, 0);

        switch (query) {
            case OPERATIONAL, CABLE_INSERTED, ENABLED -> assertThat(value).isOne();
            case WIDTH, SPEED -> assertThat(value).isPositive();
            case UPTIME, DOWNTIME, PARTNER_PORT -> assertThat(value).isNotNegative();
        }
        assertThat(node.adapter().isLinkOperational(0)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportTheCapabilitiesOfItsDmaEngines(DmaEngineKind engine) throws Exception {
        if (node.adapter().isDmaAvailable(engine)) {
            var capabilities = node.adapter().dmaCapabilities(engine);

            assertThat(capabilities.channels()).isPositive();
            assertThat(capabilities.maxTransferBytes()).isPositive();
            assertThat(capabilities.maxVectorLength()).isPositive();
            assertThat(capabilities.pushes() || capabilities.pulls()).isTrue();
            assertThat(capabilities.suggestedAlignment())
                    .isGreaterThanOrEqualTo(capabilities.minAlignment());
        }
    }

    @Test
    void shouldReportTheVersionTheVendorAndTheCacheLine() throws Exception {
        assertThat(fabric.sisci().version()).isNotBlank();
        assertThat(fabric.sisci().vendor()).isNotBlank();
        assertThat(node.cacheLineBytes()).isIn(32, 64, 128);
    }

    @Test
    void shouldFindNodesByName() throws Exception {
        assertThat(node.nodeIds("localhost")).containsExactly(node.id());
        assertFails(SisciError.NO_SUCH_NODE, () -> node.nodeIds("no-such-host"));
    }

    @Test
    void shouldReportTheAdapterThatReachesANode() throws Exception {
        var info = node.nodeInfo("localhost");

        assertThat(info.nodeIds()).containsExactly(node.id());
        assertThat(info.adapter()).isEqualTo(node.adapter().number());
        assertThat(info.adapterTypeName()).isNotBlank();
        assertFails(SisciError.NO_SUCH_NODE, () -> node.nodeInfo("no-such-host"));
    }

    /**
     * A library either connects to memory by its bus address or reports that this is not supported.
     */
    @Test
    void shouldConnectToMemoryByItsBusAddressOrReportThatThisIsNotSupported() throws Exception {
        var ioAddress =
                peer.call(context -> {
                    var map = context.offer(SEGMENT, BYTES);
                    map.putLong(8, 42);
                    return context.segment(SEGMENT).ioAddress();
                });
        try (var space = node.connectForeignSpace(peer.node(), ioAddress, BYTES);
                var map = space.map()) {
            assertThat(map.getLong(8)).isEqualTo(42);
            assertThat(space.byteSize()).isEqualTo(BYTES);
        } catch (SisciException | UnsupportedOperationException e) {
            assertThat(e).hasMessageContaining("SCIConnectSCISpace");
        }
    }

    @Test
    void shouldRejectAnAddressWithoutMemory() {
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> node.connectForeignSpace(peer.node(), 0x1000, BYTES))
                .withMessageContaining("SCIConnectSCISpace");
    }

    @Test
    void shouldAllowSeveralOpenNodes() throws Exception {
        try (var second = fabric.sisci().open();
                var segment = second.newSegment(SEGMENT, BYTES)) {
            segment.offer();
            try (var remote = node.connect(second.id(), SEGMENT, TIMEOUT)) {
                assertThat(remote.byteSize()).isEqualTo(BYTES);
            }
        }
        assertThat(node.probe(node.id())).isTrue();
    }

    @Test
    void shouldCloseItsObjectsAndRejectUseAfterClose() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        var map = segment.map();

        node.close();
        node.close();

        assertThat(map.isOpen()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> node.newSegment(SEGMENT, BYTES))
                .withMessage("node %d is closed", node.id());
        assertThatIllegalStateException().isThrownBy(() -> map.segment().get(TestPattern.BYTE, 0));
        assertThatIllegalStateException().isThrownBy(segment::offer);
    }

    @Test
    void shouldNameTheMissingObjectWhenAConnectTimesOut() throws Exception {
        var peerNode = peer.node();

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(peerNode, SEGMENT, Duration.ofMillis(20)))
                .withMessageContaining("segment %d of node %d", SEGMENT, peerNode)
                .withMessageContaining("NO_SUCH_SEGMENT");
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connectInterrupt(peerNode, 9, Duration.ofMillis(20)))
                .withMessageContaining("NO_SUCH_INTERRUPT");
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(244, SEGMENT, Duration.ofMillis(20)))
                .withMessageContaining("NO_SUCH_NODE");
    }

    @Test
    void shouldConnectWhenTheSegmentBecomesAvailable() throws Exception {
        var peerNode = peer.node();
        var offer =
                peer.submit(context -> {
                    Thread.sleep(100);
                    return context.offer(SEGMENT, BYTES).byteSize();
                });

        try (var remote = node.connect(peerNode, SEGMENT, TIMEOUT)) {
            assertThat(remote.byteSize()).isEqualTo(offer.get());
        }
    }

    /** The registers depend on the adapter. The software fabric has no registers. */
    @Test
    void shouldReadRegistersOrReportThatThereAreNone() throws Exception {
        var adapter = node.adapter();
        var peerNode = peer.node();
        try {
            assertThat(adapter.readRegister(0)).isEqualTo(adapter.readRegister(0));
            assertThat(adapter.readRemoteRegister(peerNode, 0))
                    .isEqualTo(adapter.readRemoteRegister(peerNode, 0));
        } catch (UnsupportedOperationException e) {
            assertThat(e).hasMessageContaining("has no function SCIGetLocalCSR");
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> adapter.writeRegister(0, 0));
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> adapter.writeRemoteRegister(peerNode, 0, 0));
        }
    }

    @Test
    void shouldRegisterADeviceAsRequesterUntilClose() throws Exception {
        var requester = node.registerRequester(0x3b, 0x10);
        try (requester) {
            assertThat(requester).hasToString("device 3b:02.0 as requester of " + node);
        }
        assertThat(requester.isOpen()).isFalse();
    }

    /**
     * The library cannot close a descriptor that has objects, so the close of a node removes them
     * first.
     */
    @Test
    void shouldRemoveItsSegmentsOnClose() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        var peerNode = peer.node();
        peer.reset();

        Node reopened = fabric.sisci().open();
        try (reopened) {
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> reopened.connect(peerNode, SEGMENT, Duration.ofMillis(20)));
        }
    }
}
