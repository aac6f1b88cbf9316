package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.jrdma.soft.roce.model.NetworkFaultCounts;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.TracedPacket.Direction;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests injected network faults, a link that is down, and a peer that has closed its port. */
@ParameterizedClass(name = "shared memory: {0}")
@ValueSource(booleans = {true, false})
class PortFaultsTest {

    @Parameter private boolean sharesMemory;

    private static final int PACKETS = 20_000;

    private static final NetworkFaults LOSSY =
            NetworkFaults.seeded(7)
                    .loss(0.05)
                    .duplication(0.05)
                    .reordering(0.05)
                    .corruption(0.02)
                    .delay(0.02, Duration.ofMillis(1));

    @Test
    void shouldMakeTheSameDecisionsForTheSameSeed() {
        var first = decisions(LOSSY);
        assertThat(decisions(LOSSY)).isEqualTo(first);
        assertThat(decisions(NetworkFaults.seeded(8).loss(0.05))).isNotEqualTo(first);
        assertThat(first).contains("PASS", "PASS_TWICE", "HELD_BACK", "LOST");
    }

    /** Returns each kind of fault with a probability of 0.1, and the index of its counter. */
    private static Stream<Arguments> singleFaults() {
        var none = NetworkFaults.seeded(3);
        return Stream.of(
                arguments(0, none.loss(0.1)),
                arguments(1, none.duplication(0.1)),
                arguments(2, none.reordering(0.1)),
                arguments(3, none.corruption(0.1)),
                arguments(4, none.delay(0.1, Duration.ofNanos(1))));
    }

    @ParameterizedTest
    @MethodSource("singleFaults")
    void shouldInjectOnlyTheConfiguredFaultAtItsProbability(int kind, NetworkFaults faults) {
        var injector = new FaultInjector(faults);
        var packet = new PacketBuffer();
        packet.length(64);
        for (var i = 0; i < PACKETS; i++) {
            for (var late = injector.due(i); late != null; late = injector.due(i)) {
                injector.free(late);
            }
            injector.decide(packet, i);
        }

        var counts = injector.counts();
        assertThat(counts.sent()).isEqualTo(PACKETS);
        var otherCounts =
                new ArrayList<>(
                        List.of(
                                counts.lost(),
                                counts.duplicated(),
                                counts.overtaken(),
                                counts.damaged(),
                                counts.delayed()));
        // The tolerance is five standard deviations.
        var tolerance = (long) (5 * Math.sqrt(PACKETS * 0.1 * 0.9));
        assertThat(otherCounts.remove(kind)).isCloseTo(PACKETS / 10, within(tolerance));
        assertThat(otherCounts).containsOnly(0L);
    }

    /** A packet that is held back is not counted if no other packet overtakes it. */
    @Test
    void shouldCountOnlyOvertakenPackets() {
        var injector = new FaultInjector(NetworkFaults.seeded(3).reordering(1));
        var packet = new PacketBuffer();
        packet.length(64);

        injector.decide(packet, 0);
        injector.free(injector.due(Duration.ofSeconds(1).toNanos()));

        assertThat(injector.counts()).isEqualTo(new NetworkFaultCounts(1, 0, 0, 0, 0, 0));
    }

    @Test
    void shouldCountThePacketsThatAListenerReceives() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, 1024);
            var seen = new CopyOnWriteArrayList<Direction>();
            left.port.listen(packet -> seen.add(packet.direction()));
            left.port.faults(NetworkFaults.seeded(5).loss(0.2).duplication(0.2));
            left.move(pair[0], 1, SendOperationKind.WRITE, 0, 200_000, right);
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            left.port.close();

            var counts = left.port.faultCounts();
            assertThat(counts.sent()).isGreaterThanOrEqualTo(200_000 / 1024);
            assertThat(seen).filteredOn(Direction.LOST::equals).hasSize((int) counts.lost());
            assertThat(seen)
                    .filteredOn(Direction.SENT::equals)
                    .hasSize((int) (counts.sent() - counts.lost() + counts.duplicated()));
        }
    }

    private static List<String> decisions(NetworkFaults faults) {
        var injector = new FaultInjector(faults);
        var packet = new PacketBuffer();
        packet.length(64);
        var decisions = new ArrayList<String>();
        for (var i = 0; i < 500; i++) {
            decisions.add(injector.decide(packet, i).toString());
            decisions.add(
                    Arrays.toString(
                            packet.memory()
                                    .asSlice(PacketBuffer.START, 64)
                                    .toArray(ValueLayout.JAVA_BYTE)));
        }
        return decisions;
    }

    /**
     * The test uses an unreliable connection, because a reliable one would retransmit delayed
     * packets.
     */
    @Test
    void shouldSendDelayedPacketsAfterTheFaultsAreRemoved() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var one = left.newQueuePair(Transport.UNRELIABLE);
            var other = right.newQueuePair(Transport.UNRELIABLE);
            left.connect(one, right, other, 1024, 14);
            right.connect(other, left, one, 1024, 14);
            right.receive(other, 1, 0, 64);
            left.port.faults(NetworkFaults.NONE.delay(1, Duration.ofMillis(100)));
            left.send(one, 2, 0, 64);
            assertThat(left.await().id()).isEqualTo(2);

            left.port.faults(NetworkFaults.NONE);

            assertThat(right.await().id()).isEqualTo(1);
        }
    }

    @Test
    void shouldTransferEveryByteOverALossyNetwork() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var one = left.newQueuePair(Transport.RELIABLE);
            var other = right.newQueuePair(Transport.RELIABLE);
            left.connect(one, right, other, 1024, 10);
            right.connect(other, left, one, 1024, 10);
            left.port.faults(LOSSY);
            right.port.faults(LOSSY);
            left.memory.fill((byte) 11);
            for (var i = 0; i < 40; i++) {
                left.move(one, i, SendOperationKind.WRITE, i * 20_000L, 20_000, right);
            }
            for (var i = 0; i < 40; i++) {
                var done = left.await();
                assertThat(done.status()).isEqualTo(CompletionStatus.SUCCESS);
                assertThat(done.id()).isEqualTo(i);
            }
            assertThat(right.memory.asSlice(0, 800_000).mismatch(left.memory.asSlice(0, 800_000)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void shouldTransferNothingWhileTheLinkIsDown() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, 1024);
            right.port.linkUp(false);
            left.move(pair[0], 1, SendOperationKind.WRITE, 0, 100, right);
            Thread.sleep(30);
            assertThat(left.done).isEmpty();
            right.port.linkUp(true);
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    @Test
    void shouldExhaustOnlyTheRetriesToAClosedPeer() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory);
                var third = PortFixture.anywhere(sharesMemory)) {
            var working = PortFixture.connected(left, third, 1024);
            var one = left.newQueuePair(Transport.RELIABLE);
            var other = right.newQueuePair(Transport.RELIABLE);
            left.connect(one, right, other, 1024, 11);
            right.connect(other, left, one, 1024, 11);
            right.port.close();
            var start = System.nanoTime();
            left.move(one, 1, SendOperationKind.WRITE, 0, 100, right);
            left.move(working[0], 2, SendOperationKind.WRITE, 0, 100, third);
            assertThat(left.await().id()).isEqualTo(2);
            assertThat(left.await().status()).isEqualTo(CompletionStatus.RETRIES_EXCEEDED);
            assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(8 * (4_096L << 11));
        }
    }

    @Test
    void shouldRejectInvalidProbabilities() {
        assertThatThrownBy(() -> NetworkFaults.NONE.loss(1.5))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("loss");
        assertThatThrownBy(() -> NetworkFaults.NONE.delay(Double.NaN, Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
