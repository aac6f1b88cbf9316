package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests with which traffic class the kernel sends packets. */
class TrafficClassTest {

    private static final int IP = 0;
    private static final int IP_TOS = 1;
    private static final int IP_RECVTOS = 13;
    private static final int BYTES = 64;

    private final SystemCalls calls = new SystemCalls();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSendEachPacketWithItsOwnTrafficClass(boolean combining) throws Exception {
        var socket = open();
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

            var received = new ArrayList<Integer>();
            var deadline = System.nanoTime() + 10_000_000_000L;
            while (received.size() < classes.size() && System.nanoTime() < deadline) {
                receive(socket, arena, received);
            }
            assertThat(received).isEqualTo(classes);
        } finally {
            socket.close();
        }
    }

    /** Receives one message, and adds the traffic class of each packet that it contains. */
    private static void receive(UdpSocket socket, Arena arena, List<Integer> classes) {
        var header = arena.allocate(64, 8); // struct mmsghdr
        var part = arena.allocate(16, 8); // struct iovec
        var data = arena.allocate(64 << 10);
        var control = arena.allocate(128, 8);
        part.set(JAVA_LONG, 0, data.address());
        part.set(JAVA_LONG, 8, data.byteSize());
        header.set(JAVA_LONG, 16, part.address());
        header.set(JAVA_LONG, 24, 1);
        header.set(JAVA_LONG, 32, control.address());
        header.set(JAVA_LONG, 40, control.byteSize());
        if (socket.receive(header, 1) == 1) {
            var packets = header.get(JAVA_INT, 56) / BYTES;
            for (var i = 0; i < packets; i++) {
                classes.add(trafficClass(control, header.get(JAVA_LONG, 40)));
            }
        }
    }

    private static int trafficClass(MemorySegment control, long bytes) {
        for (var at = 0L; at < bytes; at += (control.get(JAVA_LONG, at) + 7) & ~7) {
            if (control.get(JAVA_INT, at + 8) == IP && control.get(JAVA_INT, at + 12) == IP_TOS) {
                return Byte.toUnsignedInt(control.get(JAVA_BYTE, at + 16));
            }
        }
        throw new AssertionError("The kernel has reported no traffic class.");
    }

    private UdpSocket open() throws FabricException {
        while (true) {
            try {
                var host = ThreadLocalRandom.current().nextInt(1, 0xfd_ffff);
                var address = Address.ipv4(0x7f01_0000 + host);
                return UdpSocket.at(address, LocalInterface.of(address), 1 << 20, calls);
            } catch (FabricException e) {
                if (e.code() != Errno.EADDRINUSE) {
                    throw e;
                }
            }
        }
    }
}
