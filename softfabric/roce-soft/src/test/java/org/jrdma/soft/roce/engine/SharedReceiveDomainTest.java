package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import org.jrdma.soft.roce.memory.MemoryRegion;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.RouteHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests that receives of a shared receive queue access memory of the protection domain of the
 * receive queue, even if the queue pair belongs to another protection domain.
 */
class SharedReceiveDomainTest {

    private static final long MILLISECOND = 1_000_000;
    private static final int QUEUE_KEY = 0x1234;
    private static final int BYTES = 100;

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EXTENDED")
    void shouldAccessMemoryOfTheDomainOfTheQueue(Transport transport) {
        var pair = new EnginePair(transport, 1);
        var queueDomain = new ProtectionDomain();
        var region =
                pair.right.registry.register(queueDomain, pair.right.memory, 0, EnginePair.ALL);

        assertThat(receiveStatus(pair, queueDomain, 0, region)).isEqualTo(CompletionStatus.SUCCESS);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "EXTENDED")
    void shouldRejectMemoryOfTheDomainOfTheQueuePair(Transport transport) {
        var pair = new EnginePair(transport, 1);
        var start = pair.right.start;

        assertThat(receiveStatus(pair, new ProtectionDomain(), start, pair.right.region))
                .isEqualTo(CompletionStatus.LOCAL_PROTECTION_ERROR);
    }

    /**
     * Posts a receive for a region to a shared receive queue of a domain, sends a message to it,
     * and returns the status of the receive.
     */
    private static CompletionStatus receiveStatus(
            EnginePair pair, ProtectionDomain domain, long start, MemoryRegion region) {
        var right = pair.right;
        var shared = new ReceiveQueue(domain, 4, 1, () -> {});
        right.queuePair = right.newQueuePair(right.transport, right.domain, right::add, shared);
        pair.connect(1024, 0, 0, 7, 7, 4, EnginePair.ALL);
        shared.claim().begin(9).buffer(start, RouteHeader.BYTES + BYTES, region.key());
        shared.post();
        var work = pair.left.work(1, SendOperationKind.SEND);
        work.buffer(pair.left.start, BYTES, pair.left.region.key());
        if (pair.left.transport == Transport.DATAGRAM) {
            work.datagram(right.address, right.queuePair.number(), QUEUE_KEY);
        }
        pair.left.post();
        pair.run(MILLISECOND);
        return right.done.getFirst().status();
    }
}
