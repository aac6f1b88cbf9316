package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.Engine;
import org.jrdma.soft.roce.engine.EngineOptions;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
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
            assertThat(transmitter.preparePath(address, UDP_BYTES, 1)).isNotEqualTo(UDP_BYTES);
        }
        assertThat(transmitter.preparePath(address, UDP_BYTES, 2)).isEqualTo(UDP_BYTES);
    }

    @Test
    void shouldUseARingOnlyAfterThePathWasPrepared() throws Exception {
        var address = PortFixture.randomAddress();
        try (var peer = RingPeer.at(address)) {
            assertThat(send(address).isSealed()).isTrue();
            assertThat(peer.tryAccept()).isNull();

            transmitter.preparePath(address, UDP_BYTES, 1);
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
