package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.soft.roce.connection.SimulatedNetwork.Listener;
import org.jrdma.soft.roce.engine.RoceGid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests SIDR exchanges, which resolve the queue pair of a datagram service. */
class SidrTest implements SidrClient.Receiver {

    /** The time after which a SIDR server forgets a request that it has answered. */
    private static final long EXPIRY_MILLIS = 20_000;

    private final SimulatedNetwork network = new SimulatedNetwork();
    private final Listener listener = network.there.listen(4);
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
        return network.here.manager.resolve(
                network.there.address,
                SimulatedNetwork.SERVICE,
                0xffff,
                new PrivateDataHeader(4711, network.here.address, network.there.address)
                        .followedBy(SimulatedNetwork.bytes("where?")),
                this);
    }

    @AfterEach
    void shouldHaveNoExchangesLeft() {
        network.lose(_ -> false);
        listener.servers.forEach(SidrServer::close);
        network.advance(EXPIRY_MILLIS);
        assertThat(network.here.manager.size()).isZero();
        assertThat(network.there.manager.size()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"none", "SIDR_REQ", "SIDR_REP"})
    void shouldAnswerDespiteALostMessage(String name) {
        network.lose(SimulatedNetwork.first(name));
        resolve();
        network.advance(2_000);
        listener.servers.getFirst().accept(34, 0x0123_4567, SimulatedNetwork.bytes("here"));
        network.advance(2_000);

        assertThat(replies).hasSize(1);
        var reply = replies.getFirst();
        assertThat(reply.status()).isEqualTo(SidrReply.VALID);
        assertThat(reply.queuePair()).isEqualTo(34);
        assertThat(reply.queueKey()).isEqualTo(0x0123_4567);
        assertThat(SimulatedNetwork.text(reply.privateData())).isEqualTo("here");
        assertThat(listener.servers).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"SIDR_REQ", "SIDR_REP"})
    void shouldIgnoreDuplicateMessages(String name) {
        network.duplicate(message -> message.name().equals(name));
        resolve();
        network.deliver();
        listener.servers.getFirst().accept(34, 1, SimulatedNetwork.bytes(""));
        network.deliver();

        assertThat(listener.servers).hasSize(1);
        assertThat(replies).hasSize(1);
    }

    /** A host can forge the address of the peer, but does not know the ID of the request. */
    @Test
    void shouldIgnoreAReplyWithAnotherIdOrFromAnotherAddress() {
        resolve();
        network.deliver();
        var id = ((SidrRequest) network.sent.getFirst().message()).requestId();

        network.here.manager.received(network.there.address, forged(id + 1));
        network.here.manager.received(RoceGid.ipv4(0x0a00_0003), forged(id));

        assertThat(replies).isEmpty();
        listener.servers.getFirst().accept(34, 1, SimulatedNetwork.bytes(""));
        network.deliver();
        assertThat(replies).extracting(SidrReply::queuePair).containsExactly(34);
    }

    private static MemorySegment forged(int id) {
        return new SidrReply(
                        1, id, SidrReply.VALID, 666, SimulatedNetwork.SERVICE, 1, Message.NO_DATA)
                .encode();
    }

    @Test
    void shouldReportARejection() {
        resolve();
        network.deliver();
        var server = listener.servers.getFirst();

        assertThat(server.reject(SimulatedNetwork.bytes("no"))).isTrue();
        assertThat(server.accept(34, 1, SimulatedNetwork.bytes(""))).isFalse();

        network.deliver();
        assertThat(replies).hasSize(1);
        assertThat(replies.getFirst().status()).isEqualTo(SidrReply.REJECTED);
        assertThat(SimulatedNetwork.text(replies.getFirst().privateData())).isEqualTo("no");
    }

    @Test
    void shouldReportAnUnknownService() {
        network.there.manager.stopListening(SimulatedNetwork.SERVICE);
        resolve();
        network.deliver();

        assertThat(replies.getFirst().status()).isEqualTo(SidrReply.UNSUPPORTED);
    }

    @Test
    void shouldGiveUpOnASilentPeer() {
        network.lose(_ -> true);
        resolve();
        network.advance(100_000);

        assertThat(unreachable).isEqualTo(1);
        assertThat(network.count("SIDR_REQ")).isEqualTo(16);
    }

    @Test
    void shouldReportNothingAfterClose() {
        var client = resolve();
        network.deliver();
        client.close();
        listener.servers.getFirst().accept(34, 1, SimulatedNetwork.bytes(""));
        network.deliver();

        assertThat(replies).isEmpty();
        assertThat(unreachable).isZero();
    }
}
