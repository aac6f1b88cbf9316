package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SealedMemory;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jrdma.soft.roce.sharedmemory.RingPeer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests peers that violate the rules of the shared memory: they affect only their own connections.
 */
@Timeout(300)
class HostileRingTest {

    private static final long TAIL = 0;
    private static final long HEAD = 128;
    private static final long WAITING = 256;
    private static final long RECORDS = 4096;

    /** The duration of random stores, which {@code -Djrdma.test.hostile.seconds=60} changes. */
    private static final Duration DURATION =
            Duration.ofSeconds(Integer.getInteger("jrdma.test.hostile.seconds", 2));

    private static final int BYTES = 10_000;

    private final RoceGid address = PortFixture.randomAddress();
    private PortFixture victim;
    private PortFixture honest;
    private QueuePair[] pair;
    private RingPeer peer;
    private long id;

    @BeforeEach
    void open() throws FabricException {
        victim = PortFixture.anywhere();
        honest = PortFixture.anywhere();
        pair = PortFixture.connected(victim, honest, 1024);
        peer = RingPeer.at(address);
    }

    @AfterEach
    void close() {
        peer.close();
        honest.close();
        victim.close();
    }

    /** Checks that the victim and the honest port still exchange data. */
    private void checkHonestTraffic() throws InterruptedException {
        id++;
        victim.memory.asSlice(0, BYTES).fill((byte) id);
        victim.move(pair[0], id, SendOperationKind.WRITE, 0, BYTES, honest);
        assertThat(victim.await().status()).isEqualTo(CompletionStatus.SUCCESS);
        honest.move(pair[1], id, SendOperationKind.READ, BYTES, BYTES, victim);
        assertThat(honest.await().status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(honest.memory.asSlice(0, BYTES).mismatch(victim.memory.asSlice(0, BYTES)))
                .isEqualTo(-1);
    }

    /** Waits until the victim, which other traffic wakes up, has closed a ring. */
    private void awaitClosed(RingPeer.Outgoing ring) throws InterruptedException {
        var deadline = Deadline.after(Duration.ofSeconds(20));
        while (!ring.isClosed()) {
            assertThat(deadline.hasPassed()).as("the port keeps the ring").isFalse();
            checkHonestTraffic();
        }
    }

    private static PacketBuffer packet(int queuePair) {
        var packet = new PacketBuffer();
        BaseTransportHeader.encode(
                packet.memory(),
                PacketBuffer.START,
                OpCode.RC_ACKNOWLEDGE,
                false,
                0,
                0xffff,
                queuePair,
                false,
                1);
        packet.length(BaseTransportHeader.BYTES + 8);
        packet.sealed(false);
        return packet;
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, 1, 4, (2 << 20) + 8, Long.MAX_VALUE, Long.MIN_VALUE})
    void shouldCloseARingWithAnInvalidTail(long tail) throws Exception {
        var ring = peer.connect(victim.port.address());
        ring.memory().set(ValueLayout.JAVA_LONG, TAIL, tail);
        awaitClosed(ring);
        checkHonestTraffic();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, Integer.MIN_VALUE, 4145, 4146, 100, 0xffff, Integer.MAX_VALUE, -1})
    void shouldCloseARingWithAnInvalidRecord(int description) throws Exception {
        var ring = peer.connect(victim.port.address());
        ring.memory().set(ValueLayout.JAVA_INT, RECORDS, description);
        ring.memory().set(ValueLayout.JAVA_LONG, TAIL, 64);
        awaitClosed(ring);
        checkHonestTraffic();
    }

    @Test
    void shouldCloseARingWithARecordThatExtendsBeyondTheEnd() throws Exception {
        var ring = peer.connect(victim.port.address());
        var writer = ring.writer();
        var packet = packet(1);
        packet.length(4000);
        for (var i = 0; i < 523; i++) { // until fewer than 4,008 bytes remain
            writer.append(packet);
            writer.publish();
            Thread.sleep(0, 100_000);
        }
        var position = 523L * 4008;
        assertThat(ring.isClosed()).isFalse();
        assertThat((2 << 20) - position).isBetween(8L, 4007L);
        ring.memory().set(ValueLayout.JAVA_INT, RECORDS + position, 4000);
        ring.memory().set(ValueLayout.JAVA_LONG, TAIL, position + 4008);
        awaitClosed(ring);
        checkHonestTraffic();
    }

    @ParameterizedTest
    @ValueSource(longs = {-8, 4, Long.MAX_VALUE, Long.MIN_VALUE, 1L << 40})
    void shouldUseUdpAfterAnInvalidHead(long head) throws Exception {
        var queuePair = victim.newQueuePair(Transport.UNRELIABLE);
        victim.connect(queuePair, address, 0x77, 1024, 14);
        victim.send(queuePair, 0, 0, 1024);
        var ring = peer.accept();
        ring.memory().set(ValueLayout.JAVA_LONG, HEAD, head);
        for (var i = 0; i < 3_000; i++) { // more than the ring can contain
            victim.await();
            victim.send(queuePair, i, 0, 1024);
        }
        victim.await();
        awaitEnd(ring.socket());
        try (var socket = new DatagramSocket(PacketBuffer.UDP_PORT, address.inet())) {
            victim.send(queuePair, 0, 0, 1024);
            socket.setSoTimeout(20_000);
            socket.receive(new DatagramPacket(new byte[4096], 4096));
        }
        victim.await();
        checkHonestTraffic();
    }

    @Test
    void shouldRejectMemoryThatIsNotARing(@TempDir Path folder) throws Exception {
        var file = Files.write(folder.resolve("file"), new byte[4 << 20]);
        rejects(OpenFile.forWriting(file));
        rejects(OpenFile.forReading(Path.of("/dev/zero")));
        rejects(unsealed(4 << 20));
        rejects(sealed(1 << 20));
        rejects(OpenFile.of(LinuxCalls.epollCreate()));
        checkHonestTraffic();
    }

    private static OpenFile sealed(long bytes) throws FabricException {
        var memory = SealedMemory.create("test");
        SealedMemory.reserve(memory, bytes);
        return OpenFile.of(memory);
    }

    private static OpenFile unsealed(long bytes) throws IOException {
        var file = OpenFile.of(SealedMemory.create("test"));
        Files.write(Path.of("/proc/self/fd/" + file.number()), new byte[(int) bytes]);
        return file;
    }

    private void rejects(OpenFile file) throws Exception {
        try (file) {
            var socket = peer.connection(victim.port.address());
            peer.announce(socket, file);
            awaitEnd(socket);
        }
    }

    private static void awaitEnd(OpenFile socket) throws InterruptedException {
        var deadline = Deadline.after(Duration.ofSeconds(20));
        while (!RingPeer.hasEnded(socket)) {
            assertThat(deadline.hasPassed()).as("the port keeps the connection").isFalse();
            Thread.sleep(1);
        }
    }

    /** The kernel omits the descriptor if the port has the maximum number of descriptors. */
    @Test
    void shouldRejectAnAnnouncementWithoutADescriptor() throws Exception {
        var socket = peer.connection(victim.port.address());
        peer.send(socket, 24, SeqPacketSocket.Packet.NO_DESCRIPTOR);
        awaitEnd(socket);
        checkHonestTraffic();
    }

    @Test
    void shouldRejectInvalidAnnouncements() throws Exception {
        try (var file = sealed(4 << 20)) {
            var shortMessage = peer.connection(victim.port.address());
            peer.send(shortMessage, 8, file.number());
            awaitEnd(shortMessage);

            var ring = peer.connect(victim.port.address());
            peer.announce(ring.socket(), file);
            awaitClosed(ring);
        }
        checkHonestTraffic();
    }

    /** Connections that never pass a ring must not prevent the exchange of packets. */
    @Test
    void shouldLimitTheConnections() throws Exception {
        var sockets = new ArrayList<OpenFile>();
        for (var i = 0; i < 300; i++) {
            sockets.add(peer.connection(victim.port.address()));
            if (i % 50 == 0) {
                checkHonestTraffic();
            }
        }
        var deadline = Deadline.after(Duration.ofSeconds(20));
        while (sockets.stream().filter(RingPeer::hasEnded).count() < 300 - 256) {
            assertThat(deadline.hasPassed()).as("the port keeps all connections").isFalse();
            Thread.sleep(1);
        }
        try (var late = PortFixture.anywhere()) {
            var other = PortFixture.connected(late, victim, 1024);
            late.move(other[0], 1, SendOperationKind.WRITE, 0, BYTES, victim);
            assertThat(late.await().status()).isEqualTo(CompletionStatus.SUCCESS);
        }
        peer.disconnect();
        checkHonestTraffic();
    }

    /** Random words in all pages that the peer shares with the victim, in both directions. */
    @Test
    void shouldSurviveRandomStores() throws Exception {
        var attacked = victim.newQueuePair(Transport.UNRELIABLE);
        var stop = new AtomicBoolean();
        var rings = new AtomicInteger();
        var replaced = new AtomicInteger();
        var attacker = new FutureTask<>(() -> attack(stop, rings, replaced));
        Thread.ofPlatform().start(attacker);
        var deadline = Deadline.after(DURATION);
        try {
            while (!deadline.hasPassed() || rings.get() < 20 || replaced.get() == 0) {
                // The victim creates another ring if it has closed the previous one.
                victim.port.run(_ -> attacked.reset());
                victim.connect(attacked, address, 0x77, 1024, 14);
                victim.send(attacked, 0, 0, 20 * BYTES);
                assertThat(victim.await().status()).isEqualTo(CompletionStatus.SUCCESS);
                checkHonestTraffic();
                assertThat(attacker.isDone()).as("the attacker has failed").isFalse();
            }
        } finally {
            stop.set(true);
        }
        attacker.get();
        checkHonestTraffic();
        System.out.printf(
                Locale.ROOT,
                "Random stores into %,d rings to a port and %,d rings from it for %d s; %,d exchanges of its other peer%n",
                rings.get(),
                replaced.get(),
                DURATION.toSeconds(),
                2 * id);
    }

    /**
     * Stores random values until {@code stop}.
     *
     * @param rings counts the attacked rings to the victim
     * @param replaced counts the attacked rings that the victim has replaced
     */
    private Void attack(AtomicBoolean stop, AtomicInteger rings, AtomicInteger replaced)
            throws Exception {
        var random = new SplittableRandom(11);
        var fromVictim = peer.accept();
        while (!stop.get()) {
            var toVictim = peer.connect(victim.port.address());
            for (var i = 0; i < 1_000 && !stop.get(); i++) {
                // Valid packets and records in between make the victim read further.
                if (random.nextInt(4) == 0) {
                    toVictim.writer().append(packet(random.nextInt(1 << 24)));
                    toVictim.writer().publish();
                }
                storeRandomly(toVictim.memory(), random);
                storeRandomly(fromVictim.memory(), random);
            }
            peer.close(toVictim);
            rings.incrementAndGet();
            var next = peer.tryAccept();
            if (next != null) {
                peer.close(fromVictim);
                fromVictim = next;
                replaced.incrementAndGet();
            }
        }
        return null;
    }

    private static void storeRandomly(MemorySegment memory, SplittableRandom random) {
        switch (random.nextInt(8)) {
            case 0 -> memory.set(ValueLayout.JAVA_LONG, TAIL, 8 * random.nextLong(1 << 19));
            case 1 -> memory.set(ValueLayout.JAVA_LONG, HEAD, random.nextLong());
            case 2 -> memory.set(ValueLayout.JAVA_INT, WAITING, random.nextInt());
            case 3 ->
                    memory.set(
                            ValueLayout.JAVA_INT,
                            RECORDS + 8 * random.nextLong(1 << 10),
                            random.nextInt(4_200));
            default ->
                    memory.set(
                            ValueLayout.JAVA_LONG,
                            8 * random.nextLong(memory.byteSize() / 8),
                            random.nextLong());
        }
    }
}
