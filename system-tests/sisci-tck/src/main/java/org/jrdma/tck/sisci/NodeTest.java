package org.jrdma.tck.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.jrdma.tck.sisci.Refusals.refuses;

import java.time.Duration;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.Adapter;
import org.jrdma.sisci.Adapter.LinkQuery;
import org.jrdma.sisci.DmaEngine;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.SisciError;
import org.jrdma.sisci.SisciException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class NodeTest extends NodesTest {

    @Test
    void shouldHaveAnIdThatIsAMultipleOfFourAndUnlikeOthers() throws Exception {
        assertThat(node.id()).isPositive().isEqualTo(node.id() / 4 * 4);
        assertThat(peer.node()).isPositive().isNotEqualTo(node.id());
    }

    @Test
    void shouldReachThePeerAndNotANodeThatIsNotThere() throws Exception {
        assertThat(node.probe(peer.node())).isTrue();
        assertThat(node.probe(node.id())).isTrue();
        assertThat(node.probe(244)).isFalse();
    }

    @Test
    void shouldRefuseAnIdThatNoNodeCanHave() {
        refuses(SisciError.ILLEGAL_NODE, () -> node.probe(5));
        refuses(SisciError.ILLEGAL_NODE, () -> node.connect(5, SEGMENT, SOON));
    }

    @Test
    void shouldKnowItsAdapters() throws Exception {
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
    void shouldRefuseAnAdapterThatIsNotThere() throws Exception {
        var number = node.adapters().size();

        refuses(SisciError.NO_SUCH_ADAPTER, () -> node.adapter(number));
        refuses(SisciError.NO_SUCH_ADAPTER, () -> fabric.sisci().open(number));
        refuses(SisciError.ILLEGAL_ADAPTER, () -> node.adapter(99));
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerWhatIsAskedOfAnAdapter(Adapter.Query query) throws Exception {
        var answer = node.adapter().query(query);

        switch (query) {
            case NODE_ID -> assertThat(answer).isEqualTo(node.id());
            case CONFIGURED, LINKS -> assertThat(answer).isPositive();
            case SERIAL_NUMBER, CARD_TYPE, DMA_MTU, MULTICAST_GROUPS, BUS_DEVICE_FUNCTION ->
                    assertThat(answer).isNotNegative();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAnswerWhatIsAskedOfALink(LinkQuery query) throws Exception {
        var answer = node.adapter().query(query, 0);

        switch (query) {
            case OPERATIONAL, CABLE_INSERTED, ENABLED -> assertThat(answer).isOne();
            case WIDTH, SPEED -> assertThat(answer).isPositive();
            case UPTIME, DOWNTIME, PARTNER_PORT -> assertThat(answer).isNotNegative();
        }
        assertThat(node.adapter().isLinkOperational(0)).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void shouldTellWhatItsDmaEnginesCanDo(DmaEngine engine) throws Exception {
        if (node.adapter().isDmaAvailable(engine)) {
            var can = node.adapter().dmaCapabilities(engine);

            assertThat(can.channels()).isPositive();
            assertThat(can.maxTransferBytes()).isPositive();
            assertThat(can.maxVectorLength()).isPositive();
            assertThat(can.pushes() || can.pulls()).isTrue();
            assertThat(can.suggestedAlignment()).isGreaterThanOrEqualTo(can.minAlignment());
        }
    }

    @Test
    void shouldTellTheLibrarysVersionAndMakerAndTheCacheLine() throws Exception {
        assertThat(fabric.sisci().version()).isNotBlank();
        assertThat(fabric.sisci().vendor()).isNotBlank();
        assertThat(node.cacheLineBytes()).isIn(32, 64, 128);
    }

    @Test
    void shouldFindNodesByName() throws Exception {
        assertThat(node.nodeIds("localhost")).containsExactly(node.id());
        refuses(SisciError.NO_SUCH_NODE, () -> node.nodeIds("no-such-host"));
    }

    @Test
    void shouldTellByWhichAdapterANodeIsReached() throws Exception {
        var info = node.nodeInfo("localhost");

        assertThat(info.nodeIds()).containsExactly(node.id());
        assertThat(info.adapter()).isEqualTo(node.adapter().number());
        assertThat(info.adapterTypeName()).isNotBlank();
        refuses(SisciError.NO_SUCH_NODE, () -> node.nodeInfo("no-such-host"));
    }

    /** Either memory is there, by its address on the bus, or a refusal that says so. */
    @Test
    void shouldReachMemoryByItsAddressOrSayThatItDoesNot() throws Exception {
        var there =
                peer.ask(party -> {
                    var map = party.offer(SEGMENT, BYTES);
                    map.putLong(8, 42);
                    return party.segment(SEGMENT).ioAddress();
                });
        try (var space = node.connectForeignSpace(peer.node(), there, BYTES);
                var map = space.map()) {
            assertThat(map.getLong(8)).isEqualTo(42);
            assertThat(space.byteSize()).isEqualTo(BYTES);
        } catch (SisciException | UnsupportedOperationException e) {
            assertThat(e).hasMessageContaining("SCIConnectSCISpace");
        }
    }

    @Test
    void shouldReachNoMemoryThatIsNotThere() {
        assertThatExceptionOfType(Exception.class)
                .isThrownBy(() -> node.connectForeignSpace(peer.node(), 0x1000, BYTES))
                .withMessageContaining("SCIConnectSCISpace");
    }

    @Test
    void shouldHaveSeveralNodesOpenAtOnce() throws Exception {
        try (var second = fabric.sisci().open();
                var segment = second.newSegment(SEGMENT, BYTES)) {
            segment.offer();
            try (var remote = node.connect(second.id(), SEGMENT, SOON)) {
                assertThat(remote.byteSize()).isEqualTo(BYTES);
            }
        }
        assertThat(node.probe(node.id())).isTrue();
    }

    @Test
    void shouldCloseWhatItOwnsAndRefuseToBeUsedAfterwards() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        var map = segment.map();

        node.close();
        node.close();

        assertThat(map.isOpen()).isFalse();
        assertThatIllegalStateException()
                .isThrownBy(() -> node.newSegment(SEGMENT, BYTES))
                .withMessage("node %d is closed", node.id());
        assertThatIllegalStateException().isThrownBy(() -> map.segment().get(Memory.BYTE, 0));
        assertThatIllegalStateException().isThrownBy(segment::offer);
    }

    @Test
    void shouldSayWhatItWaitedForInVain() throws Exception {
        var there = peer.node();

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(there, SEGMENT, Duration.ofMillis(20)))
                .withMessageContaining("segment %d of node %d", SEGMENT, there)
                .withMessageContaining("NO_SUCH_SEGMENT");
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connectInterrupt(there, 9, Duration.ofMillis(20)))
                .withMessageContaining("NO_SUCH_INTERRUPT");
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> node.connect(244, SEGMENT, Duration.ofMillis(20)))
                .withMessageContaining("NO_SUCH_NODE");
    }

    @Test
    void shouldConnectAsSoonAsTheSegmentIsThere() throws Exception {
        var there = peer.node();
        var offer =
                peer.start(party -> {
                    Thread.sleep(100);
                    return party.offer(SEGMENT, BYTES).byteSize();
                });

        try (var remote = node.connect(there, SEGMENT, SOON)) {
            assertThat(remote.byteSize()).isEqualTo(offer.get());
        }
    }

    /** What registers there are is up to an adapter; the software fabric has none. */
    @Test
    void shouldReadRegistersOrSayThatThereAreNone() throws Exception {
        var adapter = node.adapter();
        var there = peer.node();
        try {
            assertThat(adapter.readRegister(0)).isEqualTo(adapter.readRegister(0));
            assertThat(adapter.readRemoteRegister(there, 0))
                    .isEqualTo(adapter.readRemoteRegister(there, 0));
        } catch (UnsupportedOperationException e) {
            assertThat(e).hasMessageContaining("has no function SCIGetLocalCSR");
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> adapter.writeRegister(0, 0));
            assertThatExceptionOfType(UnsupportedOperationException.class)
                    .isThrownBy(() -> adapter.writeRemoteRegister(there, 0, 0));
        }
    }

    @Test
    void shouldRegisterADeviceAsRequesterUntilThatIsClosed() throws Exception {
        var requester = node.registerRequester(0x3b, 0x10);
        try (requester) {
            assertThat(requester).hasToString("device 3b:02.0 as requester of " + node);
        }
        assertThat(requester.isOpen()).isFalse();
    }

    /** In C nothing keeps a descriptor from being closed with what it has. */
    @Test
    void shouldBeLeftWithoutATraceByEveryone() throws Exception {
        peer.tell(party -> party.offer(SEGMENT, BYTES));
        var there = peer.node();
        peer.reset();

        Node reopened = fabric.sisci().open();
        try (reopened) {
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> reopened.connect(there, SEGMENT, Duration.ofMillis(20)));
        }
    }
}
