package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the traffic class with which the kernel sends packets. */
class TrafficClassTest {

    private static final int IP = 0;
    private static final int IP_TOS = 1;
    private static final int IP_RECVTOS = 13;
    private static final int BYTES = 64;

    private final SystemCalls calls = new SystemCalls();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSendEachPacketWithItsOwnTrafficClass(boolean combining) throws Exception {
        var socket = PortFixture.openSocket(1 << 20, calls);
        try (var arena = Arena.ofConfined()) {
            var address = socket.address();
            calls.setOption(socket.descriptor(), IP, IP_RECVTOS, arena.allocateFrom(JAVA_INT, 1));
            var transmitter = new PacketTransmitter(socket, combining, 0, calls, arena);
            transmitter.allow(10);
            var classes = List.of(104, 104, 0, 32, 0);
            for (var trafficClass : classes) {
                var packet = transmitter.claim();
                packet.length(BYTES);
                packet.addresses(address.high(), address.low(), address.high(), address.low());
                packet.flow(trafficClass << PacketBuffer.CLASS_SHIFT | 0x12345);
                transmitter.send(packet);
            }
            assertThat(transmitter.flush()).isTrue();

            var message = new ReceivedMessage(arena);
            var received = new ArrayList<Integer>();
            var deadline = System.nanoTime() + 10_000_000_000L;
            while (received.size() < classes.size() && System.nanoTime() < deadline) {
                if (message.receive(socket)) {
                    var packets = message.bytes() / BYTES;
                    received.addAll(Collections.nCopies(packets, trafficClass(message.control())));
                }
            }
            assertThat(received).isEqualTo(classes);
        } finally {
            socket.close();
        }
    }

    private static int trafficClass(MemorySegment control) {
        for (var at = 0L; at < control.byteSize(); at += (control.get(JAVA_LONG, at) + 7) & ~7) {
            if (control.get(JAVA_INT, at + 8) == IP && control.get(JAVA_INT, at + 12) == IP_TOS) {
                return Byte.toUnsignedInt(control.get(JAVA_BYTE, at + 16));
            }
        }
        throw new AssertionError("The kernel has reported no traffic class.");
    }
}
