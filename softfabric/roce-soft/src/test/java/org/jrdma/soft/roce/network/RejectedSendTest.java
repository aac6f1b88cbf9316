package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.net.InetAddress;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests packets that the kernel rejects, but not because it lacks a feature. */
@Timeout(30)
class RejectedSendTest {

    private static final int BYTES = 64;

    private final SystemCalls calls = new SystemCalls();

    @Test
    void shouldStillCombinePacketsAfterTheKernelRejectsADestination() throws Exception {
        try (var arena = Arena.ofConfined()) {
            var socket = PortFixture.openSocket(1 << 20, calls);
            var transmitter = new PacketTransmitter(socket, true, 0, calls, arena, null);
            transmitter.allow(10);
            var broadcast = RoceGid.of(InetAddress.ofLiteral("255.255.255.255"));

            send(transmitter, broadcast, 2); // EACCES
            send(transmitter, socket.address(), 3);

            var message = new ReceivedMessage(arena);
            while (!message.receive(socket)) {
                Thread.onSpinWait();
            }
            assertThat(message.bytes()).isEqualTo(3 * BYTES);
            socket.close();
        }
    }

    private static void send(PacketTransmitter transmitter, RoceGid to, int count) {
        for (var i = 0; i < count; i++) {
            var packet = transmitter.claim();
            packet.length(BYTES - InvariantCrc.BYTES);
            packet.addresses(to.high(), to.low(), to.high(), to.low());
            transmitter.send(packet);
        }
        assertThat(transmitter.flush()).isTrue();
    }
}
