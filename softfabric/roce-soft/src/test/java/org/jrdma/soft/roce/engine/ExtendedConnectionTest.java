package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.BindRequest;
import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.memory.MemoryWindow;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests XRC connections, on which each request names a receive queue. The left side sends requests,
 * and the right side executes them.
 */
class ExtendedConnectionTest {

    private static final int MTU = 1024;
    private static final long MILLISECOND = 1_000_000;

    private final EnginePair pair = new EnginePair(Transport.EXTENDED, 1);
    private final EnginePair.Side left = pair.left;
    private final EnginePair.Side right = pair.right;

    /**
     * An additional XRC receive queue on the right side, with its own protection domain and
     * completions.
     */
    private final class AdditionalQueue {

        final ProtectionDomain domain = new ProtectionDomain();
        final MemoryRegion region =
                right.registry.register(domain, right.memory, 0, EnginePair.ALL);
        final ReceiveQueue queue = new ReceiveQueue(domain, 8, 1, () -> {});
        final List<EnginePair.Done> done = new ArrayList<>();
        final XrcReceiveQueue named;

        AdditionalQueue(XrcDomainIdentity extendedDomain) {
            named =
                    Objects.requireNonNull(
                            right.engine.newExtendedReceives(extendedDomain, queue, this::add));
        }

        private boolean add(Completion completion) {
            done.add(EnginePair.Done.copyOf(completion));
            assertThat(completion.queuePair()).isEqualTo(right.queuePair.number());
            return true;
        }

        void receive(long id, long offset, int bytes) {
            queue.claim().begin(id).buffer(offset, bytes, region.key());
            queue.post();
        }
    }

    private XrcDomainIdentity domain() {
        return Objects.requireNonNull(right.queuePair.extendedDomain());
    }

    private void postAndRun(SendWork work, int receiveQueue) {
        work.receiveQueue(receiveQueue);
        left.post();
        pair.run(pair.now + 20 * MILLISECOND);
    }

    private SendWork send(long id, int bytes) {
        return left.work(id, SendOperationKind.SEND).buffer(left.start, bytes, left.region.key());
    }

    private void assertSent(CompletionStatus... statuses) {
        assertThat(left.done).extracting(EnginePair.Done::status).containsExactly(statuses);
    }

