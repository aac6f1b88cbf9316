package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.engine.EngineOptions;
import org.jrdma.soft.roce.engine.NetworkPacketSender;
import org.jrdma.soft.roce.engine.QueuePairOptions;
import org.jrdma.soft.roce.engine.ReceiveParameters;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.engine.WorkQueues;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.jrdma.soft.roce.sharedmemory.OutgoingRings;
import org.jrdma.soft.roce.sharedmemory.RingPeer;
import org.jrdma.soft.roce.sharedmemory.SharedMemoryRings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the transmitter and the driver of a port with rings, without the thread of the port. */
class RingDrivingTest {

    private static final int ROUND_PACKETS = 32;
    private static final long UDP_BYTES = 77;
    private static final long HEAD = 128;

    private static final QueuePairOptions OPTIONS =
            new QueuePairOptions(
                    Transport.RELIABLE,
                    new ProtectionDomain(),
                    _ -> true,
                    _ -> true,
                    _ -> {},
                    16,
                    16,
                    1,
                    1,
                    0,
                    null,
                    null);

    private final SystemCalls calls = new SystemCalls();
    private UdpSocket socket;
    private SharedMemoryRings rings;
    private PacketTransmitter transmitter;

    @BeforeEach
    void open() throws FabricException {
        socket = PortFixture.openSocket(1 << 20, calls);
        rings = SharedMemoryRings.open(socket.address(), () -> {});
        transmitter = new PacketTransmitter(socket, false, 0, calls, Arena.ofAuto(), rings);
    }

    @AfterEach
    void close() {
        rings.close();
        socket.close();
    }

    @Test
    void shouldReceiveALimitedNumberOfPacketsFromAllRingsInARound() throws Exception {
        var random = ThreadLocalRandom.current();
        var engine =
                new Engine(transmitter, new MemoryRegistry(random), EngineOptions.DEFAULTS, random);
        var driver =
                new EngineDriver(engine, transmitter, new PacketReceiver(0, Arena.ofAuto()), rings);
        var own = LocalInterface.of(socket.address());
        var sockets = new PortAndMulticastSockets(socket, own, 1 << 20, calls);
        var incoming = new ArrayList<RingPeer.Outgoing>();
        try (var peer = RingPeer.at(PortFixture.randomAddress())) {
            for (var i = 0; i < 3; i++) {
                var ring = peer.connect(socket.address());
                for (var j = 0; j < 2 * ROUND_PACKETS; j++) {
                    ring.writer().append(packet(OpCode.RC_ACKNOWLEDGE, socket.address()));
                }
                ring.writer().publish();
                incoming.add(ring);
            }
            rings.poll(0);
            for (var round = 1; round <= 3; round++) {
                driver.receive(sockets, false);
                assertThat(driver.packetsReceived()).isEqualTo((long) round * ROUND_PACKETS);
            }
            assertThat(incoming)
                    .extracting(ring -> ring.memory().get(ValueLayout.JAVA_LONG, HEAD))
                    .allMatch(head -> head > 0);
        }
    }

    @Test
    void shouldNoticeThatAPeerHasClosedItsPortBeforeAQueuePairConnects() throws Exception {
        var address = PortFixture.randomAddress();
        try (var _ = RingPeer.at(address)) {
            transmitter.preparePath(address, 1);
            assertThat(transmitter.pathBytes(address, UDP_BYTES))
                    .isEqualTo(OutgoingRings.PATH_BYTES);
        }
        transmitter.preparePath(address, 2);
        assertThat(transmitter.pathBytes(address, UDP_BYTES)).isEqualTo(UDP_BYTES);
    }

    @Test
    void shouldReportTheCapacityOfUdpToTheEngineAfterAPeerHasEnded() throws Exception {
        var capacities = new ArrayList<Long>();
        var sender =
                new NetworkPacketSender() {

                    @Override
                    public PacketBuffer claim() {
                        return transmitter.claim();
                    }

                    @Override
                    public void send(PacketBuffer packet) {
                        transmitter.send(packet);
                    }

                    @Override
                    public void preparePath(RoceGid remote, long now) {
                        transmitter.preparePath(remote, now);
                    }

                    @Override
                    public long pathBytes(RoceGid remote, long usual) {
                        var bytes = transmitter.pathBytes(remote, UDP_BYTES);
                        capacities.add(bytes);
                        return bytes;
                    }
                };
        var random = ThreadLocalRandom.current();
        var engine = new Engine(sender, new MemoryRegistry(random), EngineOptions.DEFAULTS, random);
        var driver =
                new EngineDriver(engine, transmitter, new PacketReceiver(0, Arena.ofAuto()), rings);
        var sockets =
                new PortAndMulticastSockets(
                        socket, LocalInterface.of(socket.address()), 1 << 20, calls);
        var address = PortFixture.randomAddress();
        try (var _ = RingPeer.at(address)) {
            var queuePair =
                    Objects.requireNonNull(engine.newQueuePair(OPTIONS, WorkQueues.of(OPTIONS)));
            queuePair.initialize(0, 0xffff, 0x1234);
            queuePair.readyToReceive(
                    new ReceiveParameters(socket.address(), address, 0x77, 1024, 0, 4, 12));
            driver.receive(sockets, false);
            assertThat(capacities).containsExactly(OutgoingRings.PATH_BYTES);
        }
        Thread.sleep(1); // longer than the interval between two checks of the rings
        driver.receive(sockets, false);
        assertThat(capacities).containsExactly(OutgoingRings.PATH_BYTES, UDP_BYTES);
    }

    @Test
    void shouldUseARingOnlyAfterThePathWasPrepared() throws Exception {
        var address = PortFixture.randomAddress();
        try (var peer = RingPeer.at(address)) {
            assertThat(send(address).isSealed()).isTrue();
            assertThat(peer.tryAccept()).isNull();

            transmitter.preparePath(address, 1);
            assertThat(send(address).isSealed()).isFalse();
            var received = new PacketBuffer();
            peer.accept().read(received);
            assertThat(received.isSealed()).isFalse();
        }
    }

    /** Sends a packet and returns its buffer. */
    private PacketBuffer send(RoceGid address) {
        transmitter.allow(1);
        var buffer = transmitter.claim();
        buffer.copyFrom(packet(OpCode.UD_SEND_ONLY, address));
        transmitter.send(buffer);
        transmitter.flush();
        return buffer;
    }

    private PacketBuffer packet(OpCode opCode, RoceGid to) {
        var packet = new PacketBuffer();
        BaseTransportHeader.encode(
                packet.memory(), PacketBuffer.START, opCode, false, 0, 0xffff, 0x77, false, 1);
        packet.length(BaseTransportHeader.BYTES + 8);
        var from = socket.address();
        packet.addresses(from.high(), from.low(), to.high(), to.low());
        packet.sealed(false);
        return packet;
    }
}
