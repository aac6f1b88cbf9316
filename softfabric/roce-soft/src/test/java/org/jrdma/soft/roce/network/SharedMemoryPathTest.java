package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.SocketTimeoutException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.soft.roce.model.TracedPacket.Direction;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jrdma.soft.roce.sharedmemory.RingPeer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests when ports of one machine exchange packets through shared memory, and when over UDP. */
@Timeout(120)
class SharedMemoryPathTest {

    private static final int BYTES = 64;
    private static final String MEMORY_NAME = "memfd:jrdma-roce-soft";

    /** Returns the number of mappings of rings in this process. Each ring has two. */
    private static long mappings() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/maps"))) {
            return lines.filter(line -> line.contains(MEMORY_NAME)).count();
        }
    }

    private static int descriptors() {
        return Path.of("/proc/self/fd").toFile().list().length;
    }

    /** Connects a queue pair of a port to a peer that is not a port. */
    private static QueuePair connect(PortFixture port, RoceGid peer, Transport transport) {
        var queuePair = port.newQueuePair(transport);
        port.connect(queuePair, peer, 0x77, 1024, 14);
        return queuePair;
    }

    private static void transfer(PortFixture left, PortFixture right) throws Exception {
        var pair = PortFixture.connected(left, right, 4096);
        left.memory.fill((byte) 5);
        right.memory.fill((byte) 0);
        left.move(pair[0], 1, SendOperationKind.WRITE, 0, 300_000, right);
        assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(right.memory.asSlice(0, 300_000).mismatch(left.memory.asSlice(0, 300_000)))
                .isEqualTo(-1);
        right.move(pair[1], 1, SendOperationKind.READ, 300_000, 300_000, left);
        assertThat(right.await().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(right.memory.asSlice(0, 600_000).mismatch(left.memory.asSlice(0, 600_000)))
                .isEqualTo(-1);
    }

    @Test
    void shouldSendTheFirstPacketThroughTheRingAndNoPacketOverUdp() throws Exception {
        var address = PortFixture.randomAddress();
        try (var port = PortFixture.anywhere();
                var peer = RingPeer.at(address);
                var socket = new DatagramSocket(PacketBuffer.UDP_PORT, address.inet())) {
            var queuePair = connect(port, address, Transport.UNRELIABLE);
            port.memory.setString(0, "Saluton");
            for (var i = 0; i < 10; i++) {
                port.send(queuePair, i, 0, BYTES);
            }

            var ring = peer.accept();
            var packet = new PacketBuffer();
            for (var i = 0; i < 10; i++) {
                ring.read(packet);
                assertThat(packet.memory().getString(PacketBuffer.START + 12L))
                        .isEqualTo("Saluton");
                assertThat(packet.sourceLow()).isEqualTo(port.port.address().low());
            }
            socket.setSoTimeout(100);
            assertThat(receives(socket)).isFalse();
        }
    }

    private static boolean receives(DatagramSocket socket) throws IOException {
        try {
            socket.receive(new DatagramPacket(new byte[4096], 4096));
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        }
    }

    @ParameterizedTest
    @CsvSource({"true, true, 4", "true, false, 0", "false, true, 0", "false, false, 0"})
    void shouldShareMemoryOnlyIfBothPortsPermitIt(
            boolean leftShares, boolean rightShares, int mappings) throws Exception {
        var before = mappings();
        try (var left = PortFixture.anywhere(leftShares);
                var right = PortFixture.anywhere(rightShares)) {
            transfer(left, right);
            assertThat(mappings() - before).isEqualTo(mappings);
        }
    }

    @Test
    void shouldLeaveNoDescriptorsAndMappings() throws Exception {
        try (var left = PortFixture.anywhere();
                var right = PortFixture.anywhere()) {
            transfer(left, right); // loads classes, which may open files
        }
        var mappings = mappings();
        var descriptors = descriptors();
        for (var i = 0; i < 20; i++) {
            try (var left = PortFixture.anywhere();
                    var right = PortFixture.anywhere()) {
                transfer(left, right);
            }
        }
        assertThat(mappings()).isEqualTo(mappings);
        assertThat(descriptors()).isEqualTo(descriptors);
    }

    @Test
    void shouldReleaseTheRingsOfAPeerThatHasClosedItsPort() throws Exception {
        try (var left = PortFixture.anywhere()) {
            var mappings = mappings();
            try (var right = PortFixture.anywhere()) {
                transfer(left, right); // loads classes, which may open files
            }
            awaitEqual(mappings, SharedMemoryPathTest::mappings);
            var descriptors = descriptors();
            for (var i = 0; i < 20; i++) {
                try (var right = PortFixture.anywhere()) {
                    transfer(left, right);
                }
            }
            awaitEqual(mappings, SharedMemoryPathTest::mappings);
            assertThat(descriptors()).isEqualTo(descriptors);
        }
    }

    /** A value that changes. */
    private interface Value {
        long read() throws Exception;
    }

    private static void awaitEqual(long expected, Value value) throws Exception {
        var deadline = System.nanoTime() + 20_000_000_000L;
        while (value.read() != expected && System.nanoTime() < deadline) {
            Thread.sleep(1);
        }
        assertThat(value.read()).isEqualTo(expected);
    }

    @Test
    void shouldExchangePacketsWithItself() throws Exception {
        var before = mappings();
        try (var port = PortFixture.anywhere()) {
            var pair = PortFixture.connected(port, port, 1024);
            port.receive(pair[1], 1, 0, BYTES);
            port.send(pair[0], 2, 0, BYTES);
            assertThat(List.of(port.await().status(), port.await().status()))
                    .containsOnly(CompletionStatus.SUCCESS);
            assertThat(mappings() - before).isEqualTo(2);
        }
    }

    @Test
    void shouldUseUdpIfAnotherProgramHasTakenTheNameOfThePort() throws Exception {
        var address = PortFixture.randomAddress();
        try (var left = PortFixture.anywhere();
                var right = occupiedPort(address)) {
            var before = mappings();
            transfer(left, right);
            assertThat(mappings() - before).isZero();
        }
    }

    /** Opens a port at an address while another program uses the name of its socket. */
    private static PortFixture occupiedPort(RoceGid address) throws FabricException {
        try (var _ = RingPeer.at(address)) {
            return PortFixture.at(address);
        }
    }

    @Test
    void shouldUseUdpAfterThePeerHasEnded() throws Exception {
        var address = PortFixture.randomAddress();
        var peer = RingPeer.at(address);
        try (var port = PortFixture.anywhere();
                var socket = new DatagramSocket(PacketBuffer.UDP_PORT, address.inet())) {
            var before = mappings();
            var queuePair = connect(port, address, Transport.UNRELIABLE);
            peer.accept();
            peer.close();
            awaitEqual(before, SharedMemoryPathTest::mappings);
            port.send(queuePair, 1, 0, BYTES);
            socket.setSoTimeout(20_000);
            assertThat(receives(socket)).isTrue();
        }
    }

    /** A full ring must neither block the port nor affect other peers. */
    @Test
    void shouldDropPacketsForAPeerThatReceivesNothing() throws Exception {
        var address = PortFixture.randomAddress();
        try (var port = PortFixture.anywhere();
                var other = PortFixture.anywhere();
                var _ = RingPeer.at(address)) {
            var queuePair = connect(port, address, Transport.UNRELIABLE);
            for (var i = 0; i < 5_000; i++) {
                while (queuePair.sends().claim() == null) {
                    Thread.onSpinWait();
                }
                port.send(queuePair, i, 0, 1024);
            }
            for (var i = 0; i < 5_000; i++) {
                assertThat(port.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            }
            transfer(port, other);
        }
    }

    /** The packets of a peer that has closed its port are still received. */
    @Test
    void shouldReceiveThePacketsThatWereSentBeforeThePeerClosed() throws Exception {
        var messages = 100;
        try (var right = PortFixture.anywhere()) {
            for (var round = 0; round < 20; round++) {
                try (var left = PortFixture.anywhere()) {
                    var from = left.newQueuePair(Transport.UNRELIABLE);
                    var to = right.newQueuePair(Transport.UNRELIABLE);
                    left.connect(from, right, to, 1024, 14);
                    right.connect(to, left, from, 1024, 14);
                    for (var i = 0; i < messages; i++) {
                        right.receive(to, i, 0, BYTES);
                    }
                    for (var i = 0; i < messages; i++) {
                        left.send(from, i, 0, BYTES);
                    }
                    for (var i = 0; i < messages; i++) {
                        assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
                    }
                }
                for (var i = 0; i < messages; i++) {
                    assertThat(right.await().id()).isEqualTo(i);
                }
            }
        }
    }

    @Test
    void shouldConnectThroughSharedMemoryAgainAfterThePortWasReopened() throws Exception {
        try (var left = PortFixture.anywhere()) {
            var address = PortFixture.randomAddress();
            for (var i = 0; i < 10; i++) {
                try (var right = PortFixture.at(address)) {
                    var before = mappings();
                    transfer(left, right);
                    assertThat(mappings() - before).as("round " + i).isBetween(2L, 4L);
                }
            }
        }
    }

    @Test
    void shouldFailOnlyTheConnectionsToAPortThatIsClosedWhileThePeerWrites() throws Exception {
        try (var left = PortFixture.anywhere();
                var survivor = PortFixture.anywhere()) {
            for (var round = 0; round < 5; round++) {
                var right = PortFixture.anywhere();
                var pair = left.newQueuePair(Transport.RELIABLE);
                var other = right.newQueuePair(Transport.RELIABLE);
                left.connect(pair, right, other, 4096, 8);
                right.connect(other, left, pair, 4096, 8);
                var closer =
                        Thread.ofPlatform()
                                .start(() -> {
                                    LockSupport.parkNanos(3_000_000);
                                    right.close();
                                });
                var status = CompletionStatus.SUCCESS;
                for (var i = 0; status == CompletionStatus.SUCCESS; i++) {
                    left.move(pair, i, SendOperationKind.WRITE, 0, 100_000, right);
                    status = left.await().status();
                }
                assertThat(status).isEqualTo(CompletionStatus.RETRIES_EXCEEDED);
                closer.join();
                transfer(left, survivor);
            }
        }
    }

    /** A lost wake-up would delay a message until the retransmission after four seconds. */
    @Test
    void shouldWakeUpASleepingPortForEachMessage() throws Exception {
        try (var left = PortFixture.anywhere();
                var right = PortFixture.anywhere()) {
            var from = left.newQueuePair(Transport.RELIABLE);
            var to = right.newQueuePair(Transport.RELIABLE);
            left.connect(from, right, to, 1024, 20);
            right.connect(to, left, from, 1024, 20);
            var sent = new CopyOnWriteArrayList<String>();
            left.port.listen(packet -> {
                if (packet.direction() == Direction.SENT) {
                    sent.add(packet.operation());
                }
            });
            var messages = 500;
            for (var i = 0; i < messages; i++) {
                LockSupport.parkNanos(i % 10 * 100_000L);
                left.move(from, i, SendOperationKind.WRITE, 0, BYTES, right);
                assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            }
            assertThat(sent).hasSize(messages);
        }
    }

    @Test
    void shouldInjectFaultsAndDetectDamage() throws Exception {
        try (var left = PortFixture.anywhere();
                var right = PortFixture.anywhere()) {
            var before = mappings();
            left.port.faults(
                    NetworkFaults.seeded(5)
                            .loss(0.02)
                            .duplication(0.02)
                            .reordering(0.02)
                            .corruption(0.05)
                            .delay(0.02, java.time.Duration.ofMillis(1)));
            for (var i = 0; i < 5; i++) {
                transfer(left, right);
            }
            assertThat(mappings() - before).isEqualTo(4);
            var counts = left.port.faultCounts();
            assertThat(List.of(counts.lost(), counts.duplicated(), counts.damaged()))
                    .allMatch(count -> count > 0);
            assertThat(counts.delayed()).isPositive();
        }
    }

    /** Only packets for listeners need a checksum. */
    @ParameterizedTest
    @CsvSource({"true, false", "false, true", "true, true"})
    void shouldReportPacketsWithValidChecksumsToListeners(boolean atSender, boolean atReceiver)
            throws Exception {
        try (var left = PortFixture.anywhere();
                var right = PortFixture.anywhere()) {
            var before = mappings();
            var sent = new CopyOnWriteArrayList<String>();
            var received = new CopyOnWriteArrayList<String>();
            if (atSender) {
                left.port.listen(packet -> addValid(packet, Direction.SENT, sent));
            }
            if (atReceiver) {
                right.port.listen(packet -> addValid(packet, Direction.RECEIVED, received));
            }
            var pair = PortFixture.connected(left, right, 1024, 20);
            left.move(pair[0], 1, SendOperationKind.WRITE, 0, 2_500, right);
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);

            assertThat(mappings() - before).isEqualTo(4);
            var expected = List.of("RC_WRITE_FIRST", "RC_WRITE_MIDDLE", "RC_WRITE_LAST");
            assertThat(sent).isEqualTo(atSender ? expected : List.of());
            assertThat(received).isEqualTo(atReceiver ? expected : List.of());
        }
    }

    private static void addValid(
            TracedPacket packet, Direction direction, List<String> operations) {
        if (packet.direction() != direction) {
            return;
        }
        var copy = new PacketBuffer();
        var bytes = packet.bytes();
        for (var i = 0; i < bytes.limit(); i++) {
            copy.memory().set(ValueLayout.JAVA_BYTE, PacketBuffer.START + i, bytes.get(i));
        }
        copy.length(bytes.limit());
        var source = RoceGid.of(packet.source());
        var destination = RoceGid.of(packet.destination());
        copy.addresses(source.high(), source.low(), destination.high(), destination.low());
        copy.sourcePort(packet.sourcePort());
        operations.add(new InvariantCrc().matches(copy) ? packet.operation() : "a wrong checksum");
    }

    @Test
    void shouldSendAndReceiveNothingWhileTheLinkIsDown() throws Exception {
        try (var left = PortFixture.anywhere();
                var right = PortFixture.anywhere()) {
            var from = left.newQueuePair(Transport.UNRELIABLE);
            var to = right.newQueuePair(Transport.UNRELIABLE);
            left.connect(from, right, to, 1024, 14);
            right.connect(to, left, from, 1024, 14);
            right.receive(to, 6, 0, BYTES);
            left.send(from, 0, 0, BYTES);
            assertThat(right.await().id()).isEqualTo(6); // The port has accepted the ring.

            right.receive(to, 7, 0, BYTES);
            right.port.linkUp(false);
            left.send(from, 1, 0, BYTES);
            finishRounds(left, right);
            right.port.linkUp(true);
            left.port.linkUp(false);
            left.send(from, 2, 0, BYTES);
            finishRounds(left, right);
            assertThat(right.done).isEmpty();
            left.port.linkUp(true);
            left.send(from, 3, 0, BYTES);
            assertThat(right.await().id()).isEqualTo(7);
        }
    }

    /** Ensures that one port has sent the posted work, and the other has received its packets. */
    private static void finishRounds(PortFixture sender, PortFixture receiver) {
        sender.port.run(_ -> {});
        receiver.port.run(_ -> {}); // waits for a round that began before the packets were sent
        receiver.port.progress(); // has no effect during a round, which then receives the packets
        receiver.port.run(_ -> {});
    }

    @Test
    void shouldAcceptRingsWhileAProgramPolls() throws Exception {
        var stop = new AtomicBoolean();
        try (var left = PortFixture.anywhere();
                var right = PortFixture.anywhere()) {
            var poller =
                    Thread.ofPlatform()
                            .start(() -> {
                                while (!stop.get()) {
                                    right.port.progress();
                                }
                            });
            try {
                Thread.sleep(10);
                transfer(left, right);
            } finally {
                stop.set(true);
                poller.join();
            }
        }
    }
}
