package org.jrdma.soft.roce.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.soft.roce.connection.SimulatedNetwork.Listener;
import org.jrdma.soft.roce.connection.SimulatedNetwork.Peer;
import org.jrdma.soft.roce.engine.RoceGid;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests how two connection managers establish and end connections, over a reliable and a lossy
 * network.
 */
class ConnectionTest {

    /** The time in which lost messages are repeated and the time-wait state ends. */
    private static final long RECOVERY_MILLIS = 20_000;

    /** The time after which a connection manager has given up repeating a message. */
    private static final long GIVE_UP_MILLIS = 300_000;

    private final SimulatedNetwork network = new SimulatedNetwork();
    private final Listener listener = network.there.listen(8);

    /** Closes all connections, and asserts that both connection managers have forgotten them. */
    @AfterEach
    void shouldHaveNoConnectionsLeft() {
        network.lose(_ -> false);
        listener.requests.forEach(peer -> peer.connection().close());
        callers.forEach(peer -> peer.connection().close());
        network.advance(GIVE_UP_MILLIS);
        assertThat(network.here.manager.size()).isZero();
        assertThat(network.there.manager.size()).isZero();
    }

    private final List<Peer> callers = new ArrayList<>();

    private Peer call(int queuePair, String data) {
        var caller = network.here.connect(network.there, queuePair, data);
        callers.add(caller);
        return caller;
    }

    /**
     * Establishes a connection between the queue pairs 17 and 34. Both programs answer without
     * delay.
     */
    private Peer connected() {
        var caller = call(17, "");
        network.advanceUntil(() -> !listener.requests.isEmpty());
        request().reply(34, "");
        network.advanceUntil(() -> !caller.events.isEmpty());
        caller.connection().confirm();
        network.advanceUntil(() -> !request().events.isEmpty());
        return caller;
    }

    @Test
    void shouldReportTheParametersOfEachSideToTheOther() {
        var caller = call(17, "who are you?");
        network.deliver();
        var called = request();
        assertThat(called.data).isEqualTo("who are you?");
        assertThat(called.header)
                .isEqualTo(
                        new PrivateDataHeader(4711, network.here.address, network.there.address));
        var asked = called.connection();
        assertThat(asked.negotiated().peers())
                .isEqualTo(
                        new EndpointParameters(
                                17, caller.connection().sequence(), 4, 3, true, false, 6));
        assertThat(asked.negotiated().responderResources()).isEqualTo(3);
        assertThat(asked.negotiated().initiatorDepth()).isEqualTo(4);

        assertThat(called.reply(34, "guess")).isTrue();
        network.deliver();

        assertThat(caller.events).hasSize(1);
        var reply = ((ConnectionEvent.Replied) caller.events.getFirst()).reply();
        assertThat(SimulatedNetwork.text(reply.privateData())).isEqualTo("guess");
        assertThat(caller.connection().negotiated().peers())
                .isEqualTo(new EndpointParameters(34, asked.sequence(), 2, 1, true, true, 7));
        assertThat(caller.connection().negotiated().responderResources()).isEqualTo(1);
        assertThat(caller.connection().negotiated().initiatorDepth()).isEqualTo(2);
        assertThat(asked.negotiated().responderResources()).isEqualTo(2);
        assertThat(caller.connection().confirm()).isTrue();
        network.deliver();
        assertThat(called.eventNames()).containsExactly("Established");
        assertThat(network.sent)
                .extracting(SimulatedNetwork.Sent::name)
                .containsExactly("REQ", "REP", "RTU");
    }

