package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.jrdma.soft.roce.engine.RoceGid;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests malformed and unexpected messages from peers and from unrelated addresses. */
class HostileMessagesTest {

    private static final int MESSAGES = 40_000;

    /**
     * No message may cause an exception, more than one answer, or state that is never removed. All
     * messages have the same length.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldNeitherFailNorAmplifyNorKeepState(long seed) {
        var random = new Random(seed);
        var network = new SimulatedNetwork();
        var listener = network.there.listen(64);
        var callers = new ArrayList<SimulatedNetwork.Peer>();
        var recorded = new ArrayList<SimulatedNetwork.Sent>();
        for (var i = 0; i < MESSAGES; i++) {
            if (i % 50 == 0) {
                performRandomActions(network, listener, callers, random, i);
                recorded.addAll(network.sent);
                network.sent.clear();
                network.advance(random.nextInt(50));
                recorded.addAll(network.sent);
            }
            network.sent.clear();
            var source =
                    random.nextInt(8) == 0 ? RoceGid.ipv4(random.nextInt()) : network.here.address;

            network.there.manager.received(source, message(recorded, random));

            assertThat(network.sent).hasSizeLessThanOrEqualTo(1);
            if (recorded.size() > 500) {
                recorded.subList(0, 250).clear();
            }
        }
        callers.forEach(peer -> peer.connection().close());
        listener.requests.forEach(peer -> peer.connection().close());
        listener.servers.forEach(SidrServer::close);
        network.advance(2_000_000); // Half an hour, although the messages contain timeouts of days.
        assertThat(network.here.manager.size()).isZero();
        assertThat(network.there.manager.size()).isZero();
    }

    /** Performs random actions of the programs on both machines. */
    private static void performRandomActions(
            SimulatedNetwork network,
            SimulatedNetwork.Listener listener,
            List<SimulatedNetwork.Peer> callers,
            Random random,
            int queuePair) {
        listener.backlog = 64;
        callers.add(network.here.connect(network.there, queuePair, ""));
        network.deliver();
        for (var peer : listener.requests) {
            switch (random.nextInt(5)) {
                case 0, 1 -> peer.reply(random.nextInt(1 << 24), "");
                case 2 -> peer.connection().disconnect();
                case 3 -> peer.connection().close();
                default -> {}
            }
        }
        listener.servers.forEach(server -> server.accept(1, 2, SimulatedNetwork.bytes("")));
        network.deliver();
        callers.forEach(peer -> peer.connection().confirm());
        if (callers.size() > 20) {
            callers.removeFirst().connection().close();
        }
        while (listener.requests.size() > 200) {
            listener.requests.removeFirst().connection().close();
        }
        while (listener.servers.size() > 200) {
            listener.servers.removeFirst().close();
        }
    }

    /**
     * Returns a copy of a message that was sent, with up to three random bytes, or a message with
     * random content.
     */
    private static MemorySegment message(List<SimulatedNetwork.Sent> recorded, Random random) {
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
