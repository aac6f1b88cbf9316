package org.jrdma.soft.roce.network;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.ToIntFunction;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the traffic class and the IPv6 flow label with which the kernel sends packets. */
class TrafficClassTest {

    private static final int IP = 0;
    private static final int IP_TOS = 1;
    private static final int IP_RECVTOS = 13;
    private static final int IPV6 = 41;
    private static final int IPV6_FLOWINFO = 11;
    private static final int BYTES = 64;
    private static final int BUFFER = 1 << 20;

    private final SystemCalls calls = new SystemCalls();

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSendEachPacketWithItsOwnTrafficClass(boolean combining) throws Exception {
        var socket = PortFixture.openSocket(BUFFER, calls);
        try (var arena = Arena.ofConfined()) {
            calls.setOption(socket.descriptor(), IP, IP_RECVTOS, arena.allocateFrom(JAVA_INT, 1));
            var classes = List.of(104, 104, 0, 32, 0);

            send(socket, combining, classes.stream().map(each -> flow(each, 0x12345)).toList());

            assertThat(receive(socket, TrafficClassTest::trafficClass, classes.size()))
                    .isEqualTo(classes);
        } finally {
            socket.close();
        }
    }

    /** The label is not 0 in any packet, because the kernel would choose one. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldSendEachPacketWithItsOwnFlowLabelOverIpv6(boolean combining) throws Exception {
        var socket = openIpv6Socket();
        try (var arena = Arena.ofConfined()) {
            calls.setOption(
                    socket.descriptor(), IPV6, IPV6_FLOWINFO, arena.allocateFrom(JAVA_INT, 1));
            var flows =
                    List.of(
                            flow(104, 0x12345),
                            flow(104, 0x12345),
                            flow(104, 0x54321),
                            flow(0, 0xfffff),
                            flow(0, 1));

            send(socket, combining, flows);

            assertThat(receive(socket, TrafficClassTest::flowInformation, flows.size()))
                    .isEqualTo(flows);
        } finally {
            socket.close();
        }
    }

    /** Aborts the test if another program on this machine uses the port. */
    private UdpSocket openIpv6Socket() throws Exception {
        var address = RoceGid.of(InetAddress.ofLiteral("::1"));
        try {
            return UdpSocket.at(address, LocalInterface.of(address), BUFFER, calls);
        } catch (FabricException e) {
            if (e.code() == Errno.EADDRINUSE) {
                return abort(e.getMessage());
            }
            throw e;
        }
    }

    private static int flow(int trafficClass, int label) {
        return trafficClass << PacketBuffer.CLASS_SHIFT | label;
    }

    private void send(UdpSocket socket, boolean combining, List<Integer> flows) {
        try (var arena = Arena.ofConfined()) {
            var address = socket.address();
            var transmitter = new PacketTransmitter(socket, combining, 0, calls, arena, null);
            transmitter.allow(10);
            for (var flow : flows) {
                var packet = transmitter.claim();
                packet.length(BYTES);
                packet.addresses(address.high(), address.low(), address.high(), address.low());
                packet.flow(flow);
                transmitter.send(packet);
            }
            assertThat(transmitter.flush()).isTrue();
        }
    }

    /** Receives a number of packets, and returns a value from the control messages of each. */
    private static List<Integer> receive(
            UdpSocket socket, ToIntFunction<MemorySegment> value, int count) {
        try (var arena = Arena.ofConfined()) {
            var message = new ReceivedMessage(arena);
            var received = new ArrayList<Integer>();
            var deadline = System.nanoTime() + 10_000_000_000L;
            while (received.size() < count && System.nanoTime() < deadline) {
                if (message.receive(socket)) {
                    var packets = message.bytes() / BYTES;
                    received.addAll(
                            Collections.nCopies(packets, value.applyAsInt(message.control())));
                }
            }
            return received;
        }
    }

    private static int trafficClass(MemorySegment control) {
        return Byte.toUnsignedInt(find(control, IP, IP_TOS).get(JAVA_BYTE, 0));
    }

    private static int flowInformation(MemorySegment control) {
        return BigEndian.swap(find(control, IPV6, IPV6_FLOWINFO).get(JAVA_INT, 0));
    }

    /** Returns the data of a control message. */
    private static MemorySegment find(MemorySegment control, int level, int type) {
        for (var at = 0L; at < control.byteSize(); at += (control.get(JAVA_LONG, at) + 7) & ~7) {
            if (control.get(JAVA_INT, at + 8) == level && control.get(JAVA_INT, at + 12) == type) {
                return control.asSlice(at + 16);
            }
        }
        throw new AssertionError("The kernel has not reported control message %d.".formatted(type));
    }
}
