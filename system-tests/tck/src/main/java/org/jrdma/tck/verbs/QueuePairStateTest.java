package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.model.QueuePairState.ERROR;
import static org.jrdma.verbs.model.QueuePairState.INIT;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_RECEIVE;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_SEND;
import static org.jrdma.verbs.model.QueuePairState.RESET;
import static org.jrdma.verbs.model.QueuePairState.SEND_QUEUE_DRAINED;

import java.time.Duration;
import java.util.ArrayList;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.StaticRate;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests the state machine of a queue pair: single transitions, rejected transitions, and {@code
 * connect}, which makes all transitions in one call.
 */
class QueuePairStateTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private Pair pair;
    private PolledQueuePair queuePair;
    private PolledQueuePair peer;

    @BeforeEach
    void open() throws VerbsException {
        pair = Pair.unconnected();
        queuePair = pair.left().queuePair();
        peer = pair.right().queuePair();
    }

    @AfterEach
    void close() {
        pair.close();
    }

    @Test
    void shouldPassThroughTheStatesAndReturnToInit() throws VerbsException {
        Fabric.underTest().needs(Feature.CONNECTING_BY_MODIFY);
        assertState(RESET);
        queuePair.modify(toInit());
        assertState(INIT);
        queuePair.modify(QueuePairChange.ofAttributes().access(Access.REMOTE_READ));
        assertState(INIT);
        queuePair.modify(toReadyToReceive());
        assertState(READY_TO_RECEIVE);
        queuePair.modify(toReadyToSend());
        assertState(READY_TO_SEND);
        queuePair.modify(
                QueuePairChange.ofAttributes().receiverNotReadyTimer(Duration.ofNanos(10_240_000)));
        assertThat(queuePair.query().receiverNotReadyTimer())
                .isEqualTo(Duration.ofNanos(10_240_000));
        queuePair.modify(QueuePairChange.to(ERROR));
        assertState(ERROR);
        queuePair.modify(QueuePairChange.to(RESET));
        assertState(RESET);
        queuePair.modify(toInit());
        assertState(INIT);
    }

    @Test
    void shouldDrainTheSendQueueAndContinue() throws Exception {
        connect();

        queuePair.modify(QueuePairChange.to(SEND_QUEUE_DRAINED).drainNotification(true));
        assertThat(queuePair.state()).isEqualTo(SEND_QUEUE_DRAINED);
        var event = pair.device().nextEvent(LONG);
        assertThat(event.type()).isEqualTo(AsyncEventType.SEND_QUEUE_DRAINED);
        assertThat(event.subject()).containsSame(queuePair);
        queuePair.modify(QueuePairChange.to(READY_TO_SEND));
        assertState(READY_TO_SEND);

        var left = pair.left();
        assertThat(
                        left.complete(
                                        queuePair.prepareWrite(
                                                left.region().slice(0, 8),
                                                pair.right().region().remote()))
                                .isSuccess())
                .isTrue();
    }

    @Test
    void shouldNameTheMissingAttributesOfATransition() throws VerbsException {
        assertRefused(
                QueuePairChange.to(INIT).port(1),
                "RESET",
                "INIT",
                "lacks",
                "PARTITION_KEY_INDEX",
                "ACCESS");
        assertState(RESET);
        queuePair.modify(toInit());
        assertRefused(
                QueuePairChange.to(READY_TO_RECEIVE).pathMtu(Mtu.BYTES_1024).destinationNumber(1),
                "INIT",
                "READY_TO_RECEIVE",
                "lacks",
                "ADDRESS",
                "RECEIVE_SEQUENCE",
                "MAX_DESTINATION_READS",
                "RECEIVER_NOT_READY_TIMER");
        assertState(INIT);
    }

    @Test
    void shouldNameTheAttributesThatATransitionDoesNotAllow() throws VerbsException {
        assertRefused(toInit().retries(3), "RESET", "INIT", "must not change", "RETRIES");
        assertRefused(
                QueuePairChange.to(INIT)
                        .port(1)
                        .partitionKeyIndex(0)
                        .acknowledgeTimeout(Duration.ofMillis(1)),
                "lacks [ACCESS]",
                "must not change [TIMEOUT]");
        assertState(RESET);
        queuePair.modify(toInit());
        assertRefused(
                QueuePairChange.to(ERROR).port(1), "ERROR", "does not allow attributes", "PORT");
        assertState(INIT);
    }

    @ParameterizedTest
    @EnumSource(
            value = QueuePairState.class,
            mode = EnumSource.Mode.EXCLUDE,
            names = {"RESET", "INIT"})
    void shouldRefuseToSkipSteps(QueuePairState next) throws VerbsException {
        assertRefused(
                QueuePairChange.to(next),
                "RESET",
                next.name(),
                "is not a valid queue pair transition",
                "INIT");
        assertState(RESET);
    }

    @Test
    void shouldStayInItsStateWhenTheDeviceRejectsATransition() throws VerbsException {
        var absent = pair.device().attributes().ports() + 1;

        assertRefused(
                QueuePairChange.to(INIT).partitionKeyIndex(0).port(absent).access(),
                "ibv_modify_qp",
                "RESET",
                "INIT",
                "PORT=" + absent,
                "EINVAL");

        var reportsReset = Fabric.underTest().profile().has(Feature.REPORTING_RESET);
        assertThat(queuePair.state()).isEqualTo(reportsReset ? RESET : INIT);
    }

    @Test
    void shouldConnectToAnEndpointThatWasParsedFromText() throws VerbsException {
        Fabric.underTest().needs(Feature.CONNECTING_BY_MODIFY);
        var endpoint = Endpoint.parse(peer.endpoint().toString());

        queuePair.connect(endpoint);

        var attributes = queuePair.query();
        assertThat(attributes.state()).isEqualTo(READY_TO_SEND);
        assertThat(attributes.destinationNumber()).isEqualTo(peer.number());
        assertThat(attributes.receiveSequence()).isEqualTo(peer.endpoint().packetSequence());
        assertThat(attributes.sendSequence()).isEqualTo(queuePair.endpoint().packetSequence());
        assertThat(attributes.acknowledgeTimeout()).isEqualTo(Duration.ofNanos(67_108_864));
        assertThat(attributes.retries()).isEqualTo(7);
        assertThat(attributes.receiverNotReadyRetries()).isEqualTo(7);
        assertThat(attributes.receiverNotReadyTimer()).isEqualTo(Duration.ofNanos(640_000));
        assertThat(attributes.pathMtu()).contains(pair.device().port(1).activeMtu());
        assertThat(attributes.port()).isEqualTo(1);
    }

    @Test
    void shouldConnectWithEveryAttributeAdjusted() throws VerbsException {
        Fabric.underTest().needs(Feature.CONNECTING_BY_MODIFY);

        queuePair.connect(
                peer.endpoint(),
                DirectConnectOptions.DEFAULT
                        .pathMtu(Mtu.BYTES_512)
                        .acknowledgeTimeout(Duration.ofMillis(4))
                        .retries(3)
                        .receiverNotReadyRetries(2)
                        .receiverNotReadyTimer(Duration.ofNanos(240_000))
                        .maxReads(2)
                        .maxDestinationReads(4)
                        .hopLimit(7)
                        .trafficClass(32)
                        .access(Access.LOCAL_WRITE, Access.REMOTE_READ));

        var attributes = queuePair.query();
        assertThat(attributes.pathMtu()).contains(Mtu.BYTES_512);
        assertThat(attributes.acknowledgeTimeout()).isEqualTo(Duration.ofNanos(4_194_304));
        assertThat(attributes.retries()).isEqualTo(3);
        assertThat(attributes.receiverNotReadyRetries()).isEqualTo(2);
        assertThat(attributes.receiverNotReadyTimer()).isEqualTo(Duration.ofNanos(240_000));
        assertThat(attributes.maxReads()).isEqualTo(2);
        assertThat(attributes.maxDestinationReads()).isEqualTo(4);
        assertThat(attributes.access())
                .contains(Access.REMOTE_READ)
                .doesNotContain(Access.REMOTE_WRITE);
        var route = attributes.address().route().orElseThrow();
        // The hop limit is not compared, because for RoCE v2 the kernel uses that of the IP route.
        assertThat(route.trafficClass()).isEqualTo(32);
        assertThat(route.destination()).isEqualTo(peer.localGid().orElseThrow().gid());
    }

    @Test
    void shouldAllowAsManyPendingReadsAsTheDeviceSupportsAndNoMore() throws VerbsException {
        Fabric.underTest().needs(Feature.CONNECTING_BY_MODIFY);
        var limits = pair.device().attributes();
        queuePair.modify(toInit());

        queuePair.modify(toReadyToReceive().maxDestinationReads(limits.maxReadsAsDestination()));
        assertThatThrownBy(() ->
                        queuePair.modify(
                                toReadyToSend().maxReads(limits.maxReadsAsInitiator() + 1)))
                .isInstanceOf(VerbsException.class);
        queuePair.modify(toReadyToSend().maxReads(limits.maxReadsAsInitiator()));

        assertThat(queuePair.query().maxDestinationReads())
                .isEqualTo(limits.maxReadsAsDestination());
        assertThat(queuePair.query().maxReads()).isEqualTo(limits.maxReadsAsInitiator());
    }

    @Test
    void shouldRefuseToConnectTwice() throws VerbsException {
        connect();

        assertThatThrownBy(() -> queuePair.connect(peer.endpoint()))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("READY_TO_SEND")
                .hasMessageContaining("INIT");
        assertState(READY_TO_SEND);
    }

    @Test
    void shouldReportThatRoceNeedsThePeersGid() throws VerbsException {
        Fabric.underTest().needs(Feature.CONNECTING_BY_MODIFY);
        if (pair.device().port(1).linkLayer() != LinkLayer.ETHERNET) {
            throw new Fabric.Listed("the port is not an Ethernet port");
        }
        var withoutGid = new Endpoint(0, peer.number(), peer.endpoint().packetSequence(), Gid.NONE);

        assertThatThrownBy(() -> queuePair.connect(withoutGid))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("GID");
        assertState(RESET);
    }

    @Test
    void shouldRejectAMissingGidIndexAndListTheTable() throws VerbsException {
        var left = pair.left();
        var last = pair.device().port(1).gidTableLength() + 10;

        assertThatThrownBy(() ->
                        left.domain()
                                .newQueuePair(
                                        QueuePairOptions.reliable(left.completions())
                                                .sends(1)
                                                .receives(1)
                                                .gidIndex(last)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("no GID with index " + last)
                .hasMessageContaining(pair.device().gids(1).getFirst().gid().toString());
    }

    @Test
    void shouldUseTheConfiguredGid() throws VerbsException {
        var left = pair.left();
        for (var row : pair.device().gids(1)) {
            try (var withGid =
                    left.domain()
                            .newQueuePair(
                                    QueuePairOptions.reliable(left.completions())
                                            .sends(1)
                                            .receives(1)
                                            .gidIndex(row.index()))) {
                assertThat(withGid.localGid()).contains(row);
                assertThat(withGid.endpoint().gid()).isEqualTo(row.gid());
            }
        }
    }

    @Test
    void shouldDrainEverythingThatWasPosted() throws Exception {
        connect();
        var left = pair.left();
        for (var count = 0; count < 5; count++) {
            left.post(queuePair.prepareReceive(left.region().slice(0, 8)).id(100));
        }
        var write =
                queuePair
                        .prepareWrite(left.region().slice(), pair.right().region().remote())
                        .signaled(false);
        for (var count = 0; count < 5; count++) {
            left.post(write);
        }
        var flushed = new ArrayList<Long>();

        queuePair.drain(
                left.cursor(),
                LONG,
                cursor -> {
                    if (cursor.status() == CompletionStatus.FLUSHED && cursor.id() == 100) {
                        flushed.add(cursor.id());
                    }
                });

        assertThat(flushed).hasSize(5);
        assertThat(queuePair.state()).isEqualTo(ERROR);
        assertThat(queuePair.freeSends()).isEqualTo(Pair.REQUESTS);
        assertThat(queuePair.freeReceives()).isEqualTo(Pair.REQUESTS);
    }

    @Test
    void shouldDrainAFullQueue() throws Exception {
        connect();
        var left = pair.left();
        var write =
                queuePair
                        .prepareWrite(left.region().slice(0, 8), pair.right().region().remote())
                        .signaled(false);
        while (write.tryPost()) {
            // The loop fills the send queue.
        }

        queuePair.drain(left.cursor(), LONG, cursor -> {});

        assertThat(queuePair.freeSends()).isEqualTo(Pair.REQUESTS);
    }

    @Test
    void shouldRejectADrainWithACursorOfAnotherQueue() throws VerbsException {
        assertThatThrownBy(() -> queuePair.drain(pair.right().cursor(), LONG, cursor -> {}))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("cursor");
        assertState(RESET);
    }

    @Test
    void shouldTimeOutWhileDrainingAndFinishLater() throws Exception {
        connect();
        var left = pair.left();
        var right = pair.right();
        left.post(queuePair.prepareReceive(left.region().slice(0, 8)));
        right.complete(peer.prepareSend(right.region().slice(0, 8)));
        try (var slow = left.completions().newCursor(1)) {
            while (slow.poll() == 0) {
                // The loop ends when the cursor has polled the receive, which it keeps.
                Thread.onSpinWait();
            }

            assertThatThrownBy(() ->
                            queuePair.drain(left.cursor(), Duration.ofMillis(50), cursor -> {}))
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("did not drain")
                    .hasMessageContaining("1 requests");

            assertThat(slow.next()).isTrue();
            queuePair.drain(left.cursor(), LONG, cursor -> {});
        }
    }

    @Test
    void shouldRefuseToOverrunItsCompletionQueue() throws VerbsException {
        try (var small = pair.device().newCompletionQueue(10);
                var domain = pair.device().newProtectionDomain()) {
            assertThatThrownBy(() ->
                            domain.newQueuePair(
                                    QueuePairOptions.reliable(small).sends(8).receives(8)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("overrun")
                    .hasMessageContaining("a remaining capacity of 2");
            assertThat(small.remainingCapacity()).isEqualTo(10);
            try (var allowed =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(small)
                                    .sends(8)
                                    .receives(8)
                                    .completionQueueMayOverrun())) {
                assertThat(allowed.isOpen()).isTrue();
            }
        }
    }

    @Test
    void shouldRejectSizesAboveTheLimitsOfTheDevice() throws VerbsException {
        var attributes = pair.device().attributes();
        try (var completions = pair.device().newCompletionQueue(64);
                var domain = pair.device().newProtectionDomain()) {
            var tooMany = attributes.maxElements() + 1;
            assertThatThrownBy(() ->
                            domain.newQueuePair(
                                    QueuePairOptions.reliable(completions).sendElements(tooMany)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_qp")
                    .hasMessageContaining("" + tooMany);
            assertThatThrownBy(() ->
                            domain.newQueuePair(
                                    QueuePairOptions.reliable(completions).inlineBytes(1 << 20)))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_qp");
            assertThatThrownBy(() -> QueuePairOptions.reliable(completions).sends(0))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThat(completions.remainingCapacity()).isEqualTo(64);
        }
    }

    @Test
    void shouldGrantAtLeastTheRequestedSizes() throws VerbsException {
        try (var completions = pair.device().newCompletionQueue(64);
                var domain = pair.device().newProtectionDomain();
                var created =
                        domain.newQueuePair(
                                QueuePairOptions.reliable(completions)
                                        .sends(10)
                                        .receives(12)
                                        .sendElements(3)
                                        .receiveElements(2)
                                        .inlineBytes(40))) {
            var attributes = created.query();
            assertThat(created.inlineBytes()).isGreaterThanOrEqualTo(40);
            assertThat(attributes.sends()).isGreaterThanOrEqualTo(10);
            assertThat(attributes.receives()).isGreaterThanOrEqualTo(12);
            assertThat(attributes.sendElements()).isGreaterThanOrEqualTo(3);
            assertThat(attributes.receiveElements()).isGreaterThanOrEqualTo(2);
            assertThat(created.freeSends()).isEqualTo(10);
            assertThat(created.freeReceives()).isEqualTo(12);
            assertThat(created.number()).isPositive().isNotEqualTo(queuePair.number());
        }
    }

    private void connect() throws VerbsException {
        Fabric.underTest().needs(Feature.CONNECTING_BY_MODIFY);
        Fabric.underTest().needs(Feature.MOVING_DATA);
        queuePair.connect(peer.endpoint());
        peer.connect(queuePair.endpoint());
    }

    private void assertState(QueuePairState expected) throws VerbsException {
        assertThat(queuePair.state()).isEqualTo(expected);
        if (expected != RESET || Fabric.underTest().profile().has(Feature.REPORTING_RESET)) {
            assertThat(queuePair.query().state()).isEqualTo(expected);
        }
    }

    private void assertRefused(QueuePairChange change, String... words) {
        assertThatThrownBy(() -> queuePair.modify(change))
                .isInstanceOf(VerbsException.class)
                .hasMessageContainingAll(words);
    }

    private static QueuePairChange toInit() {
        return QueuePairChange.to(INIT)
                .partitionKeyIndex(0)
                .port(1)
                .access(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
    }

    private QueuePairChange toReadyToReceive() {
        var endpoint = peer.endpoint();
        var route =
                queuePair
                        .localGid()
                        .map(row ->
                                new AddressVector.GlobalRoute(
                                        endpoint.gid(), row.index(), 0, 64, 0));
        return QueuePairChange.to(READY_TO_RECEIVE)
                .address(new AddressVector(1, endpoint.lid(), 0, 0, StaticRate.UNLIMITED, route))
                .pathMtu(Mtu.BYTES_1024)
                .destinationNumber(endpoint.queuePairNumber())
                .receiveSequence(endpoint.packetSequence())
                .maxDestinationReads(1)
                .receiverNotReadyTimer(Duration.ofNanos(640_000));
    }

    private QueuePairChange toReadyToSend() {
        return QueuePairChange.to(READY_TO_SEND)
                .acknowledgeTimeout(Duration.ofMillis(67))
                .retries(7)
                .receiverNotReadyRetries(7)
                .sendSequence(queuePair.endpoint().packetSequence())
                .maxReads(1);
    }
}
