package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import org.jrdma.soft.roce.engine.Address;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests packets that the kernel rejects for another reason than a feature that it lacks. */
@Timeout(30)
class RejectedSendTest {

    private static final int BYTES = 64;

    private final SystemCalls calls = new SystemCalls();

    @Test
    void shouldStillCombinePacketsAfterTheKernelRejectsADestination() throws Exception {
        try (var arena = Arena.ofConfined()) {
            var socket = open("127.62.7.1");
            var transmitter = new PacketTransmitter(socket, true, 0, calls, arena);
            transmitter.allow(10);
            var broadcast = Address.of(InetAddress.ofLiteral("255.255.255.255"));

            send(transmitter, broadcast, 2); // EACCES
            send(transmitter, socket.address(), 3);

            var message = new Message(arena);
            message.receive(socket);
            assertThat(message.bytes()).isEqualTo(3 * BYTES);
            socket.close();
        }
    }

    private UdpSocket open(String literal) throws IOException {
        var address = Address.of(InetAddress.ofLiteral(literal));
        return UdpSocket.at(address, LocalInterface.of(address), 1 << 20, calls);
    }

    private static void send(PacketTransmitter transmitter, Address to, int count) {
        for (var i = 0; i < count; i++) {
            var packet = transmitter.claim();
            packet.length(BYTES);
            packet.addresses(to.high(), to.low(), to.high(), to.low());
            transmitter.send(packet);
        }
        assertThat(transmitter.flush()).isTrue();
    }

    /** A received message, in C a {@code struct mmsghdr}. */
    private static final class Message {

        private final MemorySegment header;

        Message(Arena arena) {
            header = arena.allocate(64, 8);
            var control = arena.allocate(128, 8);
            var part = arena.allocate(16, 8);
            var data = arena.allocate(64 << 10);
            part.set(JAVA_LONG, 0, data.address());
            part.set(JAVA_LONG, 8, data.byteSize());
            header.set(JAVA_LONG, 16, part.address());
            header.set(JAVA_LONG, 24, 1);
            header.set(JAVA_LONG, 32, control.address());
            header.set(JAVA_LONG, 40, control.byteSize());
        }

        void receive(UdpSocket socket) {
            while (socket.receive(header, 1) != 1) {
                Thread.onSpinWait();
            }
        }

        int bytes() {
            return header.get(JAVA_INT, 56);
        }
    }
}
