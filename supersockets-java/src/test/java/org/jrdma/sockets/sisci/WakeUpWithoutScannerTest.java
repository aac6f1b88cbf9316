package org.jrdma.sockets.sisci;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.Deadline;
import org.jrdma.sisci.RemoteMap;
import org.jrdma.sisci.Sisci;
import org.jrdma.sockets.internal.SocketCalls;
import org.jrdma.soft.sisci.FaultOptions;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@link MissedWakeUpScanner} would hide that a mark is missing, wrong or lost. */
@Timeout(60)
class WakeUpWithoutScannerTest {

    private static final int SENDING_NODE = 4;
    private static final int RECEIVING_NODE = 8;
    private static final int RING_BYTES = 4096;
    private static final int ROUNDS = 100;
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private static SisciStreamNode open(Path folder, int node, boolean weak) throws Exception {
        var options =
                SoftSisciOptions.in(folder).node(node).faults(FaultOptions.NONE.weakMemory(weak));
        return SisciStreamNode.openWithoutScanner(Sisci.from(new SoftSisci(options)));
    }

    private static SisciStream open(SisciStreamNode own, int peer) throws Exception {
        var address = new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        return SisciStream.open(own, RING_BYTES, new StreamSegment.Route(peer, address, 0));
    }

    private static void join(
            SisciStreamNode own, SisciStream stream, SisciStreamNode peer, SisciStream target)
            throws Exception {
        stream.join(
                PeerSegment.connect(
                        own, peer.nodeId(), target.segmentId(), peer.wakeUpNumber(), TIMEOUT));
    }

    @ParameterizedTest
    @CsvSource({
        "false, 0",
        "true, 0",
        "false, 4095", // The receiver has no slot of its own.
        "true, 4095"
    })
    void shouldWakeUpTheReceiverForEachMessage(boolean weak, int others, @TempDir Path folder)
            throws Exception {
        var sending = open(folder, SENDING_NODE, weak);
        var receiving = open(folder, RECEIVING_NODE, weak);
        for (var i = 0; i < others; i++) {
            receiving.marks().add(() -> {});
        }
        var sender = open(sending, RECEIVING_NODE);
        var receiver = open(receiving, SENDING_NODE);
        join(sending, sender, receiving, receiver);
        join(receiving, receiver, sending, sender);
        var woken = new Semaphore(0);
        receiver.add(woken::release);
        try (var senderSegment = sending.node().connect(SENDING_NODE, sender.segmentId(), TIMEOUT);
                var arena = Arena.ofConfined()) {
            var map = senderSegment.map();
            var bytes = arena.allocate(1);
            for (var round = 0; round < ROUNDS; round++) {
                var sleeps = map.getLongAcquire(StreamLayout.READER_SLEEPS);
                assertThat(receiver.readyOrArmed(SocketCalls.POLLIN)).isZero();
                awaitSleep(map, sleeps);

                assertThat(sender.send(bytes, 1)).isEqualTo(1);

                assertThat(woken.tryAcquire(5, TimeUnit.SECONDS)).as("round %d", round).isTrue();
                assertThat(receiver.receive(bytes, 1)).isEqualTo(1);
                woken.drainPermits();
            }
        }
        sender.abandon();
        receiver.abandon();
    }

    /** Waits until the sender can see that the receiver sleeps. */
    private static void awaitSleep(RemoteMap map, long before) throws InterruptedException {
        var deadline = Deadline.after(TIMEOUT);
        while (map.getLongAcquire(StreamLayout.READER_SLEEPS) == before) {
            assertThat(deadline.hasPassed()).isFalse();
            Thread.sleep(1);
        }
    }
}
