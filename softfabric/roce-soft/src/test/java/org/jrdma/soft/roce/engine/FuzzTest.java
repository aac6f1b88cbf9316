package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.BindRequest;
import org.jrdma.soft.roce.memory.MemoryWindow;
import org.jrdma.soft.roce.packet.AtomicHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.DatagramHeader;
import org.jrdma.soft.roce.packet.FlushHeader;
import org.jrdma.soft.roce.packet.InvalidateHeader;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.RdmaHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.jrdma.soft.roce.packet.XrcHeader;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that random and damaged packets affect only the queue pair to which they are addressed. */
class FuzzTest {

    private static final ValueLayout.OfInt BIG_ENDIAN_INT =
            ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);
    private static final ValueLayout.OfLong BIG_ENDIAN_LONG =
            ValueLayout.JAVA_LONG_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN);

    // Offsets of fields in the memory of a packet.
    private static final long DESTINATION = PacketBuffer.START + 4;
    private static final long SEQUENCE = PacketBuffer.START + 8;
    private static final long REMOTE_ADDRESS = PacketBuffer.START + 12;
    private static final long REMOTE_KEY = PacketBuffer.START + 20;

    private static final OpCode[] OP_CODES = OpCode.values();

    /**
     * The number of random packets. The default is small; {@code -Djrdma.fuzz.packets=1000000}
     * selects a long run.
     */
    private static final int PACKETS = Integer.getInteger("jrdma.fuzz.packets", 60_000);

    private static final int MTU = 256;
    private static final int QUEUE_KEY = 0x1234;

    /** The number of random packets after which the progress of the regular traffic is checked. */
    private static final int CHECK_INTERVAL = 64;

    /** The minimum number of regular operations that complete between two checks. */
    private static final int MIN_PROGRESS = 10;

    private final SplittableRandom random = new SplittableRandom(7);
    private final InvariantCrc checksum = new InvariantCrc();
    private final PacketBuffer packet = new PacketBuffer();
    private final PacketBuffer copy = new PacketBuffer();
    private MemoryWindow window;

    private long damaged;
    private long sealed;

    /**
     * A recent packet sequence number of the attacked queue pair. Random packets often have numbers
     * close to it.
     */
    private int recentSequence;

    /**
     * The attacked queue pair (the victim) is on the right side. Random packets have a valid
     * checksum and appear to come from its peer. In addition, a damaged copy of each regular packet
     * is delivered before the packet itself. The copy either is addressed to the same queue pair,
     * which rejects it because of its checksum, or is redirected to the victim with a valid
     * checksum.
     */
    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldNeitherTouchOtherMemoryNorBlockOtherTrafficForAnyPackets(Transport transport) {
        var start = System.nanoTime();
        // IPv6 is used because its checksum covers the whole packet and detects damage reliably.
        var pair = new EnginePair(transport, 1, new RoceGid(0, 1), new RoceGid(0, 2));
        pair.connect(MTU, 0);
        var victim = pair.right;
        victim.region =
                victim.registry.register(
                        victim.domain,
                        victim.memory,
                        victim.start,
                        EnginePair.ALL | Access.WINDOW_BIND);
        window = victim.registry.newWindow(victim.domain, MemoryWindow.Type.TWO);
        var traffic =
                Stream.of(Transport.values()).map(kind -> new RegularTraffic(pair, kind)).toList();
        pair.passes =
                (to, regular) -> {
                    if (to == victim) {
                        damage(regular, victim, traffic);
                    } else if (destination(regular) == pair.left.queuePair.number()) {
                        recentSequence = sequence(regular);
                    }
                    return true;
                };
        var resets = 0;
        var completedBefore = new long[traffic.size()];
        for (var i = 0; i < PACKETS; i++) {
            if (victim.queuePair.state() != QueuePairState.READY_TO_SEND
                    || pair.left.queuePair.state() != QueuePairState.READY_TO_SEND) {
                resets++;
                victim.queuePair.reset();
                pair.left.queuePair.reset();
                pair.connect(MTU, 0);
                recentSequence = 0;
            }
            postWork(victim, i);
            forge(pair.left, victim, traffic.get(random.nextInt(traffic.size())));
            victim.engine.receive(packet);
            traffic.forEach(RegularTraffic::proceed);
            pair.run(pair.now + 1_000);
            if (i % CHECK_INTERVAL == CHECK_INTERVAL - 1) {
                assertThat(pair.exceptions).isEmpty();
                for (var j = 0; j < completedBefore.length; j++) {
                    assertThat(traffic.get(j).completed())
                            .isGreaterThanOrEqualTo(completedBefore[j] + MIN_PROGRESS);
                    completedBefore[j] = traffic.get(j).completed();
                }
            }
        }
        assertThat(victim.guardsAreIntact()).isTrue();
        // The resets show that the victim has accepted random packets.
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
                traffic,
                (System.nanoTime() - start) / 1e9);
    }

    private static int destination(PacketBuffer packet) {
        return packet.memory().get(BIG_ENDIAN_INT, DESTINATION) & 0xff_ffff;
    }

    private static int sequence(PacketBuffer packet) {
        return packet.memory().get(BIG_ENDIAN_INT, SEQUENCE) & 0xff_ffff;
    }

    private int randomSequence() {
        return random.nextInt(8) == 0
                ? random.nextInt(1 << 24)
                : (recentSequence + random.nextInt(-1, 3)) & 0xff_ffff;
    }

    private void postWork(EnginePair.Side victim, int i) {
        if (i % 16 == 0 && victim.receives().claim() != null) {
            victim.receive(i, random.nextInt(4) * 256L, random.nextInt(700));
        }
        if (victim.transport == Transport.EXTENDED) {
            return; // The receiving side of an XRC connection sends no requests.
        }
        if (!window.isBound() && victim.queuePair.sends().claim() != null) {
            victim.work(i, SendOperationKind.BIND)
                    .bind(
                            new BindRequest(
                                    window,
                                    window.key(),
                                    window.key() + 1,
                                    victim.region,
                                    victim.start,
                                    4096,
                                    EnginePair.ALL));
            victim.post();
        }
        if (i % 64 == 0 && victim.queuePair.sends().claim() != null) {
            victim.work(i, SendOperationKind.READ)
                    .buffer(victim.start, 700, victim.region.key())
                    .remote(0, 0);
            victim.post();
        }
    }

    private OpCode randomOpCode() {
        return OP_CODES[random.nextInt(OP_CODES.length)];
    }

    /**
     * Creates a random packet. Most of its fields are valid with a high probability, so that many
     * packets pass the first checks of the receiver.
     */
    private void forge(EnginePair.Side peer, EnginePair.Side victim, RegularTraffic traffic) {
        var opCode = randomOpCode();
        while (random.nextBoolean() && opCode.transport() != victim.transport) {
            opCode = randomOpCode();
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
                randomSequence());
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        for (var offset = 0; offset < 40; offset += 8) {
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, headers + offset, random.nextLong());
        }
        var key =
                switch (random.nextInt(8)) {
                    case 0 -> random.nextInt();
                    case 1 -> traffic.key();
                    case 2 -> window.key();
                    default -> victim.region.key();
                };
        var address =
                key == traffic.key()
                        ? traffic.start()
                        : victim.start
                                + switch (random.nextInt(4)) {
                                    case 0 -> random.nextInt(-600, 600);
                                    case 1 -> EnginePair.REGION + random.nextInt(-600, 600);
                                    case 2 -> random.nextLong();
                                    default -> random.nextInt(1 << 17) * 8L;
                                };
        var remaining = opCode.headers();
        if (opCode.hasExtended()) {
            new XrcHeader(receiveQueue(victim, traffic)).encode(memory, headers);
            headers += XrcHeader.BYTES;
            remaining = remaining.subList(1, remaining.size());
        }
        switch (remaining.isEmpty() ? null : remaining.getFirst()) {
            case RDMA ->
                    RdmaHeader.encode(
                            memory,
                            headers,
                            address,
                            key,
                            random.nextInt(9) == 0 ? random.nextInt() : bytes(opCode));
            case ATOMIC -> new AtomicHeader(address, key, 1, 2).encode(memory, headers);
            case FLUSH -> {
                new FlushHeader(random.nextInt(16), random.nextInt(4)).encode(memory, headers);
                RdmaHeader.encode(
                        memory, headers + FlushHeader.BYTES, address, key, random.nextInt(3) * 256);
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

    /** Returns the number of an XRC receive queue, usually that of the victim. */
    private int receiveQueue(EnginePair.Side victim, RegularTraffic traffic) {
        return switch (random.nextInt(16)) {
            case 0 -> random.nextInt(1 << 24);
            case 1 -> traffic.receiveQueue();
            default -> victim.named == null ? 0 : victim.named.number();
        };
    }

    /** Returns a payload length that is valid for the opcode in about half of the cases. */
    private int bytes(OpCode opCode) {
        return opCode == OpCode.RC_ATOMIC_WRITE && random.nextInt(4) > 0
                ? Long.BYTES
                : random.nextInt(3) * 256;
    }

    /**
     * Delivers a damaged copy of a regular packet to the victim's engine. The copy has an inverted
     * bit or is truncated.
     */
    private void damage(
            PacketBuffer regular, EnginePair.Side victim, List<RegularTraffic> traffic) {
        damaged++;
        copy.copyFrom(regular);
        var memory = copy.memory();
        var forVictim = random.nextBoolean();
        if (forVictim) {
            redirect(victim, traffic);
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
            // The checksum is computed again, so that the victim does not reject the copy because
            // of it.
            memory.set(BIG_ENDIAN_INT, DESTINATION, victim.queuePair.number());
            checksum.seal(copy);
        }
        victim.engine.receive(copy);
    }

    /**
     * Removes the checksum of the copy, and changes the sequence number, address and key so that
     * the victim may accept the copy.
     */
    private void redirect(EnginePair.Side victim, List<RegularTraffic> traffic) {
        var memory = copy.memory();
        copy.length(copy.length() - InvariantCrc.BYTES);
        memory.set(BIG_ENDIAN_INT, SEQUENCE, random.nextInt() << 31 | randomSequence());
        var address = memory.get(BIG_ENDIAN_LONG, REMOTE_ADDRESS);
        if (traffic.stream().anyMatch(each -> each.start() == address) && random.nextInt(8) > 0) {
            memory.set(BIG_ENDIAN_LONG, REMOTE_ADDRESS, victim.start);
            memory.set(BIG_ENDIAN_INT, REMOTE_KEY, victim.region.key());
        }
    }
}