    /** Without the rejection, the requesting side would wait for all repetitions of the request. */
    @Test
    void shouldRejectAReplyWithoutAQueuePairOfTheRequestedTransport() {
        var caller = call(17, "");
        network.deliver();

        request().reply(0, "");
        network.deliver();

        assertThat(caller.events)
                .singleElement()
                .isInstanceOfSatisfying(
                        ConnectionEvent.Rejected.class,
                        rejected ->
                                assertThat(rejected.reason())
                                        .isEqualTo(RejectionReason.INVALID_TRANSPORT));
        assertThat(request().eventNames()).containsExactly("Rejected");
        assertThat(network.sent)
                .extracting(SimulatedNetwork.Sent::name)
                .containsExactly("REQ", "REP", "REJ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"REQ", "REP", "RTU", "DREQ", "DREP"})
    void shouldTolerateTheLossOfEachMessage(String name) {
        network.lose(SimulatedNetwork.first(name));

        var caller = connected();
        caller.connection().disconnect();
        network.advance(RECOVERY_MILLIS);
        request().connection().disconnect();
        network.advance(RECOVERY_MILLIS);

        assertThat(caller.eventNames())
                .containsExactly("Replied", "Disconnected", "TimeWaitExited");
        assertThat(request().eventNames())
                .containsExactly("Established", "Disconnected", "TimeWaitExited");
        assertThat(network.count(name)).isGreaterThan(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"REQ", "REP", "RTU", "DREQ", "DREP"})
    void shouldIgnoreDuplicateMessages(String name) {
        network.duplicate(message -> message.name().equals(name));

        var caller = connected();
        caller.connection().disconnect();
        network.advance(100);
        request().connection().disconnect();
        network.advance(RECOVERY_MILLIS);

        assertThat(caller.eventNames())
                .containsExactly("Replied", "Disconnected", "TimeWaitExited");
        assertThat(request().eventNames())
                .containsExactly("Established", "Disconnected", "TimeWaitExited");
    }

    @Test
    void shouldGiveUpOnASilentPeerAfterSixteenRequests() {
        network.lose(_ -> true);
        var caller = call(17, "");

        network.advance(GIVE_UP_MILLIS);

        assertThat(caller.eventNames()).containsExactly("Unreachable");
        assertThat(network.count("REQ")).isEqualTo(16);
        assertThat(network.here.manager.size()).isZero();
    }

    @Test
    void shouldGiveUpOnAPeerThatDoesNotConfirm() {
        var caller = call(17, "");
        network.deliver();
        network.lose(message -> message.from().equals(network.here.address));
        request().reply(34, "");

        network.advance(GIVE_UP_MILLIS);

        assertThat(request().eventNames()).containsExactly("Unreachable");
        assertThat(caller.eventNames()).containsExactly("Replied");
        assertThat(network.there.manager.size()).isZero();
    }

    @Test
    void shouldGiveUpOnAPeerThatDoesNotReplyToADisconnect() {
        var caller = connected();
        network.lose(message -> message.from().equals(network.there.address));
        caller.connection().disconnect();

        network.advance(GIVE_UP_MILLIS);

        assertThat(caller.eventNames())
                .containsExactly("Replied", "Disconnected", "TimeWaitExited");
        assertThat(network.count("DREQ")).isEqualTo(16);
    }

    /**
     * A receipt acknowledgement (MRA) prevents the peer from giving up while a program delays its
     * answer.
     */
    @Test
    void shouldWaitForASlowProgram() {
        var caller = call(17, "");
        network.advance(120_000);
        assertThat(caller.events).isEmpty();
        assertThat(network.count("MRA")).isPositive();
        assertThat(network.count("REQ")).isLessThan(10);
        request().reply(34, "");
        network.advance(120_000);
        assertThat(request().events).isEmpty();

        assertThat(caller.connection().confirm()).isTrue();

        network.deliver();
        assertThat(request().eventNames()).containsExactly("Established");
    }

    @Test
    void shouldEndIfBothSidesDisconnectAtTheSameTime() {
        var caller = connected();

        caller.connection().disconnect();
        request().connection().disconnect();
        network.advance(100);
        caller.connection().disconnect();
        request().connection().disconnect();
        network.advance(RECOVERY_MILLIS);

        assertThat(caller.eventNames())
                .containsExactly("Replied", "Disconnected", "TimeWaitExited");
        assertThat(request().eventNames())
                .containsExactly("Established", "Disconnected", "TimeWaitExited");
    }

    @Test
    void shouldTreatADisconnectRequestAsTheConfirmation() {
        network.lose(SimulatedNetwork.first("RTU"));
        var caller = call(17, "");
        network.deliver();
        request().reply(34, "");
        network.deliver();
        caller.connection().confirm();
        caller.connection().disconnect();

        network.deliver();

        assertThat(request().eventNames()).containsExactly("Established", "Disconnected");
    }

    @Test
    void shouldTreatAPacketAsTheConfirmation() {
        network.lose(message -> message.name().equals("RTU"));
        var caller = call(17, "");
        network.deliver();
        assertThat(request().connection().establish()).isFalse();
        request().reply(34, "");
        network.deliver();
        caller.connection().confirm();

        assertThat(request().connection().establish()).isTrue();
        assertThat(request().connection().establish()).isTrue();

        assertThat(request().eventNames()).containsExactly("Established");
    }

    @Test
    void shouldSendTheDataOfTheProgramInARejection() {
        var caller = call(17, "");
        network.deliver();

        assertThat(request().connection().reject(SimulatedNetwork.bytes("full"))).isTrue();

        network.deliver();
        var rejected = (ConnectionEvent.Rejected) caller.events.getFirst();
        assertThat(rejected.reason()).isEqualTo(RejectionReason.CONSUMER);
        assertThat(SimulatedNetwork.text(rejected.privateData())).isEqualTo("full");
        assertThat(caller.events).hasSize(1);
        assertThat(request().reply(34, "")).isFalse();
        assertThat(request().connection().reject(SimulatedNetwork.bytes(""))).isFalse();
    }

    @Test
    void shouldRejectAReplyInsteadOfConfirmingIt() {
        var caller = call(17, "");
        network.deliver();
        request().reply(34, "");
        network.deliver();

        caller.connection().reject(SimulatedNetwork.bytes("on second thoughts"));

        network.deliver();
        assertThat(request().eventNames()).containsExactly("Rejected");
    }

    @Test
    void shouldRejectARequestForAServiceWithoutListener() {
        network.there.manager.stopListening(SimulatedNetwork.SERVICE);
        var caller = call(17, "");

        network.deliver();

        assertThat(caller.events)
                .singleElement()
                .satisfies(event ->
                        assertThat(((ConnectionEvent.Rejected) event).reason())
                                .isEqualTo(RejectionReason.NO_LISTENER));
    }

    @Test
    void shouldRejectASecondListenerOfAService() {
        assertThatThrownBy(() -> network.there.listen(1)).isInstanceOf(IllegalStateException.class);
    }

    /**
     * A request that does not fit the backlog is dropped rather than rejected, because the program
     * may accept other requests before it is repeated. TCP behaves in the same way.
     */
    @Test
    void shouldDropARequestThatDoesNotFitTheBacklogUntilItIsRepeated() {
        listener.backlog = 0;
        var caller = call(17, "");
        network.advance(1_000);
        assertThat(caller.events).isEmpty();
        assertThat(network.there.manager.size()).isZero();

        listener.backlog = 1;
        network.advance(RECOVERY_MILLIS);

        assertThat(listener.requests).hasSize(1);
    }

    @Test
    void shouldNotifyThePeerWhenAConnectionIsClosedInAnyState() {
        var asking = call(1, "");
        network.deliver();
        asking.connection().close();
        assertThat(network.sent.getLast().message())
                .isInstanceOfSatisfying(
                        Rejection.class,
                        rejection -> {
                            assertThat(rejection.reason()).isEqualTo(RejectionReason.TIMEOUT);
                            assertThat(rejection.adapter())
                                    .isEqualTo(asking.connection().request().adapter());
                        });
        network.deliver();
        assertThat(listener.requests.get(0).eventNames()).containsExactly("Rejected");

        var refused = call(2, "");
        network.deliver();
        listener.requests.get(1).connection().close();
        network.deliver();
        assertThat(refused.eventNames()).containsExactly("Rejected");

        var replied = call(3, "");
        network.deliver();
        listener.requests.get(2).reply(34, "");
        network.deliver();
        replied.connection().close();
        network.deliver();
        assertThat(listener.requests.get(2).eventNames()).containsExactly("Rejected");

        var abandoned = call(4, "");
        network.deliver();
        listener.requests.get(3).reply(35, "");
        network.deliver();
        listener.requests.get(3).connection().close();
        network.deliver();
        assertThat(abandoned.eventNames()).containsExactly("Replied", "Rejected");

        var ended = call(5, "");
        network.deliver();
        listener.requests.get(4).reply(36, "");
        network.deliver();
        ended.connection().confirm();
        network.deliver();
        ended.connection().close();
        network.deliver();
        assertThat(listener.requests.get(4).eventNames())
                .containsExactly("Established", "Disconnected");
        listener.requests.get(4).connection().close();
        network.advance(RECOVERY_MILLIS);
        assertThat(ended.eventNames()).containsExactly("Replied");
    }

    /**
     * The confirmation (RTU) is lost. The peer then closes the connection, which it must reject
     * because it does not know that the connection is established. Like the kernel, this side
     * reports a rejection.
     */
    @Test
    void shouldReportTheRejectionOfAnEstablishedConnection() {
        var caller = call(17, "");
        network.deliver();
        request().reply(34, "");
        network.deliver();
        network.lose(message -> message.name().equals("RTU"));
        caller.connection().confirm();

        request().connection().close();
        network.advance(RECOVERY_MILLIS);

        assertThat(caller.eventNames()).containsExactly("Replied", "Rejected", "TimeWaitExited");
    }

    @Test
    void shouldNotifyThePeerOfTheCloseDespiteMessageLoss() {
        var caller = connected();
        network.lose(SimulatedNetwork.first("DREQ"));

        caller.connection().close();
        network.advance(RECOVERY_MILLIS);

        assertThat(request().eventNames()).containsExactly("Established", "Disconnected");
    }

    @Test
    void shouldEndAConnectionWhoseQueuePairThePeerReuses() {
        var former = connected();
        // The process is killed, so it does not disconnect.
        network.there.remoteQueuePairsExist = false;
        network.lose(message -> message.from().equals(network.here.address));
        former.connection().close();
        network.lose(message ->
                message.from().equals(network.here.address) && message.name().equals("DREQ"));

        var again = call(17, "");
        network.deliver();

        assertThat(((ConnectionEvent.Rejected) again.events.getFirst()).reason())
                .isEqualTo(RejectionReason.STALE_CONNECTION);
        network.advance(RECOVERY_MILLIS);
        assertThat(request().eventNames())
                .containsExactly("Established", "Disconnected", "TimeWaitExited");
        var third = call(17, "");
        network.deliver();
        assertThat(third.events).isEmpty();
        assertThat(listener.requests).hasSize(2);
    }

    /**
     * The peer replies with a queue pair that it has already used for another connection, as it may
     * after a restart.
     */
    @Test
    void shouldEndAConnectionWhoseQueuePairThePeerRepliesWith() {
        var former = connected();
        network.here.remoteQueuePairsExist = false;
        var again = call(18, "");
        network.deliver();
        listener.requests.get(1).reply(34, "");

        network.deliver();

        assertThat(((ConnectionEvent.Rejected) listener.requests.get(1).events.getFirst()).reason())
                .isEqualTo(RejectionReason.STALE_CONNECTION);
        assertThat(again.events).isEmpty();
        network.advanceUntil(() -> request().events.size() == 2);
        assertThat(request().eventNames()).containsExactly("Established", "Disconnected");
        request().connection().disconnect();
        network.advanceUntil(() -> listener.requests.size() == 3);
        listener.requests.get(2).reply(34, "");
        network.deliver();
        assertThat(again.eventNames()).containsExactly("Replied");
        assertThat(former.eventNames()).startsWith("Replied", "Disconnected");
    }

    private Peer request() {
        return listener.requests.getFirst();
    }

    @Test
    void shouldRejectAReplyForAnUnknownConnection() {
        var peer = network.here.address;
        network.there.manager.received(
                peer,
                new ConnectReply(
                                1,
                                2,
                                3,
                                4,
                                new EndpointParameters(5, 6, 1, 1, true, false, 7),
                                false,
                                0,
                                0,
                                SimulatedNetwork.bytes(""))
                        .encode());
        assertThat(network.sent.removeFirst().message())
                .isInstanceOfSatisfying(
                        Rejection.class,
                        rejection -> {
                            assertThat(rejection.reason())
                                    .isEqualTo(RejectionReason.INVALID_COMMUNICATION_ID);
                            assertThat(rejection.remoteId()).isEqualTo(2);
                            // The parameters are those of the reply.
                            assertThat(rejection.localId()).isEqualTo(3);
                        });
        network.there.manager.received(peer, new DisconnectRequest(1, 2, 3, 4).encode());
        assertThat(network.sent.removeFirst().message()).isEqualTo(new DisconnectReply(1, 3, 2));

        for (var message :
                List.of(
                        new ReadyToUse(1, 2, 3),
                        new DisconnectReply(1, 2, 3),
                        new ReceiptAcknowledgement(1, 2, 3, AnsweredKind.REPLY, 20),
                        new Rejection(
                                1, 2, 3, AnsweredKind.REQUEST, 28, SimulatedNetwork.bytes("")),
                        new Rejection(1, 2, 3, AnsweredKind.OTHER, 4, SimulatedNetwork.bytes("")),
                        new SidrReply(1, 2, 0, 3, 4, 5, SimulatedNetwork.bytes("")))) {
            network.there.manager.received(peer, message.encode());
        }
        assertThat(network.sent).isEmpty();
    }

    @Test
    void shouldIgnoreMessagesOfOtherPeers() {
        var caller = connected();
        var request = caller.connection().request();
        var there = request().connection();
        var unrelated = RoceGid.ipv4(0x0a00_0003);

        for (var message :
                List.of(
                        new DisconnectRequest(1, request.localId(), there.localId, 34),
                        new Rejection(
                                1,
                                request.localId(),
                                there.localId,
                                AnsweredKind.OTHER,
                                28,
                                SimulatedNetwork.bytes("")),
                        new DisconnectReply(1, request.localId(), there.localId))) {
            network.there.manager.received(unrelated, message.encode());
        }
        // The peer sends a disconnect request for another queue pair.
        network.there.manager.received(
                network.here.address,
                new DisconnectRequest(1, request.localId(), there.localId, 35).encode());

        assertThat(request().eventNames()).containsExactly("Established");
    }

    @Test
    void shouldRejectARequestFromAnAddressThatItDoesNotContain() {
        var request = call(17, "").connection().request();
        network.lose(_ -> true);
        var unrelated = RoceGid.ipv4(0x0a00_0003);

        network.there.manager.received(unrelated, request.encode());

        assertThat(((Rejection) network.sent.getLast().message()).reason())
                .isEqualTo(RejectionReason.INVALID_GID);
    }

    @Test
    void shouldRejectAnUnsupportedPathMtuOrTransport() {
        var request = call(17, "").connection().request();
        network.lose(_ -> true);
        var datagram = request.encode();

        datagram.set(ValueLayout.JAVA_BYTE, Message.HEADER_BYTES + 50, (byte) 0x50);
        network.there.manager.received(network.here.address, datagram);
        assertThat(((Rejection) network.sent.getLast().message()).reason())
                .isEqualTo(RejectionReason.INVALID_MTU);

        datagram = request.encode();
        datagram.set(
                ValueLayout.JAVA_BYTE, Message.HEADER_BYTES + 43, (byte) (20 << 3 | 1 << 1 | 1));
        network.there.manager.received(network.here.address, datagram);
        assertThat(((Rejection) network.sent.getLast().message()).reason())
                .isEqualTo(RejectionReason.INVALID_TRANSPORT);
        assertThat(listener.requests).isEmpty();
    }

    @Test
    void shouldRejectCallsInTheWrongState() {
        var caller = call(17, "");
        assertThat(caller.connection().confirm()).isFalse();
        assertThat(caller.connection().disconnect()).isFalse();
        assertThat(caller.reply(1, "")).isFalse();
        assertThat(caller.connection().reject(SimulatedNetwork.bytes(""))).isFalse();
        network.deliver();
        assertThat(request().connection().confirm()).isFalse();
        assertThat(request().connection().disconnect()).isFalse();
        assertThatThrownBy(() -> request().reply(34, "x".repeat(197)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("197")
                .hasMessageContaining("196");
        assertThat(request().reply(34, "x".repeat(196))).isTrue();
        assertThat(request().reply(34, "")).isFalse();
    }
}
