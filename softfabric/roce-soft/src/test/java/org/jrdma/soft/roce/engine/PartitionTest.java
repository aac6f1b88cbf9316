package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.stream.Stream;
import org.jrdma.soft.roce.packet.RouteHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests which partition keys allow communication. The highest bit of a partition key indicates a
 * full member.
 */
class PartitionTest {

    private static final long MILLISECOND = 1_000_000;
    private static final int QUEUE_KEY = 0x1234;
    private static final int NO_TIMEOUT = 0;

    static Stream<Arguments> matchingKeys() {
        return everyTransport(
                new int[][] {
                    {0xffff, 0xffff}, {0x7fff, 0xffff}, {0xffff, 0x7fff}, {0x8001, 0x0001}
                });
    }

    static Stream<Arguments> mismatchingKeys() {
        return everyTransport(
                new int[][] {
                    {0x7fff, 0x7fff}, // Both are limited members.
                    {0x8001, 0xffff},
                    {0xffff, 0x8001},
                    {0x0001, 0xffff}
                });
    }

    private static Stream<Arguments> everyTransport(int[][] keys) {
        return Stream.of(keys)
                .flatMap(key ->
                        Stream.of(Transport.values())
                                .map(transport -> Arguments.of(transport, key[0], key[1])));
    }

    @ParameterizedTest
    @MethodSource("matchingKeys")
    void shouldAcceptPacketsOfTheSamePartition(Transport transport, int sender, int receiver) {
        var pair = pairAfterSend(transport, sender, receiver);

        assertThat(pair.right.done)
                .extracting(EnginePair.Done::status)
                .containsExactly(CompletionStatus.SUCCESS);
        assertThat(pair.left.done)
                .extracting(EnginePair.Done::status)
                .containsExactly(CompletionStatus.SUCCESS);
    }

    @ParameterizedTest
    @MethodSource("mismatchingKeys")
    void shouldSilentlyDropPacketsOfAnotherPartition(
            Transport transport, int sender, int receiver) {
        var pair = pairAfterSend(transport, sender, receiver);

        assertThat(pair.right.done).isEmpty();
        assertThat(pair.right.events).isEmpty();
        assertThat(pair.packets).isEqualTo(1);
    }

    private static EnginePair pairAfterSend(Transport transport, int sender, int receiver) {
        var pair = new EnginePair(transport, 1);
        connect(pair.left, pair.right, sender);
        connect(pair.right, pair.left, receiver);
        pair.right.receive(9, 0, RouteHeader.BYTES + 100);
        var work = pair.left.work(1, SendOperationKind.SEND);
        work.buffer(pair.left.start, 100, pair.left.region.key());
        if (transport == Transport.DATAGRAM) {
            work.datagram(pair.right.address, pair.right.queuePair.number(), QUEUE_KEY);
        }
        pair.left.post();
        pair.run(MILLISECOND);
        return pair;
    }

    private static void connect(EnginePair.Side side, EnginePair.Side peer, int partitionKey) {
        side.queuePair.initialize(EnginePair.ALL, partitionKey, QUEUE_KEY);
        side.queuePair.readyToReceive(
                new ReceiveParameters(
                        side.address, peer.address, peer.queuePair.number(), 1024, 0, 4, 12));
        side.queuePair.readyToSend(new SendParameters(0, NO_TIMEOUT, 7, 7, 4));
    }
}
