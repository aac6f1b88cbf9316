package org.jrdma.tck.sisci;

import static java.time.Duration.ofMillis;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.LocalSegment.Parting;
import org.jrdma.sisci.RemoteSegment;
import org.jrdma.sisci.RemoteSegment.Link;
import org.jrdma.sisci.SegmentEvent;
import org.junit.jupiter.api.Test;

/** What happens to segments. */
class EventTest extends NodesTest {

    @Test
    void shouldTellTheOwnerWhoComesAndGoes() throws Exception {
        var segment = node.newSegment(SEGMENT, BYTES);
        segment.offer();
        var here = node.id();
        var there = peer.node();
        peer.tell(party -> party.keep("remote", party.node().connect(here, SEGMENT, SOON)));

        var connected = segment.nextEvent(SOON);
        peer.tell(party -> party.kept("remote", RemoteSegment.class).close());
        var disconnected = segment.nextEvent(SOON);

        assertThat(connected.type()).isEqualTo(SegmentEvent.Type.CONNECTED);
        assertThat(connected.node()).hasValue(there);
        assertThat(connected.adapter()).hasValue(0);
        assertThat(disconnected.type()).isEqualTo(SegmentEvent.Type.DISCONNECTED);
        assertThat(disconnected.node()).hasValue(there);
        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> segment.nextEvent(ofMillis(20)))
                .withMessageStartingWith("No event of " + segment);
    }

    @Test
    void shouldTellAListenerOnAVirtualThreadInTheOrderOfEvents() throws Exception {
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
        var here = node.id();

        peer.tell(party -> {
            for (var i = 0; i < 3; i++) {
                party.node().connect(here, SEGMENT, SOON).close();
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
    void shouldLetASegmentBeClosedByItsListener() throws Exception {
        peer.tell(party -> party.offer(SEGMENT, BYTES));
        var remote = node.connect(peer.node(), SEGMENT, SOON);
        var map = remote.map();
        remote.onEvent(_ -> remote.close());

        peer.tell(party -> {
            party.segment(SEGMENT).makeUnavailable(0, Parting.NOTIFY);
            party.segment(SEGMENT).close(); // which needs that
        });

        eventually(() -> !map.isOpen());
        assertThat(remote.isOpen()).isFalse();
    }

    @Test
    void shouldTellBothSidesOfACutAndItsMend() throws Exception {
        var cable = fabric.cable();
        peer.tell(party -> party.offer(SEGMENT, BYTES));
        try (var remote = node.connect(peer.node(), SEGMENT, SOON)) {
            peerHears(SegmentEvent.Type.CONNECTED);
            assertThat(remote.link()).isEqualTo(Link.OPERATIONAL);

            cable.cut();
            assertThat(remote.nextEvent(SOON).type()).isEqualTo(SegmentEvent.Type.NOT_OPERATIONAL);
            assertThat(remote.link()).isEqualTo(Link.NOT_OPERATIONAL);
            peerHears(SegmentEvent.Type.NOT_OPERATIONAL);
            assertThat(node.adapter().isLinkOperational(0)).isFalse();
            assertThat(node.probe(peer.node())).isFalse();
            assertThatExceptionOfType(FabricTimeoutException.class)
                    .isThrownBy(() -> node.connect(peer.node(), SEGMENT, ofMillis(10)))
                    .withMessageContaining("NO_LINK");

            cable.mend();
            assertThat(remote.nextEvent(SOON).type()).isEqualTo(SegmentEvent.Type.OPERATIONAL);
            assertThat(remote.link()).isEqualTo(Link.OPERATIONAL);
            peerHears(SegmentEvent.Type.OPERATIONAL);
        }
    }

    private void peerHears(SegmentEvent.Type type) throws Exception {
        peer.tell(
                party -> assertThat(party.segment(SEGMENT).nextEvent(SOON).type()).isEqualTo(type));
    }
}
