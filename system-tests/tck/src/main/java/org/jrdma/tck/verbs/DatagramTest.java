package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.jrdma.tck.verbs.DatagramSide.HEADER;
import static org.jrdma.tck.verbs.DatagramSide.QUEUE_KEY;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.AsyncDatagramQueuePair;
import org.jrdma.verbs.Destination;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.StaticRate;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests datagrams: address handles, the reported source, delivery and dropped messages. */
class DatagramTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private Device device;
    private DatagramSide left;
    private DatagramSide right;
    private Destination toRight;

    @BeforeEach
    void open() throws VerbsException {
        device = Fabric.underTest().open();
        left = DatagramSide.active(device);
        right = DatagramSide.active(device);
        toRight = left.to(right);
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldReportItsTypeStateAndMaximumMessageSize() throws VerbsException {
        var queuePair = left.queuePair();

        assertThat(queuePair.type()).isEqualTo(QueuePairType.UNRELIABLE_DATAGRAM);
        assertThat(queuePair.query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
        assertThat(queuePair.query().queueKey()).isEqualTo(QUEUE_KEY);
        assertThat(queuePair.query().port()).isEqualTo(1);
        assertThat(queuePair.query().sendSequence())
                .isEqualTo(queuePair.endpoint().packetSequence());
        assertThat(queuePair.maxMessageBytes()).isEqualTo(device.port(1).activeMtu().bytes());
    }

    @Test
    void shouldReceiveAMessageAfterItsHeaderAndReportItsSource() throws VerbsException {
        right.receive(0, 1000);
        right.place(0, 1000).segment().fill((byte) 0x5a);
        left.region().segment().setString(0, "Saluton, mondo");

        var sent = left.complete(left.queuePair().prepareSend(left.region().slice(0, 15), toRight));
        var received = right.next();

        assertThat(sent.isSuccess()).isTrue();
        assertThat(sent.kind()).isEqualTo(CompletionKind.SEND);
        assertThat(sent.source()).isEmpty();
        assertThat(received.status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(received.kind()).isEqualTo(CompletionKind.RECEIVE);
        assertThat(received.bytes()).isEqualTo(HEADER + 15);
        assertThat(received.immediate()).isEmpty();
        assertThat(right.message(0, 1000).getString(0)).isEqualTo("Saluton, mondo");
        assertThat(right.message(0, 1000).get(ValueLayout.JAVA_BYTE, 15)).isEqualTo((byte) 0x5a);
        var source = received.source().orElseThrow();
        assertThat(source.queuePairNumber()).isEqualTo(left.queuePair().number());
        assertThat(source.lid()).isEqualTo(left.queuePair().endpoint().lid());
        assertThat(source.hasGlobalRoute())
                .isEqualTo(device.port(1).linkLayer() == LinkLayer.ETHERNET);
    }

    @Test
    void shouldReportTheSenderWithoutAllocatingACompletion() throws VerbsException {
        right.receive(0, 100);
        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8), toRight));

        right.next(); // Moves the cursor to the completion.
        assertThat(right.cursor().sourceQueuePairNumber()).isEqualTo(left.queuePair().number());
        assertThat(right.cursor().hasGlobalRoute())
                .isEqualTo(right.cursor().completion().source().orElseThrow().hasGlobalRoute());
    }

    @Test
    void shouldReportTheSourceOfAMessageAfterItsReceiverIsClosed() throws VerbsException {
        right.receive(0, 100);
        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8), toRight));
        right.next();

        right.queuePair().close();

        assertThat(right.cursor().completion().source().orElseThrow().queuePairNumber())
                .isEqualTo(left.queuePair().number());
    }

    @Test
    void shouldReportTheMissingPartOfAnAddressOnRoce() throws VerbsException {
        assumeThat(device.port(1).linkLayer()).isEqualTo(LinkLayer.ETHERNET);

        assertThatThrownBy(() -> left.queuePair().addressOf(Gid.NONE, 0))
                .isInstanceOfSatisfying(
                        VerbsException.class,
                        refused -> assertThat(refused.function()).isEqualTo("ibv_create_ah"))
                .hasMessageContaining("without a GID");
    }

    /** Sends a datagram from and to each GID of the port. */
    @Test
    void shouldCarryTheSourceAndDestinationGidInTheHeader() throws VerbsException {
        for (var entry : device.gids(1)) {
            var from = DatagramSide.active(device, options -> options.gidIndex(entry.index()));
            var to = DatagramSide.active(device, options -> options.gidIndex(entry.index()));
            to.receive(0, 64);

            from.complete(from.queuePair().prepareSend(from.region().slice(0, 64), from.to(to)));

            assertThat(to.next().source().orElseThrow().hasGlobalRoute()).isTrue();
            var header = GlobalRouteHeader.of(to.place(0, 64).segment());
            assertThat(header.source()).as("from GID %s", entry).isEqualTo(entry.gid());
            assertThat(header.destination()).as("to GID %s", entry).isEqualTo(entry.gid());
            assertThat(header.hopLimit()).isEqualTo(64);
        }
    }

    @Test
    void shouldSendImmediateDataGatheredAndInline() throws VerbsException {
        var from = DatagramSide.active(device, options -> options.sendElements(2).inlineBytes(64));
        right.receive(0, 100);
        from.region().segment().setString(0, "Saluton,");
        from.region().segment().setString(100, " mondo");
        var pieces = List.of(from.region().slice(0, 8), from.region().slice(100, 7));
        var send = from.queuePair().prepareSend(pieces, from.to(right));

        from.post(send.immediate(0xcafe_babe).inline(true).solicited(true));
        from.region().segment().fill((byte) 0); // The data was inline, so tryPost has copied it.

        var received = right.next();
        assertThat(received.bytes()).isEqualTo(HEADER + 15);
        assertThat(received.immediate()).hasValue(0xcafe_babe);
        assertThat(right.message(0, 100).getString(0)).isEqualTo("Saluton, mondo");
        assertThat(from.next().isSuccess()).isTrue();
    }

    @Test
    void shouldSendOneRequestToSeveralPeersInOrder() throws VerbsException {
        var third = DatagramSide.active(device);
        var toThird = left.to(third);
        right.receive(0, 64);
        third.receive(0, 64);
        var send = left.queuePair().prepareSend(left.region().slice(0, 8), toRight);

        left.region().segment().setString(0, "first");
        left.complete(send);
        left.region().segment().setString(0, "second");
        left.complete(send.to(toThird));

        assertThat(right.next().isSuccess()).isTrue();
        assertThat(third.next().isSuccess()).isTrue();
        assertThat(right.message(0, 64).getString(0)).isEqualTo("first");
        assertThat(third.message(0, 64).getString(0)).isEqualTo("second");
    }

    @Test
    void shouldReplyToTheSenderOfADatagram() throws VerbsException {
        right.receive(0, 64);
        left.receive(1, 64);
        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8), toRight));
        var received = right.next();

        var replyAddress = right.queuePair().addressOf(received, right.place(0, 64));
        var reply =
                right.queuePair()
                        .prepareSend(
                                right.region().slice(0, 8),
                                new Destination(
                                        right.domain().newAddressHandle(replyAddress),
                                        received.source().orElseThrow().queuePairNumber(),
                                        QUEUE_KEY));
        assertThat(right.complete(reply).isSuccess()).isTrue();

        assertThat(left.next().source().orElseThrow().queuePairNumber())
                .isEqualTo(right.queuePair().number());
        left.queuePair()
                .localGid()
                .ifPresent(gid -> {
                    var route = replyAddress.route().orElseThrow();
                    assertThat(route.destination()).isEqualTo(gid.gid());
                    assertThat(route.sourceGidIndex()).isEqualTo(gid.index());
                });
    }

    @Test
    void shouldRejectOtherCompletionsAsDestinationsOfReplies() throws VerbsException {
        right.receive(0, 64);
        var sent = left.complete(left.queuePair().prepareSend(left.region().slice(0, 8), toRight));
        var received = right.next();

        assertThatThrownBy(() -> left.queuePair().addressOf(sent, left.place(0, 64)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("not the completion of a received datagram");
        assertThatThrownBy(() ->
                        right.queuePair().addressOf(received, right.region().slice(0, HEADER - 1)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at least 40 bytes, but this slice has 39");
    }

    @Test
    void shouldReportThatTheHeaderHasNoAddressOfThisPort() throws VerbsException {
        right.receive(0, 64);
        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8), toRight));
        var received = right.next();
        if (!received.source().orElseThrow().hasGlobalRoute()) {
            return; // Without a global route, the header is not read.
        }
        right.place(0, 64)
                .segment()
                .asSlice(0, HEADER)
                .fill((byte) 0x61); // An IPv6 header whose addresses no port has.

        assertThatThrownBy(() -> right.queuePair().addressOf(received, right.place(0, 64)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_init_ah_from_wc failed");
    }

    @Test
    void shouldDropDatagramsWithAWrongKey() throws VerbsException {
        right.receive(0, 64);
        right.receive(1, 64);
        var send =
                left.queuePair()
                        .prepareSend(
                                left.region().slice(0, 8),
                                new Destination(
                                        toRight.address(), toRight.queuePairNumber(), 0x2222));

        assertThat(left.complete(send.immediate(1)).status()).isEqualTo(CompletionStatus.SUCCESS);
        assertThat(left.complete(send.to(toRight).immediate(2)).isSuccess()).isTrue();

        assertThat(right.next().immediate()).hasValue(2);
        assertThat(right.cursor().poll()).isZero();
    }

    @Test
    void shouldDropDatagramsWithTheFormerKey() throws VerbsException {
        right.receive(0, 64);
        var send = left.queuePair().prepareSend(left.region().slice(0, 8), toRight);

        right.queuePair().modify(QueuePairChange.ofAttributes().queueKey(0x2222));
        left.complete(send.immediate(1));
        var withNewKey = new Destination(toRight.address(), toRight.queuePairNumber(), 0x2222);
        left.complete(send.to(withNewKey).immediate(2));

        assertThat(right.next().immediate()).hasValue(2);
        assertThat(right.queuePair().query().queueKey()).isEqualTo(0x2222);
    }

    @Test
    void shouldDropDatagramsWithoutAReceive() throws VerbsException {
        var send = left.queuePair().prepareSend(left.region().slice(0, 8), toRight);

        assertThat(left.complete(send.immediate(1)).status()).isEqualTo(CompletionStatus.SUCCESS);
        awaitArrivalOfALaterDatagram();
        right.receive(0, 64);
        assertThat(left.complete(send.immediate(2)).isSuccess()).isTrue();

        assertThat(right.next().immediate()).hasValue(2);
    }

    /**
     * Waits until a later datagram has arrived at a third queue pair. This is necessary because the
     * completion of a send does not mean that its datagram has arrived.
     */
    private void awaitArrivalOfALaterDatagram() throws VerbsException {
        var third = DatagramSide.active(device);
        third.receive(0, 64);
        var send = left.queuePair().prepareSend(left.region().slice(0, 8), left.to(third));
        assertThat(left.complete(send).isSuccess()).isTrue();
        assertThat(third.next().isSuccess()).isTrue();
    }

    /**
     * The SDK must reject such datagrams itself, because the specification defines no error for
     * them: a device would complete the request with success without sending anything.
     */
    @Test
    void shouldRejectDatagramsThatAreLongerThanAPacket() throws Exception {
        var most = left.queuePair().maxMessageBytes();
        right.receive(0, most);
        var send = left.queuePair().prepareSend(left.region().slice(0, most), toRight);

        assertThatThrownBy(() ->
                        left.queuePair().prepareSend(left.region().slice(0, most + 1), toRight))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(String.format(Locale.ROOT, "at most %,d bytes", most));
        assertThatThrownBy(() -> send.local(left.region().slice(0, most + 1)))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(left.complete(send).isSuccess()).isTrue();

        assertThat(right.next().bytes()).isEqualTo(HEADER + most);
    }

    @Test
    void shouldRefuseAnAddressHandleOfAnotherDomain() throws VerbsException {
        var foreign = right.to(right);

        assertThatThrownBy(() -> left.queuePair().prepareSend(left.region().slice(0, 8), foreign))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("address handle")
                .hasMessageContaining(left.domain().toString())
                .hasMessageContaining(right.domain().toString());
        var send = left.queuePair().prepareSend(left.region().slice(0, 8), toRight);
        assertThatThrownBy(() -> send.to(foreign)).isInstanceOf(IllegalArgumentException.class);
        right.receive(0, 64);
        assertThat(left.complete(send).isSuccess()).isTrue();
        assertThat(right.next().isSuccess()).isTrue();
    }

    @Test
    void shouldRejectAPeerWithoutAGidOnRoce() throws VerbsException {
        if (device.port(1).linkLayer() == LinkLayer.ETHERNET) {
            assertThatThrownBy(() -> left.queuePair().addressOf(Gid.NONE, 0))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("cannot reach a peer without a GID, which RoCE requires");
        }
    }

    @Test
    void shouldReportWhyTheDeviceRejectsAnAddress() throws VerbsException {
        var vector = left.queuePair().addressOf(right.queuePair().endpoint());
        var absent =
                new AddressVector(77, vector.lid(), 0, 0, StaticRate.UNLIMITED, vector.route());

        assertThatThrownBy(() -> left.domain().newAddressHandle(absent))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("ibv_create_ah failed for")
                .hasMessageContaining("port=77")
                .hasMessageContaining("EINVAL");
    }

    @Test
    void shouldRefuseToSendToAClosedAddressHandleAndContinueWithAnother() throws VerbsException {
        var another = left.to(right);
        var send = left.queuePair().prepareSend(left.region().slice(0, 8), toRight);
        right.receive(0, 64);

        toRight.address().close();
        assertThatThrownBy(send::tryPost)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("address handle");
        assertThat(left.queuePair().freeSends()).isEqualTo(16);
        assertThatThrownBy(toRight.address()::address).isInstanceOf(IllegalStateException.class);
        toRight.address().close();

        assertThat(left.complete(send.to(another)).isSuccess()).isTrue();
        assertThat(right.next().isSuccess()).isTrue();
    }

    @Test
    void shouldCloseAddressHandlesWithTheirDomain() throws VerbsException {
        var handle = toRight.address();
        var send = left.queuePair().prepareSend(left.region().slice(0, 8), toRight);
        assertThat(handle.domain()).isEqualTo(left.domain());
        assertThat(handle.isOpen()).isTrue();

        left.domain().close();

        assertThat(handle.isOpen()).isFalse();
        assertThatThrownBy(send::tryPost)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("queue pair");
        assertThatThrownBy(() -> left.domain().newAddressHandle(handle.vector()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("protection domain");
    }

    @Test
    void shouldCloseQueuePairsAndAddressHandlesInAnyOrder() throws VerbsException {
        // Created before the close: a closed queue pair has no endpoint.
        var handle = right.to(left).address();
        left.queuePair().close();
        assertThat(toRight.address().isOpen()).isTrue();
        toRight.address().close();

        handle.close();
        assertThat(right.queuePair().isOpen()).isTrue();
        assertThat(right.queuePair().query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    /**
     * Uses a queue key with the highest bit set. The kernel permits such keys only to processes
     * that may send raw packets.
     */
    @Test
    void shouldAcceptAPrivilegedQueueKey() throws VerbsException {
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionQueue(4);
        try (var sender = domain.newDatagramQueuePair(completions)) {
            sender.activate(0x8001_0000);

            assertThat(sender.query().queueKey()).isEqualTo(0x8001_0000);
        }
    }

    @Test
    void shouldNameTheMissingAndForbiddenAttributesOfATransition() throws VerbsException {
        var side = DatagramSide.inReset(device, options -> options);

        assertThatThrownBy(() ->
                        side.queuePair()
                                .modify(
                                        QueuePairChange.to(QueuePairState.INIT)
                                                .partitionKeyIndex(0)
                                                .port(1)
                                                .access()))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("lacks [QUEUE_KEY] and must not change [ACCESS]");
        side.queuePair().activate(QUEUE_KEY);
        assertThatThrownBy(() -> side.queuePair().activate(QUEUE_KEY))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("from READY_TO_SEND to INIT is not a valid");
    }

    @Test
    void shouldRefuseToSendBeforeItIsActive() throws VerbsException {
        var side = DatagramSide.inReset(device, options -> options);
        var send = side.queuePair().prepareSend(side.region().slice(0, 8), side.to(right));

        assertThatThrownBy(send::tryPost)
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("is in state RESET")
                .hasMessageContaining("READY_TO_SEND");
    }

    @Test
    void shouldDrainUnsignaledRequestsAndThenClose() throws Exception {
        for (var i = 0; i < 3; i++) {
            right.receive(i, 64);
            left.post(
                    left.queuePair()
                            .prepareSend(left.region().slice(0, 8), toRight)
                            .signaled(false));
        }
        left.receive(4, 64);
        var seen = new ArrayList<Completion>();

        left.queuePair().drain(left.cursor(), LONG, cursor -> seen.add(cursor.completion()));

        assertThat(left.queuePair().freeSends()).isEqualTo(16);
        assertThat(left.queuePair().freeReceives()).isEqualTo(16);
        assertThat(seen)
                .isNotEmpty()
                .allMatch(completion -> completion.status() == CompletionStatus.FLUSHED)
                .allMatch(completion -> completion.source().isEmpty());
        left.queuePair().close();
    }

    @Test
    void shouldCompleteAsynchronously() throws Exception {
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionDispatcher(32);
        var memory = domain.newArena(Access.LOCAL_WRITE).region(8192);
        try (var sender =
                        activated(
                                domain.newQueuePair(
                                        QueuePairOptions.datagrams(completions)
                                                .sends(4)
                                                .receives(4)));
                var receiver =
                        activated(
                                domain.newQueuePair(
                                        QueuePairOptions.datagrams(completions)
                                                .sends(4)
                                                .receives(4)));
                var handle = domain.newAddressHandle(sender.addressOf(receiver.endpoint()))) {
            var to = new Destination(handle, receiver.number(), QUEUE_KEY);
            memory.segment().setString(0, "Saluton, mondo");

            var receive = receiver.receive(memory.slice(4096, 200));
            sender.send(memory.slice(0, 15), to).await(LONG);
            var received = receive.await(LONG);

            assertThat(received.bytes()).isEqualTo(HEADER + 15);
            assertThat(memory.segment().getString(4096 + HEADER)).isEqualTo("Saluton, mondo");
            var source = received.source().orElseThrow();
            assertThat(source.queuePairNumber()).isEqualTo(sender.number());
            reply(receiver, received, memory, sender);
            assertRejectsInvalidSends(sender, to, memory);
        }
    }

    private static void reply(
            AsyncDatagramQueuePair from,
            Completion received,
            MemoryRegion memory,
            AsyncDatagramQueuePair to)
            throws Exception {
        var receive = to.receive(memory.slice(1024, 200));
        try (var replyAddress =
                from.domain().newAddressHandle(from.addressOf(received, memory.slice(4096, 200)))) {
            from.sendWithImmediate(
                            memory.slice(0, 8),
                            new Destination(replyAddress, to.number(), QUEUE_KEY),
                            77)
                    .await(LONG);
            assertThat(receive.await(LONG).immediate()).hasValue(77);
        }
    }

    private void assertRejectsInvalidSends(
            AsyncDatagramQueuePair from, Destination to, MemoryRegion memory)
            throws VerbsException {
        var foreign = left.to(right);
        assertThatThrownBy(() -> from.send(memory.slice(0, from.maxMessageBytes() + 1), to))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most");
        assertThatThrownBy(() -> from.send(memory.slice(0, 8), foreign))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("address handle");
        to.address().close();
        assertThatThrownBy(() -> from.send(memory.slice(0, 8), to))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("address handle");
    }

    private static AsyncDatagramQueuePair activated(AsyncDatagramQueuePair queuePair)
            throws VerbsException {
        queuePair.activate(QUEUE_KEY);
        return queuePair;
    }
}
