package org.jrdma.wire;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.CRC32;
import org.jrdma.processes.Program;
import org.jrdma.soft.roce.model.TracedPacket;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.RemoteMemory;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests how the software fabric handles intact and corrupted packets. The test builds the packets,
 * and sends them from the address of the peer.
 */
class CorruptionTest {

    private static final int PAYLOAD_BYTES = 64;
    private static final byte PAYLOAD = 0x7b;

    private static final int WRITE_ONLY = 0x0a;
    private static final byte MIGRATED = 0x40;
    private static final int DEFAULT_PARTITION = 0xffff;

    /**
     * The index of the byte of the base header that the ICRC does not cover. It contains congestion
     * bits and reserved bits, which routers may change.
     */
    private static final int NOT_COVERED = 4;

    @ParameterizedTest
    @EnumSource(Family.class)
    void shouldDropCorruptedPacketsAndAcceptIntactOnes(Family family) throws Exception {
        VethLinkToKernel.pathMtu(Mtu.BYTES_1024);
        try (var software = QueuePairFixture.software(family, 4096);
                var kernel = QueuePairFixture.kernel(family, 4096)) {
            software.connect(kernel.endpoint(), Mtu.BYTES_1024);
            var received = new AtomicInteger();
            var sent = new AtomicInteger();
            QueuePairFixture.softDevice(family)
                    .listen(traced ->
                            (traced.direction() == TracedPacket.Direction.RECEIVED
                                            ? received
                                            : sent)
                                    .incrementAndGet());
            var intact =
                    write(
                            family,
                            software.queuePair().number(),
                            software.memory().remote().slice(0, PAYLOAD_BYTES));
            var corrupted = new ArrayList<byte[]>();
            for (var index = 0; index < intact.length; index++) {
                if (index != NOT_COVERED) {
                    var packet = intact.clone();
                    packet[index] ^= (byte) (1 << index % 8);
                    corrupted.add(packet);
                }
            }

            send(family, corrupted);

            await(received, corrupted.size());
            assertThat(sent).hasValue(0);
            assertThat(software.memory().segment().elements(JAVA_BYTE))
                    .allMatch(octet -> octet.get(JAVA_BYTE, 0) == 0);

            send(family, List.of(intact));

            await(sent, 1); // The software fabric acknowledges the packet.
            var memory = software.memory().segment();
            assertThat(memory.asSlice(0, PAYLOAD_BYTES).elements(JAVA_BYTE))
                    .allMatch(octet -> octet.get(JAVA_BYTE, 0) == PAYLOAD);
            assertThat(memory.asSlice(PAYLOAD_BYTES).elements(JAVA_BYTE))
                    .allMatch(octet -> octet.get(JAVA_BYTE, 0) == 0);
        }
    }

    private static void await(AtomicInteger count, int expected) throws InterruptedException {
        for (var i = 0; i < 500 && count.get() < expected; i++) {
            Thread.sleep(Duration.ofMillis(20));
        }
        assertThat(count).hasValue(expected);
    }

    /**
     * Returns a write request of one packet. It has the expected sequence number, and requests an
     * acknowledgment.
     */
    private static byte[] write(Family family, int queuePair, RemoteMemory target) {
        var packet = ByteBuffer.allocate(12 + 16 + PAYLOAD_BYTES + 4);
        packet.put((byte) WRITE_ONLY).put(MIGRATED).putShort((short) DEFAULT_PARTITION);
        packet.putInt(queuePair).putInt(1 << 31 | QueuePairFixture.FIRST_SEQUENCE);
        packet.putLong(target.address()).putInt(target.key()).putInt(PAYLOAD_BYTES);
        for (var i = 0; i < PAYLOAD_BYTES; i++) {
            packet.put(PAYLOAD);
        }
        packet.order(ByteOrder.LITTLE_ENDIAN).putInt(checksum(family, packet.array()));
        return packet.array();
    }

    /**
     * Returns the ICRC of a packet. In its computation, all bits of the fields that routers may
     * change are ones. The identification in the IPv4 header is 0, as the kernel sets it when it
     * sends the packet.
     */
    private static int checksum(Family family, byte[] packet) {
        var covered = new ByteArrayOutputStream();
        var source = InetAddress.ofLiteral(family.kernel()).getAddress();
        var destination = family.softwareAddress().getAddress();
        var length = 8 + packet.length;
        var ip =
                family == Family.IPV4
                        ? ByteBuffer.allocate(20)
                                .putShort((short) 0x45ff)
                                .putShort((short) (20 + length))
                                .putInt(0x4000)
                                .putInt(0xff11ffff)
                        : ByteBuffer.allocate(40)
                                .putInt(0x6fffffff)
                                .putShort((short) length)
                                .putShort((short) 0x11ff);
        var udp =
                ByteBuffer.allocate(8)
                        .putShort((short) HexPacketSender.SOURCE_PORT)
                        .putShort((short) HexPacketSender.PORT)
                        .putShort((short) length)
                        .putShort((short) 0xffff);
        var masked = packet.clone();
        masked[NOT_COVERED] = (byte) 0xff;
        covered.writeBytes(new byte[] {-1, -1, -1, -1, -1, -1, -1, -1});
        covered.writeBytes(ip.put(source).put(destination).array());
        covered.writeBytes(udp.array());
        covered.writeBytes(Arrays.copyOf(masked, masked.length - 4));
        var crc = new CRC32();
        crc.update(covered.toByteArray());
        return (int) crc.getValue();
    }

    private static void send(Family family, List<byte[]> packets) throws Exception {
        var command =
                new ArrayList<>(
                        VethLinkToKernel.atKernel(
                                System.getProperty("java.home") + "/bin/java",
                                "-XX:+UseSerialGC",
                                "-XX:TieredStopAtLevel=1",
                                "-cp",
                                System.getProperty("java.class.path"),
                                HexPacketSender.class.getName(),
                                family.kernel(),
                                family.software()));
        packets.forEach(packet -> command.add(HexFormat.of().formatHex(packet)));
        try (var program = Program.start(command)) {
            assertThat(program.await()).as(program.output()).isZero();
        }
    }
}
