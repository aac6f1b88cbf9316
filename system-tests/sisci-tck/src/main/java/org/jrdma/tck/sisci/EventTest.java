package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.LocalSegment.DisconnectFlag;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.RemoteSegment.Link;
import org.jrdma.sisci.model.SegmentEvent;
import org.junit.jupiter.api.Test;

/** Tests segment events, such as connects, disconnects and link failures. */
class EventTest extends AbstractMultiNodeTest {

    @Test
    void shouldReportConnectsAndDisconnectsToTheOwner() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var localNode = node.id();
        var peerNode = peer.node();
        peer.run(context ->
                context.put("remote", context.node().connect(localNode, SEGMENT, TIMEOUT)));

        var connected = segment.nextEvent(TIMEOUT);
        peer.run(context -> context.get("remote", RemoteSegment.class).close());
        var disconnected = segment.nextEvent(TIMEOUT);

        assertThat(connected.type()).isEqualTo(SegmentEvent.Type.CONNECTED);
        assertThat(connected.node()).hasValue(peerNode);
        assertThat(connected.adapter()).hasValue(0);
        assertThat(disconnected.type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);
        assertThat(disconnected.node()).hasValue(peerNode);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> segment.nextEvent(ofMillis(20)))
                .withMessageStartingWith("No event of " + segment);
    }

    @Test
    void shouldNotifyAListenerInOrderOnAVirtualThread() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        var events = new ArrayList<SegmentEvent>();
        var thread = new CompletableFuture<Thread>();
        var all = new CountDownLatch(6);
        segment.onEvent(event -> {
            thread.complete(Thread.currentThread());
            events.add(event);
            all.countDown();
        });
        segment.offer();
        var localNode = node.id();

        peer.run(context -> {
            for (var i = 0; i < 3; i++) {
                context.node().connect(localNode, SEGMENT, TIMEOUT).close();
            }
        });

        assertThat(all.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(thread.get().isVirtual()).isTrue();
        assertThat(events)
                .extracting(SegmentEvent::type)
                .containsExactly(
                        SegmentEvent.Type.CONNECTED,
                        SegmentEvent.Type.DISCONNECTED,
                        SegmentEvent.Type.CONNECTED,
                        SegmentEvent.Type.DISCONNECTED,
                        SegmentEvent.Type.CONNECTED,
                        SegmentEvent.Type.DISCONNECTED);
    }

    @Test
    void shouldAllowTheListenerToCloseTheSegment() throws Exception {
        peer.run(context -> context.offer(SEGMENT, BYTES));
        var remote = node.connect(peer.node(), SEGMENT, TIMEOUT);
        var map = remote.map();
        remote.onEvent(_ -> remote.close());

        peer.run(context -> {
            context.segment(SEGMENT).makeUnavailable(0, DisconnectFlag.NOTIFY);
            // The call completes only after the listener has disconnected.
            context.segment(SEGMENT).close();
        });

        eventually(() -> !map.isOpen());
        assertThat(remote.isOpen()).isFalse();
    }

    @Test
    void shouldReportACutAndARestoredLinkToBothSides() throws Exception {
        var cable = fabric.cable();
        peer.run(context -> context.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, TIMEOUT)) {
            peerReceivesEvent(SegmentEvent.Type.CONNECTED);
            assertThat(remote.link()).isEqualTo(Link.OPERATIONAL);

            cable.cut();
            assertThat(remote.nextEvent(TIMEOUT).type())
                    .isEqualTo(SegmentEvent.Type.NOT_OPERATIONAL);
            assertThat(remote.link()).isEqualTo(Link.NOT_OPERATIONAL);
            peerReceivesEvent(SegmentEvent.Type.NOT_OPERATIONAL);
            assertThat(node.adapter().isLinkOperational(0)).isFalse();
            assertThat(node.probe(peer.node())).isFalse();
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> node.connect(peer.node(), SEGMENT, ofMillis(10)))
                    .withMessageContaining("NO_LINK");

            cable.restore();
            assertThat(remote.nextEvent(TIMEOUT).type()).isEqualTo(SegmentEvent.Type.OPERATIONAL);
            assertThat(remote.link()).isEqualTo(Link.OPERATIONAL);
            peerReceivesEvent(SegmentEvent.Type.OPERATIONAL);
        }
    }

    private void peerReceivesEvent(SegmentEvent.Type type) throws Exception {
        peer.run(context ->
                assertThat(context.segment(SEGMENT).nextEvent(TIMEOUT).type()).isEqualTo(type));
    }
}
