package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.jrdma.soft.roce.packet.AtomicHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
import org.jrdma.soft.roce.packet.DatagramHeader;
import org.jrdma.soft.roce.packet.InvariantCrc;
import org.jrdma.soft.roce.packet.OpCode;
import org.jrdma.soft.roce.packet.PacketBuffer;
import org.jrdma.soft.roce.packet.RdmaHeader;
import org.jrdma.soft.roce.packet.Transport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class FuzzTest {

    private static final OpCode[] OP_CODES = OpCode.values();

    /** A short form in every build; {@code -Djrdma.fuzz.packets=1000000} for the long one. */
    private static final int PACKETS = Integer.getInteger("jrdma.fuzz.packets", 60_000);

    private static final int MTU = 256;
    private static final int QUEUE_KEY = 0x1234;

    /** As many packets fly by while good traffic must get at least so much done. */
    private static final int SPELL = 64;

    private static final int DONE_IN_A_SPELL = 10;

    private final SplittableRandom random = new SplittableRandom(7);
    private final InvariantCrc checksum = new InvariantCrc();
    private final PacketBuffer packet = new PacketBuffer();
    private final PacketBuffer copy = new PacketBuffer();

    /**
     * Packets with a right checksum from the right peer and nonsense in between; and, of each good
     * packet, a damaged one before it.
     */
    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldTouchNothingElseAndHinderNobodyWhateverAPeerSends(Transport transport) {
        // Over IPv6: the checksum covers all of the packet, and finds all damage but by chance.
        var pair = new Pair(transport, 1, new Address(0, 1), new Address(0, 2));
        pair.connect(MTU, 0);
        var victim = pair.right;
        var good = new GoodTraffic(pair);
        pair.passes = (to, genuine) -> to == pair.left || damage(genuine, victim);
        var resets = 0;
        var goodBefore = 0L;
        for (var i = 0; i < PACKETS; i++) {
            if (victim.queuePair.state() != QueuePairState.READY_TO_SEND
                    || pair.left.queuePair.state() != QueuePairState.READY_TO_SEND) {
                resets++;
                victim.queuePair.reset();
                pair.left.queuePair.reset();
                pair.connect(MTU, 0);
            }
            giveWork(victim, i);
            forge(pair.left, victim, good);
            victim.engine.receive(packet);
            good.goOn();
            pair.run(pair.now + 1_000);
            if (i % SPELL == SPELL - 1) {
                assertThat(pair.faults).isEmpty();
                assertThat(good.completed()).isGreaterThanOrEqualTo(goodBefore + DONE_IN_A_SPELL);
                goodBefore = good.completed();
            }
        }
        assertThat(victim.guardsAreIntact()).isTrue();
        // Else the nonsense was no danger.
        assertThat(resets).isGreaterThan(PACKETS / 100);
        assertThat(victim.done)
                .filteredOn(done -> done.status() == CompletionStatus.SUCCESS)
                .hasSizeGreaterThan(PACKETS / 1_000);
    }

    private void giveWork(Pair.Side victim, int i) {
        if (i % 16 == 0 && victim.queuePair.receives().claim() != null) {
            victim.receive(i, random.nextInt(4) * 256L, random.nextInt(700));
        }
        if (i % 64 == 0 && victim.queuePair.sends().claim() != null) {
            victim.work(i, SendOperation.READ)
                    .buffer(victim.start, 700, victim.region.key())
                    .remote(0, 0);
            victim.post();
        }
    }

    /** What a peer gone mad might send: the more of it is right, the further it gets. */
    private void forge(Pair.Side peer, Pair.Side victim, GoodTraffic good) {
        var opCode = OP_CODES[random.nextInt(OP_CODES.length)];
        var memory = packet.memory();
        new BaseTransportHeader(
                        opCode,
                        random.nextBoolean(),
                        random.nextInt(8) == 0 ? random.nextInt(4) : 0,
                        0xffff,
                        victim.queuePair.number(),
                        random.nextBoolean(),
                        random.nextInt(8) == 0 ? random.nextInt(1 << 24) : random.nextInt(6))
                .encode(memory, PacketBuffer.START);
        var headers = PacketBuffer.START + BaseTransportHeader.BYTES;
        for (var offset = 0; offset < 40; offset += 8) {
            memory.set(ValueLayout.JAVA_LONG_UNALIGNED, headers + offset, random.nextLong());
        }
        var key =
                switch (random.nextInt(8)) {
                    case 0 -> random.nextInt();
                    case 1 -> good.key();
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
        switch (opCode.headers().isEmpty() ? null : opCode.headers().getFirst()) {
            case RDMA ->
                    new RdmaHeader(
                                    address,
                                    key,
                                    random.nextInt(9) == 0
                                            ? random.nextInt()
                                            : random.nextInt(3) * 256)
                            .encode(memory, headers);
            case ATOMIC -> new AtomicHeader(address, key, 1, 2).encode(memory, headers);
            case DATAGRAM -> {
                if (random.nextInt(8) > 0) {
                    new DatagramHeader(QUEUE_KEY, random.nextInt(1 << 24)).encode(memory, headers);
                }
            }
            case null, default -> {}
        }
        var payload = opCode.hasPayload() ? random.nextInt(3) * 256 : 0;
        packet.length(BaseTransportHeader.BYTES + opCode.headerBytes() + payload);
        packet.addresses(
                peer.address.high(),
                peer.address.low(),
                victim.address.high(),
                victim.address.low());
        checksum.seal(packet);
    }

    /** Lets the victim have a copy with a bit turned or its end cut off. True. */
    private boolean damage(PacketBuffer genuine, Pair.Side victim) {
        copy.copyFrom(genuine);
        if (random.nextBoolean()) {
            copy.length(random.nextInt(copy.length()));
        } else {
            var offset = PacketBuffer.START + random.nextInt(copy.length());
            var bits = copy.memory().get(ValueLayout.JAVA_BYTE, offset);
            var turned = (byte) (bits ^ 1 << random.nextInt(8));
            copy.memory().set(ValueLayout.JAVA_BYTE, offset, turned);
        }
        victim.engine.receive(copy);
        return true;
    }
}
