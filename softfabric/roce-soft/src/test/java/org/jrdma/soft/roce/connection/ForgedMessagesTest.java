package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.jrdma.soft.roce.connection.SimulatedNetwork.Listener;
import org.jrdma.soft.roce.connection.SimulatedNetwork.Peer;
import org.jrdma.soft.roce.engine.RoceGid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests messages that an attacker sends with the address of the peer of an established connection.
 */
class ForgedMessagesTest {

    private static final int PEERS_QUEUE_PAIR = 17;
    private static final int OWN_QUEUE_PAIR = 34;
    private static final int UNKNOWN_ID = 0x1234_5678;

    private final SimulatedNetwork network = new SimulatedNetwork();
    private final Listener listener = network.there.listen(8);
    private final Peer caller = network.here.connect(network.there, PEERS_QUEUE_PAIR, "");
    private Peer called;

    @BeforeEach
    void establish() {
        network.deliver();
        called = listener.requests.getFirst();
        called.reply(OWN_QUEUE_PAIR, "");
        network.deliver();
        caller.connection().confirm();
        network.deliver();
        assertThat(called.eventNames()).containsExactly("Established");
    }

    private void receive(Message message) {
        network.there.manager.received(network.here.address, message.encode());
    }

    /** Returns a request of the peer with another ID. */
    private ConnectRequest request(int id, long adapter, int queuePair) {
        return ForgedRequestFactory.of(caller.connection().request(), id, adapter, queuePair);
    }

    private long adapter() {
        return caller.connection().request().adapter();
    }

    /**
     * The requests try all numbers that the queue pair of the peer may have. The request with the
     * correct number makes this side probe the remote queue pair, which answers.
     */
    @Test
    void shouldKeepALiveConnectionWhenRequestsNameItsQueuePair() {
        listener.backlog = 0;
        for (var number = 1; number <= 2_550; number++) {
            receive(request(number, adapter(), number));
        }
        network.advance(60_000);

        assertThat(called.eventNames()).containsExactly("Established");
        assertThat(network.there.probes).isEqualTo(1);
        assertThat(network.count("DREQ")).isZero();
        assertThat(called.connection().disconnect()).isTrue();
    }

    @Test
    void shouldSendFewProbesForManyRequests() {
        network.there.remoteQueuePairsExist = false;
        network.lose(message -> message.from().equals(network.here.address));

        for (var id = 1; id <= 1_000; id++) {
            receive(request(id, adapter(), PEERS_QUEUE_PAIR));
        }
        network.advance(80_000);

        assertThat(network.there.probes).isEqualTo(6);
        assertThat(called.eventNames())
                .containsExactly("Established", "Disconnected", "TimeWaitExited");
    }

    @Test
    void shouldNotProbeForARequestOfAnotherAdapter() {
        receive(request(1, adapter() + 1, PEERS_QUEUE_PAIR));

        network.advance(10_000);

        assertThat(network.there.probes).isZero();
        assertThat(called.eventNames()).containsExactly("Established");
        assertThat(listener.requests).hasSize(2);
    }

    @ParameterizedTest
    @MethodSource("messages")
    void shouldIgnoreAMessageWithoutTheIdsOfTheConnection(Forgery forgery) {
        var asked = called.connection();

        receive(forgery.message().of(asked.remoteId(), asked.localId));
        network.advance(120_000);

        assertThat(called.eventNames()).containsExactly("Established");
        assertThat(caller.eventNames()).containsExactly("Replied");
    }

    /** A message with an error in its fields. */
    record Forgery(String name, Template message) {

        interface Template {
            Message of(int senderId, int receiverId);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Forgery> messages() {
        var data = Message.NO_DATA;
        return Stream.of(
                new Forgery(
                        "DREQ with another remote ID",
                        (local, remote) ->
                                new DisconnectRequest(1, local, UNKNOWN_ID, OWN_QUEUE_PAIR)),
                new Forgery(
                        "DREQ with another local ID",
                        (local, remote) ->
                                new DisconnectRequest(1, UNKNOWN_ID, remote, OWN_QUEUE_PAIR)),
                new Forgery(
                        "DREQ with another queue pair",
                        (local, remote) ->
                                new DisconnectRequest(1, local, remote, OWN_QUEUE_PAIR + 1)),
                new Forgery(
                        "DREP that was not requested",
                        (local, remote) -> new DisconnectReply(1, local, remote)),
                new Forgery(
                        "REJ of the request",
                        (local, remote) ->
                                new Rejection(1, 0, remote, AnsweredKind.REQUEST, 28, data)),
                new Forgery(
                        "REJ without a local ID",
                        (local, remote) ->
                                new Rejection(1, 0, remote, AnsweredKind.OTHER, 28, data)),
                new Forgery(
                        "REJ with another local ID",
                        (local, remote) ->
                                new Rejection(1, UNKNOWN_ID, remote, AnsweredKind.OTHER, 28, data)),
                new Forgery(
                        "REJ because of a timeout",
                        (local, remote) ->
                                new Rejection(
                                        1,
                                        local,
                                        0,
                                        AnsweredKind.REQUEST,
                                        RejectionReason.TIMEOUT,
                                        1,
                                        data)),
                new Forgery(
                        "RTU that was received before",
                        (local, remote) -> new ReadyToUse(1, local, remote)),
                new Forgery(
                        "MRA",
                        (local, remote) ->
                                new ReceiptAcknowledgement(
                                        1, local, remote, AnsweredKind.OTHER, 31)));
    }

