package org.jrdma.soft.roce.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.util.SplittableRandom;
import org.jrdma.soft.roce.packet.AtomicHeader;
import org.jrdma.soft.roce.packet.BaseTransportHeader;
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

    /** Packets with a right checksum from the right peer, and nonsense in between. */
    @ParameterizedTest
    @EnumSource(Transport.class)
    void shouldTouchNothingOutsideRegionsWhateverAPeerSends(Transport transport) {
        var pair = new Pair(transport, 1);
        pair.connect(256, 0);
        var random = new SplittableRandom(7);
        var victim = pair.right;
        var checksum = new InvariantCrc();
        var packet = new PacketBuffer();
        var errors = 0;
        for (var i = 0; i < PACKETS; i++) {
            if (victim.queuePair.state() != QueuePairState.READY_TO_SEND) {
                errors++;
                victim.queuePair.reset();
                pair.left.queuePair.reset();
                pair.connect(256, 0);
            }
            if (i % 16 == 0 && victim.queuePair.receives().claim() != null) {
                victim.receive(i, random.nextInt(4) * 256L, random.nextInt(700));
            }
            if (i % 64 == 0 && victim.queuePair.sends().claim() != null) {
                victim.work(i, SendOperation.READ)
                        .buffer(victim.start, 700, victim.region.key())
                        .remote(0, 0);
                victim.post();
            }
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
            var key = random.nextInt(8) == 0 ? random.nextInt() : victim.region.key();
            var address =
                    victim.start
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
                case null, default -> {}
            }
            var payload = opCode.hasPayload() ? random.nextInt(3) * 256 : 0;
            packet.length(BaseTransportHeader.BYTES + opCode.headerBytes() + payload);
            packet.addresses(0, pair.left.address.low(), 0, victim.address.low());
            checksum.seal(packet);
            victim.engine.receive(packet);
            if (i % 4 == 0) {
                victim.engine.transmit();
            }
        }
        assertThat(victim.guardsAreIntact()).isTrue();
        if (transport == Transport.RELIABLE) {
            assertThat(errors).isGreaterThan(1_000);
        }
    }
}
