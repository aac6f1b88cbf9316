package org.jrdma.sockets.sisci;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jrdma.sisci.LocalInterrupt;
import org.jrdma.sisci.LocalSegment;
import org.jrdma.sisci.Node;
import org.jrdma.sisci.Sisci;
import org.jrdma.sisci.model.SegmentEvent;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class OutgoingWakeUpsTest {

    private static final int SENDING_NODE = 4;
    private static final int RECEIVING_NODE = 8;
    private static final int UNUSED_NUMBER = 4_711;

    private SoftSisci receivingSoftware;
    private Node receiver;
    private LocalInterrupt interrupt;
    private WakeUpMarks marks;
    private Node sender;
    private OutgoingWakeUps wakeUps;

    @BeforeEach
    void open(@TempDir Path folder) throws Exception {
        receivingSoftware = new SoftSisci(SoftSisciOptions.in(folder).node(RECEIVING_NODE));
        receiver = Sisci.from(receivingSoftware).open();
        interrupt = receiver.newInterrupt();
        marks = WakeUpMarks.create(receiver);
        var sendingSoftware = new SoftSisci(SoftSisciOptions.in(folder).node(SENDING_NODE));
        sender = Sisci.from(sendingSoftware).open();
        wakeUps = new OutgoingWakeUps(sender);
    }

    @AfterEach
    void close() {
        sender.close();
        receiver.close();
    }

    private CompletableFuture<OutgoingWakeUps.WakeUp> take(int number) {
        var result = new CompletableFuture<OutgoingWakeUps.WakeUp>();
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    try {
                        result.complete(
                                wakeUps.take(
                                        RECEIVING_NODE,
                                        number,
                                        marks.segment().id(),
                                        ofSeconds(2)));
                    } catch (IOException e) {
                        result.completeExceptionally(e);
                    }
                });
        return result;
    }

    private OutgoingWakeUps.WakeUp take() {
        return take(interrupt.number()).join();
    }

    @Test
    void shouldMarkTheStreamAndTriggerTheInterrupt() throws Exception {
        var scans = new CompletableFuture<String>();
        marks.add(() -> scans.complete("another stream"));
        var slot = marks.add(() -> scans.complete("this stream"));

        take().trigger(slot);

        interrupt.await(ofSeconds(5));
        marks.scanMarked(() -> scans.complete("all streams"));
        assertThat(scans).isCompletedWithValue("this stream");
    }

    @Test
    void shouldNotDelayOneProcessByAnother() throws Exception {
        var waiting = take(UNUSED_NUMBER);
        Thread.sleep(200);

        var taken = take(interrupt.number());

        assertThat(taken).succeedsWithin(ofSeconds(1));
        assertThat(waiting).isNotDone();
        assertThat(waiting).failsWithin(ofSeconds(5));
    }

    @Test
    void shouldShareTheConnectionsUntilTheLastUse() throws Exception {
        var disconnected = disconnected(marks.segment());
        var first = take();
        var second = take();
        assertThat(second).isSameAs(first);

        first.release();
        assertThat(take()).isSameAs(first);
        first.release();
        assertThat(disconnected).isNotDone();
        second.release();

        assertThat(disconnected).succeedsWithin(ofSeconds(5));
        assertThat(take()).isNotSameAs(first);
    }

    /** Returns a future that is completed when a peer has disconnected from a segment. */
    private static CompletableFuture<SegmentEvent> disconnected(LocalSegment segment) {
        var result = new CompletableFuture<SegmentEvent>();
        segment.onEvent(event -> {
            if (event.type() == SegmentEvent.Type.DISCONNECTED) {
                result.complete(event);
            }
        });
        return result;
    }

    @Test
    void shouldConnectAgainForLaterStreamsIfTheLinkIsDown() throws Exception {
        var before = take();

        receivingSoftware.cutLink(0);
        var during = take(interrupt.number());
        while (!during.isCompletedExceptionally()) { // until the event of the link has arrived
            Thread.sleep(10);
            if (during.isDone() && !during.isCompletedExceptionally()) {
                assertThat(during.join()).isSameAs(before);
                during.join().release();
                during = take(interrupt.number());
            }
        }
        receivingSoftware.restoreLink(0);

        assertThat(take()).isNotNull();
    }

    /** A program can damage the segments of other programs of its user. */
    @Test
    void shouldTriggerTheInterruptWithoutAMarkIfTheSegmentIsOfAnotherKind() throws Exception {
        var other = receiver.newSegment(1, 64 * 1024);
        var disconnected = disconnected(other);
        other.offer();

        wakeUps.take(RECEIVING_NODE, interrupt.number(), 1, ofSeconds(2)).trigger(1);

        interrupt.await(ofSeconds(5));
        assertThat(disconnected).succeedsWithin(ofSeconds(5));
    }
}