    @Test
    void shouldDeliverEachMessageToTheQueueThatItNames() {
        pair.connect(MTU, 0xff_fff0);
        var other = new AdditionalQueue(domain());
        right.receive(11, 0, 5000);
        other.receive(12, 8192, 5000);
        left.fill(0, 5000, 1);

        postAndRun(send(1, 5000).immediate(77).solicited(), other.named.number());
        postAndRun(send(2, 4), right.named.number());

        assertSent(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
        assertThat(right.done).extracting(EnginePair.Done::id).containsExactly(11L);
        assertThat(other.done)
                .containsExactly(
                        new EnginePair.Done(
                                12,
                                CompletionStatus.SUCCESS,
                                CompletionKind.RECEIVE,
                                5000,
                                true,
                                77,
                                true,
                                left.queuePair.number()));
        assertThat(right.holds(8192, 5000, left, 0)).isTrue();
        assertThat(right.holds(0, 4, left, 0)).isTrue();
    }

    @Test
    void shouldAccessMemoryOfTheQueuesProtectionDomain() {
        pair.connect(MTU, 0);
        var other = new AdditionalQueue(domain());
        left.fill(0, 3000, 1);
        right.fill(4096, 3000, 2);
        right.memory.set(ValueLayout.JAVA_LONG, 16384, 41);

        postAndRun(
                left.work(1, SendOperationKind.WRITE)
                        .buffer(left.start, 3000, left.region.key())
                        .remote(8192, other.region.key()),
                other.named.number());
        postAndRun(
                left.work(2, SendOperationKind.READ)
                        .buffer(left.start + 4096, 3000, left.region.key())
                        .remote(4096, other.region.key()),
                other.named.number());
        postAndRun(
                left.work(3, SendOperationKind.FETCH_AND_ADD)
                        .buffer(left.start + 8192, 8, left.region.key())
                        .remote(16384, other.region.key())
                        .atomic(1, 0),
                other.named.number());
        postAndRun(
                left.work(4, SendOperationKind.COMPARE_AND_SWAP)
                        .buffer(left.start + 8200, 8, left.region.key())
                        .remote(16384, other.region.key())
                        .atomic(50, 42),
                other.named.number());
        other.receive(13, 0, 0);
        postAndRun(
                left.work(5, SendOperationKind.WRITE)
                        .buffer(left.start, 8, left.region.key())
                        .remote(20480, other.region.key())
                        .immediate(9),
                other.named.number());

        assertSent(
                CompletionStatus.SUCCESS,
                CompletionStatus.SUCCESS,
                CompletionStatus.SUCCESS,
                CompletionStatus.SUCCESS,
                CompletionStatus.SUCCESS);
        assertThat(right.holds(8192, 3000, left, 0)).isTrue();
        assertThat(left.holds(4096, 3000, right, 4096)).isTrue();
        assertThat(left.memory.get(ValueLayout.JAVA_LONG, 8192)).isEqualTo(41);
        assertThat(left.memory.get(ValueLayout.JAVA_LONG, 8200)).isEqualTo(42);
        assertThat(right.memory.get(ValueLayout.JAVA_LONG, 16384)).isEqualTo(50);
        assertThat(other.done)
                .extracting(EnginePair.Done::kind)
                .containsExactly(CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE);
    }

    @Test
    void shouldRejectMemoryOfTheDomainOfAnotherQueue() {
        pair.connect(MTU, 0);
        var other = new AdditionalQueue(domain());

        postAndRun(
                left.work(1, SendOperationKind.READ)
                        .buffer(left.start, 8, left.region.key())
                        .remote(0, other.region.key()),
                right.named.number());

        assertSent(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(right.events).contains(QueuePairEvent.ACCESS_ERROR);
    }

    @Test
    void shouldRejectAnUnknownQueue() {
        pair.connect(MTU, 0);
        right.receive(11, 0, 100);

        postAndRun(send(1, 100), right.named.number() ^ 0x1_0000);

        assertRejected();
    }

    @Test
    void shouldRejectAQueueOfAnotherXrcDomain() {
        pair.connect(MTU, 0);
        var otherDomainQueue = new AdditionalQueue(new XrcDomainIdentity());
        otherDomainQueue.receive(12, 0, 100);
        right.receive(11, 0, 100);

        postAndRun(send(1, 100), otherDomainQueue.named.number());

        assertRejected();
        assertThat(otherDomainQueue.done).isEmpty();
    }

    private void assertRejected() {
        assertSent(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(right.queuePair.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(right.events).containsExactly(QueuePairEvent.ACCESS_ERROR);
        assertThat(right.done).isEmpty();
    }

    @Test
    void shouldRejectAMessageWhosePacketsNameDifferentQueues() {
        pair.connect(MTU, 0);
        var other = new AdditionalQueue(domain());
        right.receive(11, 0, 5000);
        other.receive(12, 0, 5000);
        var work = send(1, 5000);
        pair.passes =
                (to, _) -> {
                    if (to == right) {
                        work.receiveQueue(other.named.number());
                    }
                    return true;
                };

        postAndRun(work, right.named.number());

        assertSent(CompletionStatus.REMOTE_INVALID_REQUEST);
        assertThat(right.done)
                .extracting(EnginePair.Done::id, EnginePair.Done::status)
                .containsExactly(tuple(11L, CompletionStatus.REMOTE_INVALID_REQUEST));
        assertThat(other.done).isEmpty();
    }

    /** Completions of a destroyed receive queue must not be reported to its owner. */
    @Test
    void shouldFailAMessageSilentlyIfItsQueueIsDestroyedMeanwhile() {
        pair.connect(MTU, 0);
        right.receive(11, 0, MTU * 600);
        pair.passes =
                (to, _) -> {
                    if (to == left && right.named != null) {
                        right.engine.destroy(right.named);
                        right.named = null;
                    }
                    return true;
                };
        var number = right.named.number();
        // The message is longer than the window of packets without acknowledgement, so the sender
        // receives an acknowledgement before it has sent the whole message.
        postAndRun(send(1, MTU * 600), number);

        assertSent(CompletionStatus.REMOTE_ACCESS_ERROR);
        assertThat(right.done).isEmpty();
    }

    @Test
    void shouldWaitForAReceiveOfTheNamedQueue() {
        pair.connect(MTU, 0);
        var other = new AdditionalQueue(domain());
        right.receive(11, 0, 100);

        postAndRun(send(1, 100), other.named.number());
        assertThat(left.done).isEmpty();
        other.receive(12, 0, 100);
        pair.run(pair.now + 20 * MILLISECOND);

        assertSent(CompletionStatus.SUCCESS);
        assertThat(other.done).extracting(EnginePair.Done::id).containsExactly(12L);
        assertThat(right.done).isEmpty();
    }

    @Test
    void shouldAccessType1WindowsButNotType2Windows() {
        pair.connect(MTU, 0);
        var region =
                right.registry.register(
                        right.domain,
                        right.memory,
                        right.start,
                        EnginePair.ALL | Access.WINDOW_BIND);
        var binder = right.newQueuePair(Transport.RELIABLE, right.domain, right::add);
        right.connect(binder, left, 0x99_0055, 0, 0);
        for (var type : MemoryWindow.Type.values()) {
            var window = right.registry.newWindow(right.domain, type);
            binder.sends()
                    .claim()
                    .begin(1, SendOperationKind.BIND)
                    .bind(
                            new BindRequest(
                                    window,
                                    window.key(),
                                    window.key(),
                                    region,
                                    right.start,
                                    4096,
                                    EnginePair.ALL));
            binder.sends().post();
            right.engine.doorbell(binder);
            pair.run(pair.now + MILLISECOND);
            postAndRun(
                    left.work(2, SendOperationKind.READ)
                            .buffer(left.start, 8, left.region.key())
                            .remote(right.start, window.key()),
                    right.named.number());
        }

        assertSent(CompletionStatus.SUCCESS, CompletionStatus.REMOTE_ACCESS_ERROR);
    }

    @Test
    void shouldAcceptRequestsOnlyAtTheReceivingEnd() {
        var sender = right.newQueuePair(Transport.EXTENDED, right.domain, right::add, null, null);
        right.queuePair = sender;
        pair.connect(MTU, 0, 8, 1, 7, 4, EnginePair.ALL);

        postAndRun(send(1, 100), right.named.number());

        assertSent(CompletionStatus.RETRIES_EXCEEDED);
        assertThat(right.events).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldLoseNothingOverALossyNetwork(long seed) {
        var lossy = new EnginePair(Transport.EXTENDED, seed);
        lossy.faults = new EnginePair.Faults(0.02, 0.05, 0.1, 0.01);
        lossy.connect(MTU, 0xff_ff00);
        var traffic = new RegularTraffic(lossy, Transport.EXTENDED);
        for (var round = 0; round < 4_000 && traffic.completed() < 400; round++) {
            traffic.proceed();
            lossy.run(lossy.now + 100 * MILLISECOND);
        }

        assertThat(lossy.exceptions).isEmpty();
        assertThat(traffic.completed()).isEqualTo(400);
    }
}
