package org.jrdma.soft.roce.packet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.HexFormat;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Tests the wire format. The packets in the constants were created by another implementation that
 * interoperates with the kernel's rxe.
 */
class PacketFormatTest {

    private static final long IPV4 = 0xffff_0000_0000L;
    private static final long SOURCE = IPV4 | 0x0a4d_0001;
    private static final long DESTINATION = IPV4 | 0x0a4d_0002;

    private static final String SEND = "04d0ffff0000012380000abc" + "53616c75746f6e00" + "bc576b9f";
    private static final String SEND_WITH_IDENTIFICATION =
            "04d0ffff0000012380000abc" + "53616c75746f6e00" + "6241f5ec";
    private static final String SEND_OVER_IPV6 =
            "04d0ffff0000012380000abc" + "53616c75746f6e00" + "1d181300";
    private static final String ACKNOWLEDGE = "1140ffff0000012300000abc" + "1f000007" + "75335319";
    private static final String WRITE =
            "0a40ffff0065432180ffffff"
                    + "0123456789abcdefcafebabe00000004"
                    + "41424344"
                    + "a5e43330";
    private static final String READ =
            "0c40ffff0065432180000000" + "0123456789abcdefcafebabe00100000" + "3fe45870";
    private static final String COMPARE_AND_SWAP =
            "1340ffff0065432180000005"
                    + "0123456789abcde8cafebabe00000000000011110000000000002222"
                    + "9b860c1b";
    private static final String ATOMIC_RESULT =
            "1240ffff0065432100000005" + "1f000009" + "0000000000003333" + "e6c4be69";
    private static final String DATAGRAM =
            "6570ffff0065432100000005" + "1111111100000123" + "deadbeef" + "78000000" + "efb83129";

    private final InvariantCrc checksum = new InvariantCrc();

    @Test
    void shouldComputeTheChecksumOverIpv4() {
        assertThat(sealed(SEND, ipv4(new PacketBuffer()))).isEqualTo(SEND);
        assertThat(sealed(READ, ipv4(new PacketBuffer()))).isEqualTo(READ);
    }

    @Test
    void shouldComputeTheChecksumOverIpv6() {
        assertThat(sealed(SEND_OVER_IPV6, ipv6(new PacketBuffer()))).isEqualTo(SEND_OVER_IPV6);
    }

    @Test
    void shouldAcceptAnyIdentificationOverIpv4() {
        assertThat(checksum.matches(ipv4(packet(SEND)))).isTrue();
        assertThat(checksum.matches(ipv4(packet(SEND_WITH_IDENTIFICATION)))).isTrue();
    }

    @Test
    void shouldRejectEveryInvertedBitOverIpv6() throws Exception {
        assertThat(checksum.matches(ipv6(packet(SEND_OVER_IPV6)))).isTrue();
        assertThat(countUndetectedChanges(SEND_OVER_IPV6, true)).isZero();
    }

    @Test
    void shouldRejectEveryInvertedBitOverIpv4() throws Exception {
        assertThat(countUndetectedChanges(SEND, false)).isZero();
        assertThat(countUndetectedChanges(SEND_WITH_IDENTIFICATION, false)).isZero();
    }

    @Test
    void shouldAcceptAboutOneIn65536RandomChecksumsOverIpv4() {
        var random = new SplittableRandom(1);
        var packet = ipv4(packet(SEND));
        var accepted = 0;
        for (var i = 0; i < 1 << 20; i++) {
            packet.memory()
                    .set(
                            ValueLayout.JAVA_INT_UNALIGNED,
                            PacketBuffer.START + packet.length() - 4,
                            random.nextInt());
            accepted += checksum.matches(packet) ? 1 : 0;
        }
        assertThat(accepted).isBetween(4, 32); // 16 is the expected number
    }

