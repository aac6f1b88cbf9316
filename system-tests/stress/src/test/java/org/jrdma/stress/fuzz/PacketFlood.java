package org.jrdma.stress.fuzz;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Locale;
import java.util.random.RandomGenerator;
import java.util.random.RandomGeneratorFactory;
import org.jrdma.soft.roce.connection.Message;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.DatagramHeader;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.Operation;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.Transport;

/**
 * A program that sends forged RoCE packets with valid checksums to an address. Their source is the
 * same address or another one. Half of the packets are copies of packets that the attacked program
 * has sent, with a few changed bytes: they contain valid numbers of its queue pairs, connections
 * and listeners, sequence numbers and keys. The other packets are random, and half of these are
 * messages of the connection manager.
 */
final class PacketFlood {

    private static final int MANAGEMENT = 1;
    private static final int MANAGEMENT_KEY = 0x8001_0000;
    private static final long IPV4_PREFIX = 0xffff_0000_0000L;
    private static final int BODY =
            PacketBuffer.START + BaseTransportHeader.BYTES + DatagramHeader.BYTES;
    private static final int PACKETS_PER_SOCKET = 200;
    private static final OpCode[] OP_CODES = OpCode.values();

    private final InetAddress victim;
    private final RandomGenerator random;
    private final PacketBuffer packet = new PacketBuffer();
    private final InvariantCrc checksum = new InvariantCrc();

    private final RecentlySentPackets samples;
    private long copied;

    private PacketFlood(InetAddress victim, long seed, RecentlySentPackets samples) {
        this.victim = victim;
        this.samples = samples;
        this.random = RandomGeneratorFactory.of("L64X128MixRandom").create(seed);
    }

    public static void main(String... arguments) throws IOException {
        var flood =
                new PacketFlood(
                        InetAddress.ofLiteral(arguments[0]),
                        Long.parseLong(arguments[2]),
                        RecentlySentPackets.create(Path.of(arguments[3])));
        var count = Long.parseLong(arguments[1]);
        var start = System.nanoTime();
        for (var sent = 0L; sent < count; sent += PACKETS_PER_SOCKET) {
            flood.sendFromOneAddress();
        }
        System.out.printf(
                Locale.ROOT,
                "%,d forged packets, %,d of them changed copies of real packets, in %.1f s%n",
                count,
                flood.copied,
                (System.nanoTime() - start) / 1e9);
        Target.check(flood.copied > 0, "No packet of the attacked program was copied.");
    }

    private void sendFromOneAddress() throws IOException {
        var source =
                random.nextBoolean()
                        ? victim
                        : InetAddress.getByAddress(
                                new byte[] {
                                    127, 98, (byte) random.nextInt(), (byte) random.nextInt()
                                });
        try (var socket = new DatagramSocket(new InetSocketAddress(source, 0))) {
            for (var index = 0; index < PACKETS_PER_SOCKET; index++) {
                if (random.nextBoolean() && changeCopy()) {
                    copied++;
                } else if (random.nextBoolean()) {
                    forgeMessage();
                } else {
                    forgePacket();
                }
                packet.addresses(0, gid(source), 0, gid(victim));
                packet.sourcePort(socket.getLocalPort());
                checksum.seal(packet);
                var bytes =
                        packet.memory()
                                .asSlice(PacketBuffer.START, packet.length())
                                .toArray(ValueLayout.JAVA_BYTE);
                socket.send(new DatagramPacket(bytes, bytes.length, victim, PacketBuffer.UDP_PORT));
            }
        }
    }

    private static long gid(InetAddress address) {
        return IPV4_PREFIX | Integer.toUnsignedLong(ByteBuffer.wrap(address.getAddress()).getInt());
    }

    /** Creates a message of the connection manager with random fields. */
    private void forgeMessage() {
        header(OpCode.of(Transport.DATAGRAM, Operation.SEND), MANAGEMENT);
        new DatagramHeader(MANAGEMENT_KEY, MANAGEMENT)
                .encode(packet.memory(), PacketBuffer.START + BaseTransportHeader.BYTES);
        packet.length(BaseTransportHeader.BYTES + DatagramHeader.BYTES + Message.BYTES);
        randomize(BODY, Message.BYTES);
        var message = packet.memory().asSlice(BODY, Message.BYTES);
        BigEndian.putInteger(message, 0, Message.KIND);
        BigEndian.putShort(message, Message.ATTRIBUTE_OFFSET, 0x10 + random.nextInt(10));
    }

    /** Copies a packet of the victim and changes a few bytes. Returns false if there is none. */
    private boolean changeCopy() {
        var length =
                samples.copy(
                        random, packet.memory().asSlice(PacketBuffer.START), InvariantCrc.BYTES);
        for (var changes = random.nextInt(4); changes > 0 && length > 0; changes--) {
            var at = random.nextInt(random.nextBoolean() ? Math.min(length, 32) : length);
            var old = packet.memory().get(ValueLayout.JAVA_BYTE, PacketBuffer.START + at);
            var delta = random.nextBoolean() ? 1 : random.nextInt(256);
            packet.memory()
                    .set(ValueLayout.JAVA_BYTE, PacketBuffer.START + at, (byte) (old + delta));
        }
        packet.length(random.nextInt(20) == 0 ? length & random.nextInt() & ~3 : length);
        return length > 0;
    }

    /** Creates a packet of any kind for a random queue pair. */
    private void forgePacket() {
        var opCode = OP_CODES[random.nextInt(OP_CODES.length)];
        header(opCode, random.nextBoolean() ? random.nextInt(1 << 24) : random.nextInt(64));
        var rest = opCode.headerBytes() + (opCode.hasPayload() ? 4 * random.nextInt(256) : 0);
        packet.length(BaseTransportHeader.BYTES + rest);
        randomize(PacketBuffer.START + BaseTransportHeader.BYTES, rest);
    }

    private void header(OpCode opCode, int queuePair) {
        BaseTransportHeader.encode(
                packet.memory(),
                PacketBuffer.START,
                opCode,
                false,
                0,
                0xffff,
                queuePair,
                true,
                random.nextInt(1 << 24));
    }

    private void randomize(int offset, int length) {
        for (var at = offset; at + 4 <= offset + length; at += 4) {
            var word = random.nextInt(3) == 0 ? random.nextInt(8) : random.nextInt();
            BigEndian.putInteger(packet.memory(), at, word);
        }
    }
}
