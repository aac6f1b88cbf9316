package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests requests that are posted with the functions {@code ibv_wr_*} of an extended queue pair. The
 * results must be those of {@code ibv_post_send}.
 */
class ExtendedPostTest {

    private static final Duration LONG = Duration.ofSeconds(20);

    private final Fabric fabric = Fabric.underTest();

    private Pair pair() throws VerbsException {
        fabric.needs(Feature.EXTENDED_POSTS);
        return Pair.connected(options ->
                options.extendedPosts().sendElements(4).receiveElements(4).inlineBytes(64));
    }

    /** Returns three separate buffers of 10, 20 and 30 bytes, which are filled with 1, 2 and 3. */
    private static List<MemorySlice> pieces(Side side) {
        var pieces = new ArrayList<MemorySlice>();
        for (var number = 1; number <= 3; number++) {
            var piece = side.region().slice(number * 1000L, number * 10L);
            piece.segment().fill((byte) number);
            pieces.add(piece);
        }
        return pieces;
    }

    private static void assertHasPieces(Side side, long offset) {
        assertThat(side.bytes(offset, 10)).containsOnly(1);
        assertThat(side.bytes(offset + 10, 20)).containsOnly(2);
        assertThat(side.bytes(offset + 30, 30)).containsOnly(3);
        assertThat(side.bytes(offset + 60, 40)).containsOnly(0x5a);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSendAndWriteWithAndWithoutImmediateData(boolean inline) throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            left.fill(7);
            right.fill(0x5a);
            for (var place = 0; place < 3; place++) {
                right.post(
                        right.queuePair().prepareReceive(right.region().slice(place * 100L, 100)));
            }
            var local = left.region().slice(0, 60);
            var sent = left.complete(left.queuePair().prepareSend(local).inline(inline));
            var sentWithImmediate =
                    left.complete(
                            left.queuePair().prepareSend(local).inline(inline).immediate(0xbeef));
            var remote = right.region().remote().slice(1000, 60);
            var written =
                    left.complete(left.queuePair().prepareWrite(local, remote).inline(inline));
            var writtenWithImmediate =
                    left.complete(
                            left.queuePair()
                                    .prepareWrite(local, remote.slice(0, 60))
                                    .inline(inline)
                                    .immediate(-2));

            assertThat(List.of(sent, sentWithImmediate, written, writtenWithImmediate))
                    .extracting(completion -> completion.status())
                    .containsOnly(CompletionStatus.SUCCESS);
            assertThat(sent.kind()).isEqualTo(CompletionKind.SEND);
            assertThat(written.kind()).isEqualTo(CompletionKind.WRITE);
            var received = right.take(3);
            assertThat(received.get(0).completion().bytes()).isEqualTo(60);
            assertThat(received.get(0).completion().immediate()).isEmpty();
            assertThat(received.get(1).completion().immediate()).hasValue(0xbeef);
            assertThat(received.get(2).completion().immediate()).hasValue(-2);
            assertThat(received.get(2).completion().kind())
                    .isEqualTo(CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE);
            for (var offset : new int[] {0, 100, 1000}) {
                assertThat(right.bytes(offset, 60)).containsOnly(7);
                assertThat(right.bytes(offset + 60, 40)).containsOnly(0x5a);
            }
        }
    }

    /**
     * Detects two faults of old versions of librxe. They computed the length of a message as the
     * length of its first buffer times the number of buffers, and they sent no inline data.
     */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSendDataGatheredFromSeveralBuffers(boolean inline) throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            right.fill(0x5a);
            right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));

            assertThat(
                            left.complete(left.queuePair().prepareSend(pieces(left)).inline(inline))
                                    .isSuccess())
                    .isTrue();
            assertThat(right.next().bytes()).isEqualTo(60);
            assertHasPieces(right, 0);
            var remote = right.region().remote().slice(1000, 60);
            assertThat(
                            left.complete(
                                            left.queuePair()
                                                    .prepareWrite(pieces(left), remote)
                                                    .inline(inline))
                                    .isSuccess())
                    .isTrue();
            assertHasPieces(right, 1000);
        }
    }

    @Test
    void shouldPostRequestsWithoutData() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            right.fill(0x5a);
            right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));
            var remote = right.region().remote();

            assertThat(left.complete(left.queuePair().prepareSend(List.of())).isSuccess()).isTrue();
            assertThat(left.complete(left.queuePair().prepareWrite(List.of(), remote)).isSuccess())
                    .isTrue();
            assertThat(left.complete(left.queuePair().prepareRead(List.of(), remote)).isSuccess())
                    .isTrue();

            assertThat(right.next().bytes()).isZero();
            assertThat(right.bytes(0, 100)).containsOnly(0x5a);
        }
    }

    @Test
    void shouldScatterTheDataOfARead() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            left.fill(0x5a);
            right.fill(9);
            var remote = right.region().remote();

            var read = left.queuePair().prepareRead(left.region().slice(0, 60), remote);
            assertThat(left.complete(read).kind()).isEqualTo(CompletionKind.READ);
            assertThat(left.bytes(0, 60)).containsOnly(9);
            assertThat(left.bytes(60, 40)).containsOnly(0x5a);
            left.complete(left.queuePair().prepareRead(pieces(left), remote));
            for (var number = 1; number <= 3; number++) {
                assertThat(left.bytes(number * 1000L, number * 10L)).containsOnly(9);
                assertThat(left.bytes(number * 1000L + number * 10L, 10)).containsOnly(0x5a);
            }
        }
    }

    @Test
    void shouldPostAtomics() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var target = pair.right().region();
            target.segment().set(ValueLayout.JAVA_LONG, 0, 40);
            var result = left.region().slice(0, 8);
            var add = left.queuePair().prepareFetchAndAdd(result, target.remote()).delta(2);

            assertThat(left.complete(add).kind()).isEqualTo(CompletionKind.FETCH_AND_ADD);
            assertThat(result.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(40);
            assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);

            var swap = left.queuePair().prepareCompareAndSwap(result, target.remote());
            assertThat(left.complete(swap.values(1, 2)).kind())
                    .isEqualTo(CompletionKind.COMPARE_AND_SWAP);
            assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
            left.complete(swap.values(42, Long.MIN_VALUE));
            assertThat(result.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(42);
            assertThat(target.segment().get(ValueLayout.JAVA_LONG, 0)).isEqualTo(Long.MIN_VALUE);
        }
    }

    @Test
    void shouldBindAndInvalidateWindows() throws VerbsException {
        fabric.needs(Feature.MEMORY_WINDOWS);
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            left.fill(3);
            var region =
                    right.domain()
                            .newArena(Access.LOCAL_WRITE, Access.MEMORY_WINDOW_BIND)
                            .region(64);
            var window = right.domain().newType2Window();
            var bind = right.queuePair().prepareBind(window, region, Access.REMOTE_WRITE);
            var invalidate = right.queuePair().prepareInvalidate(window);

            assertThat(right.complete(bind).isSuccess()).isTrue();
            assertThat(right.complete(invalidate).isSuccess()).isTrue();
            assertThat(right.complete(bind.range(8, 16)).isSuccess()).isTrue();
            var write = left.queuePair().prepareWrite(left.region().slice(0, 16), window.remote());
            assertThat(left.complete(write).isSuccess()).isTrue();
            assertThat(region.segment().asSlice(8, 16).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(3);
            right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));
            var send = left.queuePair().prepareSend(left.region().slice(0, 8));
            assertThat(left.complete(send.invalidating(window.remote())).isSuccess()).isTrue();
            assertThat(right.next().isSuccess()).isTrue();

            assertThat(left.complete(write).isSuccess()).isFalse();
        }
    }

    @Test
    void shouldPostAChainInOrderWithTheIdAndFlagsOfEachRequest() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            right.fill(0x5a);
            right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));
            left.region().segment().fill((byte) 4);
            var remote = right.region().remote();
            var chain =
                    left.queuePair()
                            .prepareChain(
                                    left.queuePair()
                                            .prepareWrite(
                                                    left.region().slice(0, 8), remote.slice(200, 8))
                                            .id(1)
                                            .signaled(false),
                                    left.queuePair()
                                            .prepareSend(left.region().slice(0, 60))
                                            .id(2)
                                            .fenced(true),
                                    left.queuePair()
                                            .prepareRead(
                                                    left.region().slice(500, 8),
                                                    remote.slice(200, 8))
                                            .id(3));
            for (var round = 0; round < 3; round++) {
                right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));
                assertThat(chain.tryPost()).isTrue();

                var taken = left.take(2);

                assertThat(taken.get(0).id()).isEqualTo(2);
                assertThat(taken.get(1).id()).isEqualTo(3);
                assertThat(taken.get(1).completion().isSuccess()).isTrue();
                assertThat(right.next().bytes()).isEqualTo(60);
                assertThat(left.bytes(500, 8)).containsOnly(4);
                assertThat(left.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
            }
        }
    }

    @Test
    void shouldPostAChainWithARequestGatheredFromSeveralBuffers() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var right = pair.right();
            right.fill(0x5a);
            var remote = right.region().remote();
            var chain =
                    left.queuePair()
                            .prepareChain(
                                    left.queuePair()
                                            .prepareWrite(left.region().slice(0, 8), remote)
                                            .id(1),
                                    left.queuePair()
                                            .prepareWrite(pieces(left), remote.slice(200, 60))
                                            .id(2));

            assertThat(chain.tryPost()).isTrue();

            assertThat(left.take(2)).extracting(taken -> taken.id()).containsExactly(1L, 2L);
            assertHasPieces(right, 200);
        }
    }

    @Test
    void shouldReportThatTheQueueIsFullAndAcceptRequestsAfterwards() throws VerbsException {
        try (var pair = pair()) {
            var left = pair.left();
            var write =
                    left.queuePair()
                            .prepareWrite(
                                    left.region().slice(0, 8), pair.right().region().remote());
            for (var round = 0; round < 20; round++) {
                var posted = 0;
                while (write.id(posted).tryPost()) {
                    posted++;
                }
                assertThat(posted).isEqualTo(Pair.REQUESTS);
                var taken = left.take(posted);
                for (var number = 0; number < posted; number++) {
                    assertThat(taken.get(number).id()).isEqualTo(number);
                    assertThat(taken.get(number).completion().isSuccess()).isTrue();
                }
            }
        }
    }

    @Test
    void shouldRefuseToPostBeforeItIsConnectedAndAfterItIsClosed() throws VerbsException {
        fabric.needs(Feature.EXTENDED_POSTS);
        try (var device = fabric.open();
                var completions = device.newCompletionQueue(16);
                var domain = device.newProtectionDomain();
                var memory = domain.newArena(Pair.ALL)) {
            var region = memory.region(64);
            var queuePair =
                    domain.newQueuePair(QueuePairOptions.reliable(completions).extendedPosts());
            var send = queuePair.prepareSend(region.slice(0, 8));
            assertThatThrownBy(send::tryPost)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("READY_TO_SEND");

            queuePair.close();

            assertThatThrownBy(send::tryPost)
                    .isInstanceOfAny(IllegalStateException.class, VerbsException.class);
        }
    }

    @Test
    void shouldReportHowARequestFailedAndDrain() throws Exception {
        try (var pair = pair()) {
            var left = pair.left();
            var remote = pair.right().region().remote();
            var write = left.queuePair().prepareWrite(left.region().slice(0, 8), remote);
            pair.right().region().close();

            assertThat(left.complete(write).status())
                    .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);

            left.post(write.signaled(false));
            left.queuePair().drain(left.cursor(), LONG, _ -> {});
            assertThat(left.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
        }
    }

    @Test
    void shouldSendOnAnUnreliableConnection() throws VerbsException {
        fabric.needs(Feature.EXTENDED_POSTS);
        fabric.needs(Feature.UNRELIABLE_CONNECTIONS);
        fabric.needs(Feature.MOVING_DATA);
        try (var device = fabric.open()) {
            var domain = device.newProtectionDomain();
            var completions = device.newCompletionQueue(16);
            var cursor = completions.newCursor(4);
            var region = domain.newArena(Pair.ALL).region(256);
            var options = QueuePairOptions.unreliable(completions).sends(2).receives(2);
            var sender = domain.newQueuePair(options.extendedPosts());
            var receiver =
                    domain.newQueuePair(
                            QueuePairOptions.unreliable(completions).sends(2).receives(2));
            sender.connect(receiver.endpoint());
            receiver.connect(sender.endpoint());
            region.segment().asSlice(0, 64).fill((byte) 3);
            assertThat(receiver.prepareReceive(region.slice(64, 64)).id(1).tryPost()).isTrue();

            assertThat(sender.prepareSend(region.slice(0, 64)).id(2).tryPost()).isTrue();

            assertThat(Side.take(cursor, 2))
                    .extracting(taken -> taken.id())
                    .containsExactlyInAnyOrder(1L, 2L);
            assertThat(region.segment().asSlice(64, 64).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(3);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSendDatagramsToTheirDestinations(boolean inline) throws VerbsException {
        fabric.needs(Feature.EXTENDED_POSTS);
        fabric.needs(Feature.DATAGRAMS);
        try (var device = fabric.open()) {
            var sender =
                    DatagramSide.active(device, options -> options.extendedPosts().inlineBytes(64));
            var receiver = DatagramSide.active(device);
            receiver.receive(0, 64);
            receiver.receive(1, 64);
            sender.region().segment().fill((byte) 6);
            var send =
                    sender.queuePair()
                            .prepareSend(sender.region().slice(0, 64), sender.to(receiver))
                            .inline(inline);

            assertThat(sender.complete(send).isSuccess()).isTrue();
            assertThat(sender.complete(send.immediate(0x1234)).isSuccess()).isTrue();

            var first = receiver.next();
            var second = receiver.next();
            assertThat(first.source().get().queuePairNumber())
                    .isEqualTo(sender.queuePair().number());
            assertThat(first.immediate()).isEmpty();
            assertThat(second.immediate()).hasValue(0x1234);
            assertThat(receiver.message(1, 64).toArray(ValueLayout.JAVA_BYTE)).containsOnly(6);
            receiver.receive(2, 64);
            var nothing = sender.queuePair().prepareSend(List.of(), sender.to(receiver));
            assertThat(sender.complete(nothing.inline(inline)).isSuccess()).isTrue();
            assertThat(receiver.next().bytes()).isEqualTo(DatagramSide.HEADER);
        }
    }

    @Test
    void shouldPostAsyncOperations() throws Exception {
        fabric.needs(Feature.EXTENDED_POSTS);
        fabric.needs(Feature.MOVING_DATA);
        fabric.needs(Feature.COMPLETION_EVENTS);
        try (var device = fabric.open()) {
            var domain = device.newProtectionDomain();
            var region = domain.newArena(Pair.ALL).region(256);
            var completions = device.newCompletionDispatcher(32);
            var queuePair =
                    domain.newQueuePair(QueuePairOptions.reliable(completions).extendedPosts());
            queuePair.connect(queuePair.endpoint());
            region.segment().asSlice(0, 64).fill((byte) 8);

            var written =
                    queuePair.write(region.slice(0, 64), region.remote().slice(64, 64)).await(LONG);

            assertThat(written.isSuccess()).isTrue();
            assertThat(region.segment().asSlice(64, 64).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(8);
        }
    }

    @Test
    void shouldReportThatExtendedPostsAreNotSupported() throws VerbsException {
        fabric.needsLackOf(Feature.EXTENDED_POSTS);
        try (var device = fabric.open();
                var completions = device.newCompletionQueue(16);
                var domain = device.newProtectionDomain()) {
            var options = QueuePairOptions.reliable(completions).extendedPosts();

            assertThatThrownBy(() -> domain.newQueuePair(options))
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("ibv_create_qp_ex")
                    .hasMessageContaining(device.name())
                    .hasMessageEndingWith(
                            "The device does not support extended posts for this queue pair type.");
        }
    }
}
