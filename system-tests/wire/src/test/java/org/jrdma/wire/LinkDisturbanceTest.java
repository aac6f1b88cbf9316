package org.jrdma.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.wire.ConnectedEnds.SLOT_BYTES;
import static org.jrdma.wire.ConnectedEnds.SOURCE;
import static org.jrdma.wire.ConnectedEnds.WRITTEN;
import static org.jrdma.wire.ConnectedEnds.assertThatMemoryIsUntouched;
import static org.jrdma.wire.ConnectedEnds.fill;
import static org.jrdma.wire.ConnectedEnds.part;
import static org.jrdma.wire.ConnectedEnds.slot;

import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.wire.ConnectedEnds.Requester;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests transfers between the software fabric and the kernel device rxe1 while the link between
 * them is disturbed for a long time, and between sides with different path MTUs.
 */
class LinkDisturbanceTest {

    /** The duration of the faults, which {@code -Djrdma.test.disturbance.seconds=60} changes. */
    private static final Duration DISTURBANCE =
            Duration.ofSeconds(Integer.getInteger("jrdma.test.disturbance.seconds", 15));

    /** The time for which the interface is down. All retries together last longer. */
    private static final Duration OUTAGE = Duration.ofSeconds(3);

    /**
     * The kernel is not the requester, because its requester fails if packets are reordered, see
     * {@link SdkAgainstKernelDeviceTest}.
     */
    @Test
    void shouldTransferAllBytesOverALinkThatLosesDelaysAndReordersPackets() throws Exception {
        try (var ends = ConnectedEnds.open(Family.IPV4, Mtu.BYTES_1024, 16)) {
            for (var sender : List.of("wire0", "wire1")) {
                VethLinkToKernel.faults(sender, "delay 1ms reorder 10% 50% loss 1%");
            }
            var end = System.nanoTime() + DISTURBANCE.toNanos();
            ends.makeRequests(Requester.SOFTWARE, _ -> System.nanoTime() - end < 0);
        } finally {
            VethLinkToKernel.removeFaults();
        }
    }

    @ParameterizedTest
    @EnumSource(Requester.class)
    void shouldContinueAfterTheInterfaceWasDown(Requester requester) throws Exception {
        try (var ends = ConnectedEnds.open(Duration.ofSeconds(1))) {
            var outage = new Outage();
            var thread = Thread.ofPlatform().name("outage").start(outage);

            ends.makeRequests(requester, _ -> outage.isRoundDue());

            thread.join();
            assertThat(outage.longestRound).isGreaterThan(OUTAGE.dividedBy(2));
        }
    }

    /** Takes the interface of the software fabric down and up, and measures the rounds. */
    private static final class Outage implements Runnable {

        private final CompletableFuture<Void> ended = new CompletableFuture<>();
        private Duration longestRound = Duration.ZERO;
        private long lastRound = System.nanoTime();
        private int roundsAfterwards;

        @Override
        public void run() {
            try {
                Thread.sleep(500);
                VethLinkToKernel.softwareInterfaceUp(false);
                try {
                    Thread.sleep(OUTAGE);
                } finally {
                    VethLinkToKernel.softwareInterfaceUp(true);
                }
                ended.complete(null);
            } catch (Exception e) {
                ended.completeExceptionally(e);
            }
        }

        /** Returns true until some rounds have started after the interface was up again. */
        boolean isRoundDue() {
            var now = System.nanoTime();
            var round = Duration.ofNanos(now - lastRound);
            longestRound = round.compareTo(longestRound) > 0 ? round : longestRound;
            lastRound = now;
            if (ended.isDone()) {
                ended.join();
                roundsAfterwards++;
            }
            return roundsAfterwards <= 10;
        }
    }

    /** The packets of a long request have the path MTU of the requester. */
    @ParameterizedTest
    @CsvSource({
        "SOFTWARE, BYTES_1024, BYTES_4096",
        "SOFTWARE, BYTES_4096, BYTES_1024",
        "KERNEL, BYTES_1024, BYTES_4096",
        "KERNEL, BYTES_4096, BYTES_1024",
    })
    void shouldRejectAWriteWhosePacketsHaveAnotherPathMtu(
            Requester requesting, Mtu software, Mtu kernel) throws Exception {
        try (var ends = ConnectedEnds.open(software, kernel)) {
            var requester = ends.requester(requesting);
            var responder = ends.responder(requesting);
            fill(part(requester, SOURCE), new SplittableRandom(1));
            var target = responder.memory().remote().slice(WRITTEN, SLOT_BYTES);

            requester.post(requester.queuePair().prepareWrite(slot(requester, SOURCE, 0), target));

            requester.awaitAny();
            assertThat(requester.cursor().next()).isTrue();
            assertThat(requester.cursor().status())
                    .isEqualTo(CompletionStatus.REMOTE_INVALID_REQUEST);
            assertThatMemoryIsUntouched(responder);
        }
    }
}