    @Test
    void shouldNotEstablishAConnectionByARtuWithoutItsIds() {
        var asking = network.here.connect(network.there, 18, "");
        network.deliver();
        var asked = listener.requests.get(1);
        asked.reply(35, "");
        network.deliver();
        var local = asked.connection().remoteId();
        var remote = asked.connection().localId;

        receive(new ReadyToUse(1, UNKNOWN_ID, remote));
        receive(new ReadyToUse(1, local, UNKNOWN_ID));
        assertThat(asked.events).isEmpty();
        receive(new ReadyToUse(1, local, remote));

        assertThat(asked.eventNames()).containsExactly("Established");
        assertThat(asking.eventNames()).containsExactly("Replied");
    }

    @Test
    void shouldNotTakeTheQueuePairOfAReplyWithoutTheIdOfTheRequest() {
        network.lose(_ -> true);
        var calling = network.there.connect(network.here, OWN_QUEUE_PAIR + 1, "");

        receive(reply(UNKNOWN_ID));
        assertThat(calling.events).isEmpty();
        receive(reply(calling.connection().localId));

        assertThat(calling.eventNames()).containsExactly("Replied");
    }

    private ConnectReply reply(int requestId) {
        var offer = caller.connection().request().offer();
        return new ConnectReply(
                1, 99, requestId, adapter(), offer.of(99), false, 0, 15, Message.NO_DATA);
    }

    /** A timeout rejection refers to the connection by the ID and the adapter of the peer. */
    @Test
    void shouldIgnoreATimeoutRejectionOfAnotherAdapter() {
        network.lose(_ -> true);
        var asking = network.here.connect(network.there, 18, "");
        receive(asking.connection().request());
        var asked = listener.requests.get(1);
        var id = asking.connection().localId;

        receive(timeout(id, adapter() + 1));
        assertThat(asked.events).isEmpty();
        receive(timeout(id, adapter()));

        assertThat(asked.eventNames()).containsExactly("Rejected");
    }

    private static Rejection timeout(int id, long adapter) {
        return new Rejection(
                1, id, 0, AnsweredKind.REQUEST, RejectionReason.TIMEOUT, adapter, Message.NO_DATA);
    }

    /** A forged MRA must not suspend the repetition of a request or reply. */
    @Test
    void shouldNotWaitLongerBecauseOfAnMraForAnotherMessage() {
        network.lose(_ -> true);
        var calling = network.there.connect(network.here, OWN_QUEUE_PAIR + 1, "");

        receive(
                new ReceiptAcknowledgement(
                        1, 0, calling.connection().localId, AnsweredKind.OTHER, 24));
        receive(
                new ReceiptAcknowledgement(
                        1, UNKNOWN_ID, calling.connection().localId, AnsweredKind.REPLY, 24));
        network.advance(1_000);

        assertThat(network.count("REQ")).isGreaterThan(2);
    }

    /**
     * The peer chooses the timeouts and repetitions in its request, and may be absent. The limits
     * of the amplification are documented in docs/use/security.md.
     */
    @Test
    void shouldGiveUpOnAnAbsentPeerAfterEightRepliesInEightSeconds() {
        network.lose(_ -> true);
        var absent = RoceGid.ipv4(0x0a00_0003);
        var genuine = caller.connection().request();
        var path = genuine.path();
        network.there.manager.received(
                absent,
                new ConnectRequest(
                                1,
                                UNKNOWN_ID,
                                genuine.serviceId(),
                                5,
                                genuine.offer(),
                                genuine.transport(),
                                7,
                                genuine.partitionKey(),
                                31,
                                31,
                                15,
                                new RequestedPath(
                                        absent, network.there.address, path.mtu(), 0, 0, 64, 0, 31),
                                new PrivateDataHeader(1, absent, network.there.address)
                                        .followedBy(Message.NO_DATA))
                        .encode());
        var asked = listener.requests.get(1);
        network.sent.clear();
        asked.reply(35, "");

        network.advance(8_000);

        assertThat(asked.eventNames()).containsExactly("Unreachable");
        assertThat(network.sent).hasSize(8);
        assertThat(List.copyOf(network.sent)).allMatch(sent -> sent.name().equals("REP"));
    }
}
