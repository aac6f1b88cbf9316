package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests probes, which show whether the remote queue pair of a connection exists. */
class RemoteQueuePairProbeTest {

    private final EnginePair pair = new EnginePair(Transport.RELIABLE, 1);

    private long answers() {
        var before = pair.left.queuePair.packetsReceived();
        pair.left.queuePair.probe();
        pair.run();
        return pair.left.queuePair.packetsReceived() - before;
    }

    @Test
    void shouldBeAnsweredByARemoteQueuePairBeforeAndAfterRequests() {
        pair.connect(1024, 0);
        assertThat(answers()).isEqualTo(1);
        pair.left.write(pair.left.queuePair, 1, 5_000, pair.right);
        pair.run();
        assertThat(answers()).isEqualTo(1);
        pair.left
                .work(2, SendOperationKind.READ)
                .buffer(pair.left.start, 3_000, pair.left.region.key())
                .remote(pair.right.start, pair.right.region.key());
        pair.left.post();
        pair.run();
        assertThat(answers()).isEqualTo(1);

        assertThat(pair.left.done).extracting(EnginePair.Done::id).containsExactly(1L, 2L);
        assertThat(pair.left.done)
                .extracting(EnginePair.Done::status)
                .containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.right.done).isEmpty();
    }

    @Test
    void shouldNotBeAnsweredForARemoteQueuePairThatWasDestroyed() {
        pair.connect(1024, 0);
        pair.right.engine.destroy(pair.right.queuePair);

        assertThat(answers()).isZero();
    }

    /** The peer may have created a queue pair with the same number that is not connected yet. */
    @Test
    void shouldNotBeAnsweredByARemoteQueuePairThatIsNotConnected() {
        pair.connect(1024, 0);
        pair.right.queuePair.reset();
        pair.right.queuePair.initialize(EnginePair.ALL, 0xffff, 0);

        assertThat(answers()).isZero();
    }

    @ParameterizedTest
    @EnumSource(names = {"UNRELIABLE", "DATAGRAM", "EXTENDED"})
    void shouldSendNothingOverOtherTransports(Transport transport) {
        var other = new EnginePair(transport, 1);
        other.connect(1024, 0);

        other.left.queuePair.probe();
        other.right.queuePair.probe();
        other.run();

        assertThat(other.packets).isZero();
    }

    @Test
    void shouldAffectNoRequestOverALossyLink() {
        pair.connect(1024, 0xff_fff0);
        pair.faults = new EnginePair.Faults(0.05, 0.05, 0.1, 0.05);
        for (var i = 0; i < 200; i++) {
            pair.left.fill(0, 4_000, i);
            pair.left.write(pair.left.queuePair, i, 4_000, pair.right);
            pair.left.queuePair.probe();
            pair.right.queuePair.probe();
            pair.run();
            assertThat(pair.right.holds(0, 4_000, pair.left, 0)).isTrue();
        }

        assertThat(pair.left.done).hasSize(200);
        assertThat(pair.left.done)
                .extracting(EnginePair.Done::status)
                .containsOnly(CompletionStatus.SUCCESS);
        assertThat(pair.exceptions).isEmpty();
    }
}
