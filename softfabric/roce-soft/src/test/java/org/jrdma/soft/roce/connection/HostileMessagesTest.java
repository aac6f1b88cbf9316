package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jrdma.soft.roce.engine.Address;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests malformed and unexpected messages from peers and strangers. */
class HostileMessagesTest {

    private static final int MESSAGES = 40_000;

    /**
     * A message must not cause an exception, more than one answer, an answer longer than the
     * message, or lasting state. A request may cause one additional message, the disconnect of a
     * stale connection.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldNeitherFailNorAmplifyNorKeepState(long seed) {
        var random = new Random(seed);
        var world = new World();
        var ear = world.there.listen(64);
        var callers = new ArrayList<World.Party>();
        var recorded = new ArrayList<World.Sent>();
        for (var i = 0; i < MESSAGES; i++) {
            if (i % 50 == 0) {
                act(world, ear, callers, random, i);
                recorded.addAll(world.sent);
                world.sent.clear();
                world.pass(random.nextInt(50));
                recorded.addAll(world.sent);
            }
            world.sent.clear();
            var source =
                    random.nextInt(8) == 0 ? Address.ipv4(random.nextInt()) : world.here.address;

            world.there.engine.received(source, message(recorded, random));

            assertThat(world.sent).hasSizeLessThanOrEqualTo(2);
            if (recorded.size() > 500) {
                recorded.subList(0, 250).clear();
            }
        }
        callers.forEach(party -> party.connection().close());
        ear.requests.forEach(party -> party.connection().close());
        ear.servers.forEach(SidrServer::close);
        world.pass(2_000_000); // half an hour, although peers request days
        assertThat(world.here.engine.size()).isZero();
        assertThat(world.there.engine.size()).isZero();
    }

    /** Random actions of programs. */
    private static void act(
            World world, World.Ear ear, List<World.Party> callers, Random random, int queuePair) {
        ear.room = 64;
        callers.add(world.here.connect(world.there, queuePair, ""));
        world.deliver();
        for (var party : ear.requests) {
            switch (random.nextInt(5)) {
                case 0, 1 -> party.reply(random.nextInt(1 << 24), "");
                case 2 -> party.connection().disconnect();
                case 3 -> party.connection().close();
                default -> {}
            }
        }
        ear.servers.forEach(server -> server.accept(1, 2, World.bytes("")));
        world.deliver();
        callers.forEach(party -> party.connection().confirm());
        if (callers.size() > 20) {
            callers.removeFirst().connection().close();
        }
        while (ear.requests.size() > 200) {
            ear.requests.removeFirst().connection().close();
        }
        while (ear.servers.size() > 200) {
            ear.servers.removeFirst().close();
        }
    }

    /** Returns a message that was sent, possibly damaged, or a random message. */
    private static MemorySegment message(List<World.Sent> recorded, Random random) {
        var bytes = new byte[Message.BYTES];
        if (recorded.isEmpty() || random.nextInt(4) == 0) {
            random.nextBytes(bytes);
            var datagram = MemorySegment.ofArray(bytes);
            datagram.set(
                    ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.BIG_ENDIAN),
                    0,
                    Message.KIND);
            bytes[Message.ATTRIBUTE_OFFSET] = 0;
            bytes[Message.ATTRIBUTE_OFFSET + 1] = (byte) (0x10 + random.nextInt(10));
            return datagram;
        }
        var copy =
                MemorySegment.ofArray(bytes)
                        .copyFrom(recorded.get(random.nextInt(recorded.size())).datagram());
        for (var damage = random.nextInt(4); damage > 0; damage--) {
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt();
        }
        return copy;
    }
}
