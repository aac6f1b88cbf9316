package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.soft.roce.connection.World.Listener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests SIDR exchanges, which resolve the queue pair of a datagram service. */
class SidrTest implements SidrClient.Receiver {

    /**
     * The number of milliseconds after which a SIDR server forgets a request that it has answered.
     */
    private static final long A_WHILE = 20_000;

    private final World world = new World();
    private final Listener listener = world.there.listen(4);
    private final List<SidrReply> replies = new ArrayList<>();
    private int unreachable;

    @Override
    public void answered(SidrReply reply) {
        replies.add(reply);
    }

    @Override
    public void unreachable() {
        unreachable++;
    }

    private SidrClient resolve() {
        return world.here.manager.resolve(
                world.there.address,
                World.SERVICE,
                0xffff,
                new PrivateDataHeader(4711, world.here.address, world.there.address)
                        .followedBy(World.bytes("where?")),
                this);
    }

    @AfterEach
    void shouldHaveNoExchangesLeft() {
        world.lose(_ -> false);
        listener.servers.forEach(SidrServer::close);
        world.advance(A_WHILE);
        assertThat(world.here.manager.size()).isZero();
        assertThat(world.there.manager.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "SIDR_REQ", "SIDR_REP"})
    void shouldAnswerDespiteALostMessage(String name) {
        world.lose(World.first(name));
        resolve();
        world.advance(2_000);
        listener.servers.getFirst().accept(34, 0x0123_4567, World.bytes("here"));
        world.advance(2_000);

        assertThat(replies).hasSize(1);
        var reply = replies.getFirst();
        assertThat(reply.status()).isEqualTo(SidrReply.VALID);
        assertThat(reply.queuePair()).isEqualTo(34);
        assertThat(reply.queueKey()).isEqualTo(0x0123_4567);
        assertThat(World.text(reply.privateData())).isEqualTo("here");
        assertThat(listener.servers).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SIDR_REQ", "SIDR_REP"})
    void shouldIgnoreDuplicateMessages(String name) {
        world.duplicate(message -> message.name().equals(name));
        resolve();
        world.deliver();
        listener.servers.getFirst().accept(34, 1, World.bytes(""));
        world.deliver();

        assertThat(listener.servers).hasSize(1);
        assertThat(replies).hasSize(1);
    }

    @Test
    void shouldReportARejection() {
        resolve();
        world.deliver();
        var server = listener.servers.getFirst();

        assertThat(server.reject(World.bytes("no"))).isTrue();
        assertThat(server.accept(34, 1, World.bytes(""))).isFalse();

        world.deliver();
        assertThat(replies).hasSize(1);
        assertThat(replies.getFirst().status()).isEqualTo(SidrReply.REJECTED);
        assertThat(World.text(replies.getFirst().privateData())).isEqualTo("no");
    }

    @Test
    void shouldReportAnUnknownService() {
        world.there.manager.stopListening(World.SERVICE);
        resolve();
        world.deliver();

        assertThat(replies.getFirst().status()).isEqualTo(SidrReply.UNSUPPORTED);
    }

    @Test
    void shouldGiveUpOnASilentPeer() {
        world.lose(_ -> true);
        resolve();
        world.advance(100_000);

        assertThat(unreachable).isEqualTo(1);
        assertThat(world.count("SIDR_REQ")).isEqualTo(16);
    }

    @Test
    void shouldReportNothingAfterClose() {
        var client = resolve();
        world.deliver();
        client.close();
        listener.servers.getFirst().accept(34, 1, World.bytes(""));
        world.deliver();

        assertThat(replies).isEmpty();
        assertThat(unreachable).isZero();
    }
}
