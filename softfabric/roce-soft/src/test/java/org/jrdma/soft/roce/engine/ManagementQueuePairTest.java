package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests queue pair 1 with datagrams from queue pair 1 of a peer and from other queue pairs of the
 * peer.
 */
class ManagementQueuePairTest {

    private static final long MILLISECOND = 1_000_000;
    private static final int PARTITION = 0xffff;

    private final EnginePair pair = new EnginePair(Transport.DATAGRAM, 1);
    private final RecordingAgent left = new RecordingAgent();
    private final RecordingAgent right = new RecordingAgent();

    /** A management agent that records the calls of its methods. */
    private static final class RecordingAgent implements ManagementAgent {
        final List<RoceGid> sources = new ArrayList<>();
        final List<byte[]> datagrams = new ArrayList<>();
        final List<Long> expired = new ArrayList<>();
        long deadline = Long.MAX_VALUE;
        boolean fails;

        @Override
        public void received(RoceGid source, MemorySegment datagram) {
            sources.add(source);
            datagrams.add(datagram.toArray(ValueLayout.JAVA_BYTE));
            failIfRequested();
        }

        @Override
        public long nextDeadline() {
            return deadline;
        }

        @Override
        public void expire(long now) {
            expired.add(now);
            deadline = Long.MAX_VALUE;
            failIfRequested();
        }

        private void failIfRequested() {
            if (fails) {
                throw new IllegalStateException("injected");
            }
        }
    }

    @BeforeEach
    void manage() {
        pair.left.engine.management(pair.left.address, left);
        pair.right.engine.management(pair.right.address, right);
    }

    private static MemorySegment datagram(int bytes) {
        return MemorySegment.ofArray(new byte[bytes]).fill((byte) 0x5a);
    }

    private void send(int bytes) {
        pair.left.engine.sendManagement(pair.right.address, datagram(bytes));
        pair.run(pair.now + MILLISECOND);
    }

    @Test
    void shouldPassDatagramsFromQueuePair1ToTheAgent() {
        send(256);

        assertThat(right.sources).containsExactly(pair.left.address);
        assertThat(right.datagrams.getFirst())
                .isEqualTo(datagram(256).toArray(ValueLayout.JAVA_BYTE));
        assertThat(left.datagrams).isEmpty();
    }

    @Test
    void shouldDropDatagramsFromOtherQueuePairsDespiteAValidQueueKey() {
        pair.left.queuePair.initialize(EnginePair.ALL, PARTITION, ManagementAgent.QUEUE_KEY);
        pair.left.queuePair.readyToReceive(
                new ReceiveParameters(pair.left.address, pair.left.address, 0, 1024, 0, 0, 12));
        pair.left.queuePair.readyToSend(new SendParameters(0, 0, 7, 7, 0));
        var work = pair.left.work(1, SendOperationKind.SEND);
        work.buffer(pair.left.start, 256, pair.left.region.key());
        work.datagram(pair.right.address, ManagementAgent.QUEUE_PAIR, ManagementAgent.QUEUE_KEY);
        pair.left.post();

        pair.run(MILLISECOND);

        assertThat(pair.packets).isEqualTo(1);
        assertThat(right.datagrams).isEmpty();
    }

    @Test
    void shouldDropDamagedDatagrams() {
        pair.passes =
                (_, packet) -> {
                    packet.memory().set(ValueLayout.JAVA_BYTE, 200, (byte) 0);
                    return true;
                };

        send(256);

        assertThat(right.datagrams).isEmpty();
    }

    @Test
    void shouldDropDatagramsIfThereIsNoAgent() {
        // Only the left engine has a management agent.
        var second = new EnginePair(Transport.DATAGRAM, 2);
        second.left.engine.management(second.left.address, left);

        second.left.engine.sendManagement(second.right.address, datagram(256));
        second.run(MILLISECOND);

        assertThat(second.packets).isEqualTo(1);
        assertThatThrownBy(
                        () -> second.right.engine.sendManagement(second.left.address, datagram(4)))
                .isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldExpireTheTimersOfTheAgent() {
        right.deadline = 5 * MILLISECOND;

        pair.run(10 * MILLISECOND);

        assertThat(right.expired).containsExactly(5 * MILLISECOND);
    }

    @Test
    void shouldContinueWhenTheAgentThrows() {
        right.fails = true;
        right.deadline = MILLISECOND;
        send(256);
        send(256);

        assertThat(right.datagrams).hasSize(2);
        assertThat(right.expired).hasSize(1);
        assertThat(pair.exceptions)
                .hasSize(3)
                .extracting(Throwable::getMessage)
                .containsOnly("injected");
    }

    /** The memory for datagrams that wait to be sent must be limited. */
    @Test
    void shouldLimitTheNumberOfQueuedDatagrams() {
        for (var i = 0; i < 10_000; i++) {
            pair.left.engine.sendManagement(pair.right.address, datagram(4));
        }

        pair.run(MILLISECOND);

        assertThat(right.datagrams).hasSize(4_096);
    }
}
