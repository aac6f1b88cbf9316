package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests that queue pairs whose peer does not answer neither block other queue pairs to the same
 * address nor flood the peer.
 */
class SilentPeerIsolationTest {

    private static final long MILLISECOND = 1_000_000;
    private static final int PACKET = 4096;

    private final EnginePair pair = new EnginePair(Transport.RELIABLE, 1);
    private final EnginePair.Side left = pair.left;
    private final EnginePair.Side right = pair.right;

    @ParameterizedTest
    @ValueSource(ints = {0, 8, 14, 20})
    void shouldNotBlockOtherQueuePairsForLongIfOneIsUnanswered(int timeout) {
        pair.connect(PACKET, 0);
        var unanswered = left.newQueuePair(left.domain);
        left.connect(unanswered, right, right.newQueuePair(right.domain).number(), timeout, 7);
        for (var i = 0; i < 200; i++) {
            left.write(unanswered, 1, PACKET, right);
        }
        pair.run(40 * MILLISECOND);
        left.done.clear();
        for (var round = 0; round < 1_000; round++) {
            for (var i = 0; i < 64; i++) {
                left.write(left.queuePair, 2, PACKET, right);
            }
            pair.run(pair.now + MILLISECOND);
            assertThat(left.done)
                    .filteredOn(done -> done.id() == 2)
                    .as("in round %d", round)
                    .hasSize(64)
                    .extracting(EnginePair.Done::status)
                    .containsOnly(CompletionStatus.SUCCESS);
            left.done.clear();
        }
    }

    /**
     * A suspended peer receives only as many packets as fit into its socket buffer; further packets
     * would be lost.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 30, 80, 150})
    void shouldNotFloodASuspendedPeer(int milliseconds) {
        pair.faults = new EnginePair.Faults(1, 0, 0, 0);
        for (var i = 0; i < 500; i++) {
            var queuePair = left.newQueuePair(left.domain);
            left.connect(queuePair, right, i + 2, 18, 7);
            left.write(queuePair, i, PACKET, right);
        }
        pair.run(MILLISECOND / 2);
        var initialPackets = pair.packets;

        pair.run(milliseconds * MILLISECOND);

        assertThat(initialPackets).isPositive();
        assertThat(pair.packets - initialPackets).isLessThanOrEqualTo(milliseconds / 30);
    }

    /**
     * With many queue pairs, some never obtain capacity on the path. Their requests must fail as
     * early as those of the others.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 50, 1_000})
    void shouldGiveUpOnADeadPeerWithManyQueuePairsAsEarlyAsWithOne(int queuePairs) {
        pair.faults = new EnginePair.Faults(1, 0, 0, 0);
        for (var i = 0; i < queuePairs; i++) {
            var queuePair = left.newQueuePair(left.domain);
            left.connect(queuePair, right, i + 2, 14, 3);
            left.write(queuePair, i, 3 * PACKET, right);
        }
        var timeToGiveUp = (1 + 2 + 4 + 4) * (4_096L << 14);
        pair.run(timeToGiveUp - MILLISECOND);
        assertThat(left.done).isEmpty();
        pair.run(timeToGiveUp + 100 * MILLISECOND);
        assertThat(left.done.stream().map(EnginePair.Done::status))
                .hasSize(queuePairs)
                .containsOnly(CompletionStatus.RETRIES_EXCEEDED);
    }

    /** If the timeout is disabled, only a later message can reveal the loss of a packet. */
    @Test
    void shouldDetectALossByLaterWorkWithoutATimeout() {
        pair.connect(PACKET, 0, 0, 7, 7, 4, EnginePair.ALL);
        pair.faults = new EnginePair.Faults(1, 0, 0, 0);
        left.write(left.queuePair, 1, PACKET, right);
        pair.run(100 * MILLISECOND);
        pair.faults = EnginePair.Faults.NONE;
        left.write(left.queuePair, 2, 20 * PACKET, right);
        pair.run(pair.now + MILLISECOND);
        assertThat(left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L);
    }

    @Test
    void shouldContinueImmediatelyWhenAPeerResumes() {
        pair.connect(PACKET, 0);
        pair.faults = new EnginePair.Faults(1, 0, 0, 0);
        left.write(left.queuePair, 1, 100 * PACKET, right);
        pair.run(150 * MILLISECOND);
        assertThat(left.done).isEmpty();
        pair.faults = EnginePair.Faults.NONE;
        pair.run(pair.now + 4 * (4_096L << 14));
        assertThat(left.done)
                .extracting(EnginePair.Done::status)
                .containsOnly(CompletionStatus.SUCCESS);
        left.write(left.queuePair, 2, 100 * PACKET, right);
        pair.run(pair.now + MILLISECOND);
        assertThat(left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L);
    }
}