    @Test
    void shouldDecodeASend() throws Exception {
        var packet = decoded(SEND);
        assertThat(packet.opCode()).isEqualTo(OpCode.RC_SEND_ONLY);
        assertThat(packet.solicited()).isTrue();
        assertThat(packet.acknowledge()).isTrue();
        assertThat(packet.partitionKey()).isEqualTo(0xffff);
        assertThat(packet.destinationQueuePair()).isEqualTo(0x123);
        assertThat(packet.sequence()).isEqualTo(0xabc);
        assertThat(payload(packet))
                .isEqualTo("Saluton".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    @Test
    void shouldDecodeEveryHeader() throws Exception {
        assertThat(decoded(ACKNOWLEDGE).acknowledgement())
                .isEqualTo(new AcknowledgeHeader(0x1f, 7));
        assertRemoteMemory(decoded(WRITE), 0x0123456789abcdefL, 4);
        assertThat(payload(decoded(WRITE))).containsExactly('A', 'B', 'C', 'D');
        assertThat(decoded(READ).rdmaLength()).isEqualTo(0x100000);
        assertThat(decoded(COMPARE_AND_SWAP).atomic())
                .isEqualTo(new AtomicHeader(0x0123456789abcde8L, 0xcafebabe, 0x1111, 0x2222));
        assertThat(decoded(ATOMIC_RESULT).acknowledgement().messages()).isEqualTo(9);
        assertThat(decoded(ATOMIC_RESULT).atomicResult()).isEqualTo(new AtomicResultHeader(0x3333));
        assertThat(decoded(DATAGRAM).datagram()).isEqualTo(new DatagramHeader(0x11111111, 0x123));
        assertThat(decoded(DATAGRAM).immediate()).isEqualTo(new ImmediateHeader(0xdeadbeef));
        assertThat(payload(decoded(DATAGRAM))).containsExactly('x');
    }

    @Test
    void shouldDecodeAndCheckEachPacketOfABufferWithSeveralPackets() throws Exception {
        var packet = ipv4(new PacketBuffer(Arena.ofAuto().allocate(2 * PacketBuffer.MEMORY_BYTES)));
        var bytes = HexFormat.of().parseHex(SEND + WRITE);
        MemorySegment.copy(
                MemorySegment.ofArray(bytes), 0, packet.memory(), PacketBuffer.START, bytes.length);
        var sendBytes = SEND.length() / 2;
        var incoming = new IncomingPacket();

        packet.range(PacketBuffer.START, sendBytes);
        incoming.decode(packet);
        assertThat(checksum.matches(packet)).isTrue();
        assertThat(incoming.sequence()).isEqualTo(0xabc);

        packet.range(PacketBuffer.START + sendBytes, bytes.length - sendBytes);
        incoming.decode(packet);
        assertThat(checksum.matches(packet)).isTrue();
        assertRemoteMemory(incoming, 0x0123456789abcdefL, 4);
        assertThat(payload(incoming)).containsExactly('A', 'B', 'C', 'D');

        packet.memory().set(ValueLayout.JAVA_BYTE, incoming.payloadOffset(), (byte) 'a');
        assertThat(checksum.matches(packet)).isFalse();
    }

    @Test
    void shouldRejectRangesOutsideTheBuffer() {
        var packet = new PacketBuffer();
        var end = PacketBuffer.MEMORY_BYTES;
        assertThatThrownBy(() -> packet.range(PacketBuffer.START - 1, 4))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> packet.range(end - 3, 4))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> packet.range(PacketBuffer.START, -1))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static void assertRemoteMemory(IncomingPacket packet, long address, int length) {
        assertThat(packet.rdmaAddress()).isEqualTo(address);
        assertThat(packet.rdmaKey()).isEqualTo(0xcafebabe);
        assertThat(packet.rdmaLength()).isEqualTo(length);
    }

    /**
     * The packets have the format of the annex on memory placement extensions. Their checksums are
     * not verified.
     */
    @Test
    void shouldDecodeAFlushAndAnAtomicWrite() throws Exception {
        var flush =
                decoded(
                        "1c40ffff0065432180000005"
                                + "00000013"
                                + "0123456789abcde8cafebabe00001000"
                                + "00000000");
        assertThat(flush.opCode()).isEqualTo(OpCode.RC_FLUSH);
        assertThat(flush.flush()).isEqualTo(new FlushHeader(3, FlushHeader.REGION));
        assertRemoteMemory(flush, 0x0123456789abcde8L, 0x1000);
        assertThat(flush.payloadBytes()).isZero();
        var write =
                decoded(
                        "1d40ffff0065432180000005"
                                + "0123456789abcde8cafebabe00000008"
                                + "0807060504030201"
                                + "00000000");
        assertThat(write.opCode()).isEqualTo(OpCode.RC_ATOMIC_WRITE);
        assertRemoteMemory(write, 0x0123456789abcde8L, 8);
        assertThat(payload(write)).containsExactly(8, 7, 6, 5, 4, 3, 2, 1);
    }

    /**
     * The packets have the format of the patches for XRC in rxe. Their checksums are not verified.
     */
    @Test
    void shouldDecodeRequestsOverAnXrcConnection() throws Exception {
        var send =
                decoded("a4d0ffff0000012380000abc" + "00123456" + "53616c75746f6e00" + "00000000");
        assertThat(send.opCode()).isEqualTo(OpCode.XRC_SEND_ONLY);
        assertThat(send.extended()).isEqualTo(new XrcHeader(0x123456));
        assertThat(payload(send))
                .isEqualTo("Saluton".getBytes(java.nio.charset.StandardCharsets.US_ASCII));
        var middle = decoded("a740ffff0000012300000abc" + "ff123456" + "41424344" + "00000000");
        assertThat(middle.opCode()).isEqualTo(OpCode.XRC_WRITE_MIDDLE);
        assertThat(middle.extended()).isEqualTo(new XrcHeader(0x123456));
        var write =
                decoded(
                        "ab40ffff0065432180ffffff"
                                + "00000007"
                                + "0123456789abcdefcafebabe00000004"
                                + "deadbeef"
                                + "41424344"
                                + "00000000");
        assertThat(write.opCode()).isEqualTo(OpCode.XRC_WRITE_ONLY_IMMEDIATE);
        assertThat(write.extended()).isEqualTo(new XrcHeader(7));
        assertRemoteMemory(write, 0x0123456789abcdefL, 4);
        assertThat(write.immediate()).isEqualTo(new ImmediateHeader(0xdeadbeef));
        assertThat(payload(write)).containsExactly('A', 'B', 'C', 'D');
        var swap =
                decoded(
                        "b3"
                                + COMPARE_AND_SWAP.substring(2, 24)
                                + "00000007"
                                + COMPARE_AND_SWAP.substring(24));
        assertThat(swap.opCode()).isEqualTo(OpCode.XRC_COMPARE_AND_SWAP);
        assertThat(swap.atomic())
                .isEqualTo(new AtomicHeader(0x0123456789abcde8L, 0xcafebabe, 0x1111, 0x2222));
        var answer = decoded("b1" + ACKNOWLEDGE.substring(2));
        assertThat(answer.opCode()).isEqualTo(OpCode.XRC_ACKNOWLEDGE);
        assertThat(answer.acknowledgement()).isEqualTo(new AcknowledgeHeader(0x1f, 7));
    }

    @Test
    void shouldEncodeEveryHeaderInTheFormatThatItDecodes() throws Exception {
        var memory = MemorySegment.ofArray(new byte[64]);
        BaseTransportHeader.encode(
                memory, 0, OpCode.RC_SEND_ONLY, true, 1, 0xffff, 0x123, true, 0xabc);
        assertThat(hex(memory, 12)).isEqualTo(SEND.substring(0, 24));
        RdmaHeader.encode(memory, 0, 0x0123456789abcdefL, 0xcafebabe, 4);
        assertThat(hex(memory, 16)).isEqualTo(WRITE.substring(24, 56));
        new AtomicHeader(0x0123456789abcde8L, 0xcafebabe, 0x1111, 0x2222).encode(memory, 0);
        assertThat(hex(memory, 28)).isEqualTo(COMPARE_AND_SWAP.substring(24, 80));
        AcknowledgeHeader.encode(memory, 0, 0x1f, 9);
        new AtomicResultHeader(0x3333).encode(memory, 4);
        assertThat(hex(memory, 12)).isEqualTo(ATOMIC_RESULT.substring(24, 48));
        new DatagramHeader(0x11111111, 0x123).encode(memory, 0);
        new ImmediateHeader(0xdeadbeef).encode(memory, 8);
        assertThat(hex(memory, 12)).isEqualTo(DATAGRAM.substring(24, 48));
        new InvalidateHeader(0x12345678).encode(memory, 0);
        assertThat(InvalidateHeader.decode(memory, 0)).isEqualTo(new InvalidateHeader(0x12345678));
        new XrcHeader(0x123456).encode(memory, 0);
        assertThat(hex(memory, 4)).isEqualTo("00123456");
    }

    @Test
    void shouldDecodeEveryOpCode() throws Exception {
        for (var opCode : OpCode.values()) {
            assertThat(OpCode.decode(opCode.code())).isEqualTo(opCode);
        }
        assertThat(OpCode.RC_ATOMIC_ACKNOWLEDGE.code()).isEqualTo(0x12);
        assertThat(OpCode.UD_SEND_ONLY_IMMEDIATE.code()).isEqualTo(0x65);
        assertThat(OpCode.XRC_SEND_ONLY_INVALIDATE.code()).isEqualTo(0xb7);
    }

    @Test
    void shouldRejectMalformedPackets() {
        assertRejected("");
        assertRejected(SEND.substring(0, 30)); // too short for the checksum
        assertRejected("15" + SEND.substring(2)); // unknown opcode
        assertRejected("04d1" + SEND.substring(4)); // unsupported version
        assertRejected(SEND + "00"); // not padded to a multiple of four bytes
        assertRejected(READ.substring(0, 48)); // truncated header
        assertRejected(ACKNOWLEDGE + "00000000"); // unexpected payload
        assertRejected("1170" + ACKNOWLEDGE.substring(4)); // more padding than payload
    }

    @Test
    void shouldThrowOnlyMalformedPacketExceptionsForRandomBytes() {
        var random = new SplittableRandom(42);
        var packet = ipv4(new PacketBuffer());
        var incoming = new IncomingPacket();
        var accepted = 0;
        for (var i = 0; i < 300_000; i++) {
            var length = random.nextInt(PacketBuffer.MEMORY_BYTES - PacketBuffer.START + 1);
            if (random.nextBoolean()) {
                length = random.nextInt(80) & ~3;
            }
            packet.length(length);
            for (var offset = 0; offset < 40; offset += 8) {
                packet.memory()
                        .set(
                                ValueLayout.JAVA_LONG_UNALIGNED,
                                PacketBuffer.START + offset,
                                random.nextLong());
            }
            if (random.nextInt(4) > 0) {
                var opCodes = OpCode.values();
                packet.memory()
                        .set(
                                ValueLayout.JAVA_BYTE,
                                PacketBuffer.START,
                                (byte) opCodes[random.nextInt(opCodes.length)].code());
                packet.memory().set(ValueLayout.JAVA_BYTE, PacketBuffer.START + 1, (byte) 0x40);
            }
            try {
                incoming.decode(packet);
            } catch (MalformedPacketException expected) {
                continue;
            }
            accepted++;
            assertThat(incoming.payloadOffset() + incoming.payloadBytes() + InvariantCrc.BYTES)
                    .isLessThanOrEqualTo(PacketBuffer.START + length);
            assertThat(incoming.payloadBytes()).isNotNegative();
            checksum.matches(packet);
        }
        assertThat(accepted).isGreaterThan(10_000);
    }

    @Test
    void shouldWriteAnIpv4RouteHeaderWithAValidChecksum() {
        var target = MemorySegment.ofArray(new byte[RouteHeader.BYTES]);
        RouteHeader.write(ipv4(packet(SEND)), target);
        assertThat(hex(target, 20)).isEqualTo("00".repeat(20));
        var sum = 0;
        for (var i = 20; i < 40; i += 2) {
            sum += BigEndian.unsignedShort(target, i);
        }
        assertThat((sum & 0xffff) + (sum >>> 16)).isEqualTo(0xffff);
    }

    /**
     * Inverts each bit of a packet in turn, except in fields that routers may change, and returns
     * the number of changes that the checksum does not detect.
     */
    private int countUndetectedChanges(String hex, boolean overIpv6) {
        var count = 0;
        for (var bit = 0; bit < hex.length() * 4; bit++) {
            if (bit / 8 == BaseTransportHeader.CONGESTION_OFFSET) {
                continue;
            }
            var packet = overIpv6 ? ipv6(packet(hex)) : ipv4(packet(hex));
            var offset = PacketBuffer.START + bit / 8;
            var damaged = packet.memory().get(ValueLayout.JAVA_BYTE, offset) ^ (1 << (bit % 8));
            packet.memory().set(ValueLayout.JAVA_BYTE, offset, (byte) damaged);
            count += checksum.matches(packet) ? 1 : 0;
        }
        return count;
    }

    private String sealed(String hex, PacketBuffer packet) {
        var bytes = HexFormat.of().parseHex(hex.substring(0, hex.length() - 8));
        MemorySegment.copy(MemorySegment.ofArray(bytes), 0, packet.memory(), 64, bytes.length);
        packet.length(bytes.length);
        checksum.seal(packet);
        return hex(packet.memory().asSlice(PacketBuffer.START), packet.length());
    }

    private static void assertRejected(String hex) {
        assertThatThrownBy(() -> decoded(hex)).isInstanceOf(MalformedPacketException.class);
    }

    private static IncomingPacket decoded(String hex) throws MalformedPacketException {
        var incoming = new IncomingPacket();
        incoming.decode(packet(hex));
        return incoming;
    }

    private static byte[] payload(IncomingPacket packet) {
        return packet.buffer()
                .memory()
                .asSlice(packet.payloadOffset(), packet.payloadBytes())
                .toArray(ValueLayout.JAVA_BYTE);
    }

    private static PacketBuffer packet(String hex) {
        var bytes = HexFormat.of().parseHex(hex);
        var packet = new PacketBuffer();
        MemorySegment.copy(
                MemorySegment.ofArray(bytes), 0, packet.memory(), PacketBuffer.START, bytes.length);
        packet.length(bytes.length);
        return packet;
    }

    private static PacketBuffer ipv4(PacketBuffer packet) {
        packet.addresses(0, SOURCE, 0, DESTINATION);
        return packet;
    }

    private static PacketBuffer ipv6(PacketBuffer packet) {
        packet.addresses(0xfd00L << 48, 1, 0xfd00L << 48, 2);
        return packet;
    }

    private static String hex(MemorySegment memory, int bytes) {
        return HexFormat.of().formatHex(memory.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
    }
}
