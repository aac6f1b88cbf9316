package org.jrdma.soft.roce.network;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jrdma.soft.roce.PcapWriter;
import org.jrdma.soft.roce.engine.CompletionStatus;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.jrdma.soft.roce.model.NetworkFaults;
import org.jrdma.soft.roce.model.PacketListener;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.soft.roce.model.TracedPacket.Direction;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests packet listeners, and the pcap files that {@link PcapWriter} writes. */
@ParameterizedClass(name = "shared memory: {0}")
@ValueSource(booleans = {true, false})
class PortTracingTest {

    @Parameter private boolean sharesMemory;

    @Test
    void shouldDecodeEachPacketForTheListener() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, 1024);
            var seen = new CopyOnWriteArrayList<TracedPacket>();
            left.port.listen(seen::add);
            left.move(pair[0], 1, SendOperationKind.WRITE, 0, 1500, right);
            left.await();
            left.port.listen(null);
            left.move(pair[0], 2, SendOperationKind.WRITE, 0, 1500, right);
            left.await();

            assertThat(seen)
                    .extracting(TracedPacket::operation)
                    .containsExactly("RC_WRITE_FIRST", "RC_WRITE_LAST", "RC_ACKNOWLEDGE");
            assertThat(seen)
                    .extracting(TracedPacket::direction)
                    .containsExactly(Direction.SENT, Direction.SENT, Direction.RECEIVED);
            assertThat(seen).extracting(TracedPacket::payloadBytes).containsExactly(1024, 476, 0);
            assertThat(seen)
                    .extracting(TracedPacket::sequence)
                    .containsExactly(0xfffff0, 0xfffff1, 0xfffff1);
            assertThat(seen.getFirst().destinationQueuePair()).isEqualTo(pair[1].number());
            assertThat(seen.getLast().destinationQueuePair()).isEqualTo(pair[0].number());
            assertThat(seen.getLast().detail()).isEqualTo("ACK");
            assertThat(seen.getFirst().source()).isEqualTo(left.port.address().inet());
            assertThat(seen.getLast().source()).isEqualTo(right.port.address().inet());
        }
    }

    @Test
    void shouldTraceAMalformedPacketWithoutTheFieldsOfThePreviousPacket() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory);
                var socket = new DatagramSocket()) {
            var pair = PortFixture.connected(left, right, 1024);
            left.move(pair[0], 1, SendOperationKind.WRITE, 0, 1500, right);
            left.await();
            var seen = new LinkedBlockingQueue<TracedPacket>();
            right.port.listen(seen::add);

            socket.send(
                    new DatagramPacket(
                            new byte[] {1, 2, 3},
                            3,
                            right.port.address().inet(),
                            PacketBuffer.UDP_PORT));

            var traced = seen.poll(20, TimeUnit.SECONDS);
            assertThat(traced.operation()).isEqualTo("MALFORMED");
            assertThat(traced.detail()).isEqualTo("shorter than its headers");
            assertThat(traced.destinationQueuePair()).isZero();
            assertThat(traced.sequence()).isZero();
            assertThat(traced.acknowledge()).isFalse();
            assertThat(traced.payloadBytes()).isZero();
            assertThat(traced.bytes().limit()).isEqualTo(3);
        }
    }

    @Test
    void shouldContinueWhenAListenerThrows() throws Exception {
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, 1024);
            PacketListener failing =
                    _ -> {
                        throw new AssertionError("injected");
                    };
            left.port.listen(failing);
            right.port.listen(failing);
            left.move(pair[0], 1, SendOperationKind.WRITE, 0, 1500, right);
            // No test thread polls, so both transfers show that the threads of the ports have
            // survived the exception.
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
            left.move(pair[0], 2, SendOperationKind.READ, 0, 1500, right);
            assertThat(left.await().status()).isEqualTo(CompletionStatus.SUCCESS);
        }
    }

    @Test
    void shouldWriteAPcapFile(@TempDir Path folder) throws Exception {
        var file = folder.resolve("trace.pcap");
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var pair = PortFixture.connected(left, right, 1024);
            try (var writer = new PcapWriter(file)) {
                left.port.listen(writer);
                left.memory.setString(0, "Saluton");
                left.move(pair[0], 1, SendOperationKind.WRITE, 0, 8, right);
                left.await();
                left.port.listen(null);
            }

            var packets = read(file);
            assertThat(packets).hasSize(2);
            var ip = packets.getFirst();
            assertThat(ip.getInt(0)).isEqualTo(0x4500_0000 | ip.limit());
            assertThat(sum(ip)).isEqualTo(0xffff);
            assertThat(RoceGid.ipv4(ip.getInt(12))).isEqualTo(left.port.address());
            assertThat(RoceGid.ipv4(ip.getInt(16))).isEqualTo(right.port.address());
            assertThat(ip.getShort(22)).isEqualTo((short) 4791);
            assertThat(ip.getShort(24)).isEqualTo((short) (ip.limit() - 20));
            assertThat(ip.get(28)).as("RC WRITE ONLY").isEqualTo((byte) 10);
            assertThat(new String(bytes(ip, 28 + 12 + 16, 7), StandardCharsets.US_ASCII))
                    .isEqualTo("Saluton");
            assertThat(packets.getLast().get(28)).as("ACKNOWLEDGE").isEqualTo((byte) 17);
        }
    }

    @Test
    void shouldWriteAPcapFileOverIpv6(@TempDir Path folder) throws Exception {
        var file = folder.resolve("trace.pcap");
        var source = InetAddress.ofLiteral("fd00::1");
        var destination = InetAddress.ofLiteral("fd00::2");
        try (var writer = new PcapWriter(file)) {
            writer.seen(
                    new TracedPacket(
                            Direction.RECEIVED,
                            Instant.ofEpochSecond(1_000, 7),
                            source,
                            0xc000,
                            destination,
                            PacketBuffer.UDP_PORT,
                            "RC_ACKNOWLEDGE",
                            1,
                            2,
                            false,
                            false,
                            0,
                            "ACK",
                            ByteBuffer.wrap(new byte[] {17, 2, 3, 4})));
        }

        var ip = read(file).getFirst();
        assertThat(ip.limit()).isEqualTo(40 + 8 + 4);
        assertThat(ip.getInt(0)).as("version, class and flow").isEqualTo(0x6000_0000);
        assertThat(ip.getShort(4)).as("length after the header").isEqualTo((short) (8 + 4));
        assertThat(ip.get(6)).as("UDP").isEqualTo((byte) 17);
        assertThat(ip.get(7)).as("hops").isPositive();
        assertThat(bytes(ip, 8, 16)).isEqualTo(source.getAddress());
        assertThat(bytes(ip, 24, 16)).isEqualTo(destination.getAddress());
        assertThat(ip.getShort(40)).isEqualTo((short) 0xc000);
        assertThat(ip.getShort(42)).isEqualTo((short) 4791);
        assertThat(ip.getShort(44)).isEqualTo((short) (8 + 4));
        assertThat(bytes(ip, 48, 4)).containsExactly(17, 2, 3, 4);
        var record = ByteBuffer.wrap(Files.readAllBytes(file)).position(24);
        assertThat(record.getInt()).as("seconds").isEqualTo(1_000);
        assertThat(record.getInt()).as("nanoseconds").isEqualTo(7);
    }

    private static byte[] bytes(ByteBuffer from, int offset, int length) {
        var bytes = new byte[length];
        from.get(offset, bytes);
        return bytes;
    }

    /** A pcap file contains only packets that were sent on the network. */
    @Test
    void shouldTraceLostPacketsButNotCaptureThem(@TempDir Path folder) throws Exception {
        var file = folder.resolve("trace.pcap");
        try (var left = PortFixture.anywhere(sharesMemory);
                var right = PortFixture.anywhere(sharesMemory)) {
            var queuePair = left.newQueuePair(Transport.UNRELIABLE);
            left.connect(queuePair, right, right.newQueuePair(Transport.UNRELIABLE), 1024, 14);
            var seen = new CopyOnWriteArrayList<TracedPacket>();
            try (var writer = new PcapWriter(file)) {
                left.port.listen(packet -> {
                    seen.add(packet);
                    writer.seen(packet);
                });
                left.port.faults(NetworkFaults.NONE.loss(1));
                left.send(queuePair, 1, 0, 64);
                left.await();
                left.port.faults(NetworkFaults.NONE);
                left.send(queuePair, 2, 0, 32);
                left.await();
                left.port.listen(null);
            }

            assertThat(seen)
                    .extracting(TracedPacket::direction)
                    .containsExactly(Direction.LOST, Direction.SENT);
            assertThat(seen).extracting(TracedPacket::payloadBytes).containsExactly(64, 32);
            assertThat(read(file))
                    .singleElement()
                    .extracting(ByteBuffer::limit)
                    .isEqualTo(20 + 8 + 12 + 32 + 4);
        }
    }

    private static List<ByteBuffer> read(Path file) throws IOException {
        var bytes = ByteBuffer.wrap(Files.readAllBytes(file));
        assertThat(bytes.getInt()).isEqualTo(0xa1b2_3c4d);
        assertThat(bytes.getInt(20)).as("link type raw IP").isEqualTo(101);
        bytes.position(24);
        var packets = new ArrayList<ByteBuffer>();
        while (bytes.hasRemaining()) {
            var length = bytes.getInt(bytes.position() + 8);
            packets.add(bytes.slice(bytes.position() + 16, length));
            bytes.position(bytes.position() + 16 + length);
        }
        return packets;
    }

    /**
     * Returns the ones' complement sum of an IPv4 header. The sum of a header with a valid checksum
     * is 0xffff.
     */
    private static int sum(ByteBuffer header) {
        var sum = 0;
        for (var i = 0; i < 20; i += 2) {
            sum += header.getShort(i) & 0xffff;
        }
        return (sum & 0xffff) + (sum >>> 16);
    }
}
