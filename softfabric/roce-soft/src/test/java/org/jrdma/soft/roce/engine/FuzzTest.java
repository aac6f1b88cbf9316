package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.MemoryWindow;
import org.jrdma.soft.roce.memory.WindowBinding;
import org.jrdma.soft.roce.packet.AtomicHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.DatagramHeader;
import org.jrdma.soft.roce.packet.ExtendedHeader;
import org.jrdma.soft.roce.packet.FlushHeader;
import org.jrdma.soft.roce.packet.InvalidateHeader;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.RdmaHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FuzzTest {

    private static final ValueLayout.OfInt BIG_ENDIAN_INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    // The offsets of these fields in a packet.
    private static final long DESTINATION = PacketBuffer.START + 4;
    private static final long SEQUENCE = PacketBuffer.START + 8;
    private static final long REMOTE_ADDRESS = PacketBuffer.START + 12;
    private static final long REMOTE_KEY = PacketBuffer.START + 20;

    private static final OpCode[] OP_CODES = OpCode.values();

    /**
     * The number of packets: small by default, {@code -Djrdma.fuzz.packets=1000000} for a long run.
     */
    private static final int PACKETS = Integer.getInteger("jrdma.fuzz.packets", 60_000);

    private static final int MTU = 256;
    private static final int QUEUE_KEY = 0x1234;

    /** The maximum number of packets during which regular traffic must make some progress. */
    private static final int SPELL = 64;

    private static final int DONE_IN_A_SPELL = 10;

    private final SplittableRandom random = new SplittableRandom(7);
    private final InvariantCrc checksum = new InvariantCrc();
    private final PacketBuffer packet = new PacketBuffer();
    private final PacketBuffer copy = new PacketBuffer();
    private MemoryWindow window;

    private long damaged;
    private long sealed;

    /** The approximate packet sequence number of the victim. */
    private int near;

    /**
     * Tests random packets from the right peer with a valid checksum. Before each regular packet, a
     * damaged copy is also delivered: either to the same queue pair, which the checksum protects,
     * or to the victim with a valid checksum.
     */
    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldNeitherTouchOtherMemoryNorBlockOtherTrafficForAnyPackets(Transport transport) {
        var start = System.nanoTime();
        // Over IPv6, because the checksum covers the whole packet and detects all damage except by
        // chance.
        var pair = new Pair(transport, 1, new Address(0, 1), new Address(0, 2));
        pair.connect(MTU, 0);
        var victim = pair.right;
        victim.region =
                victim.registry.register(
                        victim.domain, victim.memory, victim.start, Pair.ALL | Access.WINDOW_BIND);
        window = victim.registry.newWindow(victim.domain, MemoryWindow.Type.TWO);
        var good = Stream.of(Transport.values()).map(kind -> new GoodTraffic(pair, kind)).toList();
        pair.passes =
                (to, genuine) -> {
                    if (to == victim) {
                        damage(genuine, victim, good);
                    } else if (destination(genuine) == pair.left.queuePair.number()) {
                        near = sequence(genuine);
                    }
                    return true;
                };
        var resets = 0;
        var goodBefore = new long[good.size()];
        for (var i = 0; i < PACKETS; i++) {
            if (victim.queuePair.state() != QueuePairState.READY_TO_SEND
                    || pair.left.queuePair.state() != QueuePairState.READY_TO_SEND) {
                resets++;
                victim.queuePair.reset();
                pair.left.queuePair.reset();
                pair.connect(MTU, 0);
                near = 0;
            }
            giveWork(victim, i);
            forge(pair.left, victim, good.get(random.nextInt(good.size())));
            victim.engine.receive(packet);
            good.forEach(GoodTraffic::proceed);
            pair.run(pair.now + 1_000);
            if (i % SPELL == SPELL - 1) {
                assertThat(pair.faults).isEmpty();
                for (var j = 0; j < goodBefore.length; j++) {
                    assertThat(good.get(j).completed())
                            .isGreaterThanOrEqualTo(goodBefore[j] + DONE_IN_A_SPELL);
                    goodBefore[j] = good.get(j).completed();
                }
            }
        }
        assertThat(victim.guardsAreIntact()).isTrue();
        // Otherwise the random packets were never accepted.
        assertThat(resets).isGreaterThan(PACKETS / 100);
        assertThat(victim.done)
                .filteredOn(done -> done.status() == CompletionStatus.SUCCESS)
                .hasSizeGreaterThan(PACKETS / 1_000);
        assertThat(sealed).isBetween(damaged * 2 / 5, damaged * 3 / 5);
        System.out.printf(
                Locale.ROOT,
                "%s: %,d random packets, %,d damaged packets (%,d with a valid checksum), %s regular operations in %.1f s%n",
                transport,
                PACKETS,
                damaged,
                sealed,
                good,
                (System.nanoTime() - start) / 1e9);
    }

    private static int destination(PacketBuffer packet) {
        return packet.memory().get(BIG_ENDIAN_INT, DESTINATION) & 0xff_ffff;
    }

    private static int sequence(PacketBuffer packet) {
        return packet.memory().get(BIG_ENDIAN_INT, SEQUENCE) & 0xff_ffff;
    }

    private int anySequence() {
        return random.nextInt(8) == 0
                ? random.nextInt(1 << 24)
                : (near + random.nextInt(-1, 3)) & 0xff_ffff;
    }

    private void giveWork(Pair.Side victim, int i) {
        if (i % 16 == 0 && victim.receives().claim() != null) {
            victim.receive(i, random.nextInt(4) * 256L, random.nextInt(700));
        }
        if (victim.transport == Transport.EXTENDED) {
            return; // the receiving end sends nothing
        }
        if (!window.isBound() && victim.queuePair.sends().claim() != null) {
            victim.work(i, SendOperation.BIND)
                    .bind(
                            new WindowBinding(
                                    window,
                                    window.key(),
                                    window.key() + 1,
                                    victim.region,
                                    victim.start,
                                    4096,
                                    Pair.ALL));
            victim.post();
        }
        if (i % 64 == 0 && victim.queuePair.sends().claim() != null) {
            victim.work(i, SendOperation.READ)
                    .buffer(victim.start, 700, victim.region.key())
                    .remote(0, 0);
            victim.post();
        }
    }

    private OpCode anyOpCode() {
        return OP_CODES[random.nextInt(OP_CODES.length)];
    }

    /** Creates a random packet. The more of its fields are valid, the further it is processed. */
    private void forge(Pair.Side peer, Pair.Side victim, GoodTraffic good) {
        var opCode = anyOpCode();
        while (random.nextBoolean() && opCode.transport() != victim.transport) {
            opCode = anyOpCode();
        }
        var memory = packet.memory();
        BaseTransportHeader.encode(
                memory,
                PacketBuffer.START,
                opCode,
                random.nextBoolean(),
                random.nextInt(8) == 0 ? random.nextInt(4) : 0,
                0xffff,
                victim.queuePair.number(),
                random.nextBoolean(),
                anySequence());
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        for (var offset = 0; offset < 40; offset += 8) {
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, headers + offset, random.nextLong());
        }
        var key =
                switch (random.nextInt(8)) {
                    case 0 -> random.nextInt();
                    case 1 -> good.key();
                    case 2 -> window.key();
                    default -> victim.region.key();
                };
        var address =
                key == good.key()
                        ? good.start()
                        : victim.start
                                + switch (random.nextInt(4)) {
                                    case 0 -> random.nextInt(-600, 600);
                                    case 1 -> Pair.REGION + random.nextInt(-600, 600);
                                    case 2 -> random.nextLong();
                                    default -> random.nextInt(1 << 17) * 8L;
                                };
        var remaining = opCode.headers();
        if (opCode.hasExtended()) {
            new ExtendedHeader(receiveQueue(victim, good)).encode(memory, headers);
            headers += ExtendedHeader.BYTES;
            remaining = remaining.subList(1, remaining.size());
        }
        switch (remaining.isEmpty() ? null : remaining.getFirst()) {
            case RDMA ->
                    new RdmaHeader(
                                    address,
                                    key,
                                    random.nextInt(9) == 0 ? random.nextInt() : bytes(opCode))
                            .encode(memory, headers);
            case ATOMIC -> new AtomicHeader(address, key, 1, 2).encode(memory, headers);
            case FLUSH -> {
                new FlushHeader(random.nextInt(16), random.nextInt(4)).encode(memory, headers);
                new RdmaHeader(address, key, random.nextInt(3) * 256)
                        .encode(memory, headers + FlushHeader.BYTES);
            }
            case INVALIDATE -> new InvalidateHeader(key).encode(memory, headers);
            case DATAGRAM -> {
                if (random.nextInt(8) > 0) {
                    new DatagramHeader(QUEUE_KEY, random.nextInt(1 << 24)).encode(memory, headers);
                }
            }
            case null, default -> {}
        }
        var payload = opCode.hasPayload() ? bytes(opCode) : 0;
        packet.length(BaseTransportHeader.BYTES + opCode.headerBytes() + payload);
        packet.addresses(
                peer.address.high(),
                peer.address.low(),
                victim.address.high(),
                victim.address.low());
        checksum.seal(packet);
    }

    /** Returns a receive queue number, usually that of the victim. */
    private int receiveQueue(Pair.Side victim, GoodTraffic good) {
        return switch (random.nextInt(16)) {
            case 0 -> random.nextInt(1 << 24);
            case 1 -> good.receiveQueue();
            default -> victim.named == null ? 0 : victim.named.number();
        };
    }

    /** Returns a payload length that is valid in about half of the cases. */
    private int bytes(OpCode opCode) {
        return opCode == OpCode.RC_ATOMIC_WRITE && random.nextInt(4) > 0
                ? Long.BYTES
                : random.nextInt(3) * 256;
    }

    /** Delivers a copy with an inverted bit or a truncated end to the victim's engine. */
    private void damage(PacketBuffer genuine, Pair.Side victim, List<GoodTraffic> good) {
        damaged++;
        copy.copyFrom(genuine);
        var memory = copy.memory();
        var forVictim = random.nextBoolean();
        if (forVictim) {
            redirect(victim, good);
        }
        if (random.nextBoolean()) {
            copy.length(random.nextInt(copy.length()) & (forVictim ? -4 : -1));
        } else {
            var offset = PacketBuffer.START + random.nextInt(copy.length());
            var bits = memory.get(ValueLayout.JAVA_BYTE, offset);
            memory.set(ValueLayout.JAVA_BYTE, offset, (byte) (bits ^ 1 << random.nextInt(8)));
        }
        if (forVictim) {
            sealed++;
            // Computes the checksum again, so that the copy is accepted.
            memory.set(BIG_ENDIAN_INT, DESTINATION, victim.queuePair.number());
            checksum.seal(copy);
        }
        victim.engine.receive(copy);
    }

    /** Changes the copy so that the victim may expect it, and removes its checksum. */
    private void redirect(Pair.Side victim, List<GoodTraffic> good) {
        var memory = copy.memory();
        copy.length(copy.length() - InvariantCrc.BYTES);
        memory.set(BIG_ENDIAN_INT, SEQUENCE, random.nextInt() << 31 | anySequence());
        var address = memory.get(BIG_ENDIAN_LONG, REMOTE_ADDRESS);
        if (good.stream().anyMatch(one -> one.start() == address) && random.nextInt(8) > 0) {
            memory.set(BIG_ENDIAN_LONG, REMOTE_ADDRESS, victim.start);
            memory.set(BIG_ENDIAN_INT, REMOTE_KEY, victim.region.key());
        }
    }
}
