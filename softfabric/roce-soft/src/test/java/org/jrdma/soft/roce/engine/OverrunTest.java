package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that the overrun of a completion queue fails only the queue pair that uses the queue. */
class OverrunTest {

    private static final long MILLISECOND = 1_000_000;

    private final List<Long> reportedIds = new ArrayList<>();

    @ParameterizedTest
    @EnumSource(names = {"RELIABLE", "UNRELIABLE"})
    void shouldFailOnlyTheSenderWhoseCompletionQueueOverruns(Transport transport) {
        var pair = new EnginePair(transport, 1);
        pair.connect(4096, 0);
        var crowded = pair.left.newQueuePair(pair.left.domain, this::acceptOne);
        connect(pair, crowded, pair.right.newQueuePair(pair.right.domain));

        for (var id = 1; id <= 3; id++) {
            pair.left.write(crowded, id, 100, pair.right);
            pair.left.write(pair.left.queuePair, id, 100, pair.right);
        }
        pair.run(MILLISECOND);

        assertThat(crowded.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(reportedIds).startsWith(1L).doesNotHaveDuplicates();
        assertThat(pair.left.queuePair.state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(pair.left.done)
                .extracting(EnginePair.Done::status)
                .hasSize(3)
                .containsOnly(CompletionStatus.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EXTENDED")
    void shouldFailAReceiverWhoseCompletionQueueOverrunsAndNotAcknowledgeTheMessage(
            Transport transport) {
        var pair = new EnginePair(transport, 1);
        var crowded = pair.right.newQueuePair(pair.right.domain, this::acceptOne);
        pair.right.queuePair = crowded;
        pair.connect(4096, 0, 10, 1, 0, 4, EnginePair.ALL);
        for (var id = 1; id <= 2; id++) {
            pair.right.receive(id, 0, 200);
            pair.left
                    .work(id, SendOperationKind.SEND)
                    .buffer(pair.left.start, 100, pair.left.region.key())
                    .datagram(pair.right.address, crowded.number(), 0x1234);
            pair.left.post();
            pair.run(pair.now + MILLISECOND);
        }
        pair.run(1_000 * MILLISECOND);

        assertThat(crowded.state()).isEqualTo(QueuePairState.ERROR);
        assertThat(reportedIds).startsWith(1L);
        if (transport == Transport.RELIABLE) {
            assertThat(pair.left.done)
                    .extracting(EnginePair.Done::status)
                    .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.RETRIES_EXCEEDED);
        }
    }

    /** Adds a completion to a completion queue that has one entry and is never polled. */
    private boolean acceptOne(Completion completion) {
        reportedIds.add(completion.id());
        return reportedIds.size() == 1;
    }

    private static void connect(EnginePair pair, QueuePair left, QueuePair right) {
        pair.left.connect(left, pair.right, right.number(), 14, 7);
        pair.right.connect(right, pair.left, left.number(), 14, 7);
    }
}
