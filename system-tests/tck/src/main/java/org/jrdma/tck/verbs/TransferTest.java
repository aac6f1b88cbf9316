package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.model.CompletionKind.COMPARE_AND_SWAP;
import static org.jrdma.verbs.model.CompletionKind.FETCH_AND_ADD;
import static org.jrdma.verbs.model.CompletionKind.READ;
import static org.jrdma.verbs.model.CompletionKind.RECEIVE;
import static org.jrdma.verbs.model.CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE;
import static org.jrdma.verbs.model.CompletionKind.SEND;
import static org.jrdma.verbs.model.CompletionKind.WRITE;

import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests that each operation succeeds between two connected reliable queue pairs. */
class TransferTest {

    private static final int ELEMENTS = 4;
    private static final int INLINE = 64;

    private Pair pair;
    private Side left;
    private Side right;

    @BeforeEach
    void open() throws VerbsException {
        pair =
                Pair.connected(options ->
                        options.sendElements(ELEMENTS)
                                .receiveElements(ELEMENTS)
                                .inlineBytes(INLINE));
        left = pair.left();
        right = pair.right();
        left.fill(1);
        right.fill(2);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    @Test
    void shouldSendAMessageIntoAReceive() throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(10, 100)).id(9));

        assertSuccess(
                left.complete(left.queuePair().prepareSend(left.region().slice(0, 60))), SEND);

        var received = right.take(1).getFirst();
        assertThat(received.id()).isEqualTo(9);
        assertSuccess(received.completion(), RECEIVE);
        assertThat(received.completion().bytes()).isEqualTo(60);
        assertThat(received.completion().immediate()).isEmpty();
        assertThat(right.bytes(10, 60)).containsOnly(1);
        assertThat(right.bytes(0, 10)).containsOnly(2);
        assertThat(right.bytes(70, 60)).containsOnly(2);
    }

    /**
     * Starting a program forks this process. If the child shared the registered pages, a later
     * store of this process would copy a page, and the adapter would continue to use the original
     * page.
     */
    @Test
    void shouldReachTheSameMemoryWhileProgramsAreStarted() throws Exception {
        var write =
                left.queuePair()
                        .prepareWrite(left.region().slice(0, 4096), right.region().remote());
        for (var value = 3; value < 20; value++) {
            var program = new ProcessBuilder("true").start();
            left.fill(value);
            assertSuccess(left.complete(write), WRITE);
            assertThat(right.bytes(0, 4096)).containsOnly(value);
            assertThat(program.waitFor()).isZero();
        }
    }

    @Test
    void shouldSendImmediateData() throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));

        var sent =
                left.complete(
                        left.queuePair()
                                .prepareSend(left.region().slice(0, 8))
                                .immediate(0x80_01_02_03));

        assertSuccess(sent, SEND);
        assertThat(sent.immediate()).isEmpty();
        assertThat(right.next().immediate()).hasValue(0x80_01_02_03);
    }

    @Test
    void shouldMatchMessagesToReceivesInOrder() throws VerbsException {
        for (var number = 0; number < 8; number++) {
            right.post(
                    right.queuePair()
                            .prepareReceive(right.region().slice(number * 64L, 64))
                            .id(number));
        }
        for (var number = 0; number < 8; number++) {
            left.post(
                    left.queuePair()
                            .prepareSend(left.region().slice(0, number + 1))
                            .id(100 + number));
        }

        assertThat(left.take(8))
                .extracting(Side.Numbered::id)
                .containsExactly(100L, 101L, 102L, 103L, 104L, 105L, 106L, 107L);
        var received = right.take(8);
        for (var number = 0; number < 8; number++) {
            assertThat(received.get(number).id()).isEqualTo(number);
            assertThat(received.get(number).completion().bytes()).isEqualTo(number + 1);
        }
    }

    @Test
    void shouldWriteOnlyToTheGivenRange() throws VerbsException {
        var remote = right.region().remote().slice(1000, 500);

        var written =
                left.complete(
                        left.queuePair()
                                .prepareWrite(left.region().slice(0, 100), remote)
                                .remoteOffset(50));

        assertSuccess(written, WRITE);
        assertThat(right.bytes(1050, 100)).containsOnly(1);
        assertThat(right.bytes(0, 1050)).containsOnly(2);
        assertThat(right.bytes(1150, 1000)).containsOnly(2);
    }

    @Test
    void shouldWriteMoreThanFitsIntoAPacket() throws VerbsException {
        var written =
                left.complete(
                        left.queuePair()
                                .prepareWrite(left.region().slice(), right.region().remote()));

        assertSuccess(written, WRITE);
        assertThat(right.bytes(0, Pair.REGION_BYTES)).containsOnly(1);
    }

    @Test
    void shouldWriteAndNotifyThePeerByImmediateData() throws VerbsException {
        right.post(right.queuePair().prepareReceive(List.of()));

        assertSuccess(
                left.complete(
                        left.queuePair()
                                .prepareWrite(left.region().slice(0, 33), right.region().remote())
                                .immediate(-7)),
                WRITE);

        var received = right.next();
        assertSuccess(received, RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(received.immediate()).hasValue(-7);
        assertThat(received.bytes()).isEqualTo(33);
        assertThat(right.bytes(0, 33)).containsOnly(1);
        assertThat(right.bytes(33, 10)).containsOnly(2);
    }

    @Test
    void shouldReadThePeersMemory() throws VerbsException {
        var read =
                left.complete(
                        left.queuePair()
                                .prepareRead(
                                        left.region().slice(100, 5000),
                                        right.region().remote().at(64))
                                .remoteOffset(64));

        assertSuccess(read, READ);
        assertThat(left.bytes(100, 5000)).containsOnly(2);
        assertThat(left.bytes(0, 100)).containsOnly(1);
        assertThat(left.bytes(5100, 100)).containsOnly(1);
        assertThat(right.bytes(0, 8000)).containsOnly(2);
    }

    @Test
    void shouldSwapOnlyAnEqualValue() throws VerbsException {
        right.region().segment().set(ValueLayout.JAVA_LONG, 64, 5);
        var swap =
                left.queuePair()
                        .prepareCompareAndSwap(left.region().slice(8, 8), right.region().remote())
                        .remoteOffset(64);

        assertSuccess(left.complete(swap.values(5, -1)), COMPARE_AND_SWAP);
        assertThat(left.region().segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(5);
        assertThat(right.region().readLongAcquire(64)).isEqualTo(-1);

        assertSuccess(left.complete(swap.values(5, 77)), COMPARE_AND_SWAP);
        assertThat(left.region().segment().get(ValueLayout.JAVA_LONG, 8)).isEqualTo(-1);
        assertThat(right.region().readLongAcquire(64)).isEqualTo(-1);
    }

    @Test
    void shouldFetchAndAdd() throws VerbsException {
        right.region().segment().set(ValueLayout.JAVA_LONG, 0, Long.MAX_VALUE);
        var add =
                left.queuePair()
                        .prepareFetchAndAdd(left.region().slice(0, 8), right.region().remote());

        assertSuccess(left.complete(add.delta(1)), FETCH_AND_ADD);
        assertThat(left.region().readLongAcquire(0)).isEqualTo(Long.MAX_VALUE);
        assertSuccess(left.complete(add.delta(-1)), FETCH_AND_ADD);
        assertThat(left.region().readLongAcquire(0)).isEqualTo(Long.MIN_VALUE);
        assertThat(right.region().readLongAcquire(0)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void shouldGatherAndScatterSlices() throws VerbsException {
        for (var piece = 0; piece < ELEMENTS; piece++) {
            left.region().segment().asSlice(piece * 1000L, 10).fill((byte) (10 + piece));
        }
        right.post(
                right.queuePair()
                        .prepareReceive(
                                List.of(
                                        right.region().slice(500, 15),
                                        right.region().slice(0, 20),
                                        right.region().slice(300, 100))));

        left.complete(
                left.queuePair()
                        .prepareSend(
                                List.of(
                                        left.region().slice(0, 10),
                                        left.region().slice(1000, 10),
                                        left.region().slice(2000, 10),
                                        left.region().slice(3000, 10))));

        assertThat(right.next().bytes()).isEqualTo(40);
        assertThat(right.bytes(500, 10)).containsOnly(10);
        assertThat(right.bytes(510, 5)).containsOnly(11);
        assertThat(right.bytes(0, 5)).containsOnly(11);
        assertThat(right.bytes(5, 10)).containsOnly(12);
        assertThat(right.bytes(15, 5)).containsOnly(13);
        assertThat(right.bytes(300, 5)).containsOnly(13);
        assertThat(right.bytes(305, 50)).containsOnly(2);
    }

    @Test
    void shouldScatterAReadAndGatherAWrite() throws VerbsException {
        var pieces = List.of(left.region().slice(10, 5), left.region().slice(100, 50));
        right.region().segment().asSlice(0, 5).fill((byte) 3);

        assertSuccess(
                left.complete(left.queuePair().prepareRead(pieces, right.region().remote())), READ);
        assertThat(left.bytes(10, 5)).containsOnly(3);
        assertThat(left.bytes(100, 50)).containsOnly(2);

        assertSuccess(
                left.complete(
                        left.queuePair().prepareWrite(pieces, right.region().remote().at(2000))),
                WRITE);
        assertThat(right.bytes(2000, 5)).containsOnly(3);
        assertThat(right.bytes(2005, 50)).containsOnly(2);
    }

    @Test
    void shouldCopyInlineDataDuringThePost() throws VerbsException {
        var write =
                left.queuePair()
                        .prepareWrite(left.region().slice(0, INLINE), right.region().remote())
                        .inline(true);

        left.post(write);
        left.fill(9);

        assertSuccess(left.next(), WRITE);
        assertThat(right.bytes(0, INLINE)).containsOnly(1);
        assertThat(right.bytes(INLINE, INLINE)).containsOnly(2);
    }

    @Test
    void shouldReturnCompletionsOnlyOfSignaledRequests() throws VerbsException {
        var unsignaledWrite =
                left.queuePair()
                        .prepareWrite(left.region().slice(0, 8), right.region().remote())
                        .id(1)
                        .signaled(false);
        var signaledWrite =
                left.queuePair()
                        .prepareWrite(left.region().slice(8, 8), right.region().remote().at(8))
                        .id(2);

        left.post(unsignaledWrite);
        left.post(unsignaledWrite);
        left.post(signaledWrite);

        assertThat(left.take(1).getFirst().id()).isEqualTo(2);
        assertThat(left.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
        assertThat(left.cursor().poll()).isZero();
        assertThat(right.bytes(0, 16)).containsOnly(1);
    }

    @Test
    void shouldStartAFencedRequestAfterTheReadsBeforeIt() throws VerbsException {
        for (var round = 0; round < 20; round++) {
            right.fill(round);
            var bytes = 32 << 10;
            left.post(
                    left.queuePair()
                            .prepareRead(left.region().slice(0, bytes), right.region().remote()));
            left.post(
                    left.queuePair()
                            .prepareWrite(
                                    left.region().slice(bytes - 8, 8),
                                    right.region().remote().at(bytes))
                            .fenced(true));

            left.take(2).forEach(taken -> assertThat(taken.completion().isSuccess()).isTrue());

            assertThat(right.bytes(bytes, 8)).containsOnly(round);
        }
    }

    @Test
    void shouldTransferMessagesWithoutData() throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 10)));
        right.post(right.queuePair().prepareReceive(List.of()));

        assertSuccess(left.complete(left.queuePair().prepareSend(List.of())), SEND);
        assertSuccess(
                left.complete(left.queuePair().prepareSend(left.region().slice(0, 0)).immediate(4)),
                SEND);
        assertSuccess(
                left.complete(
                        left.queuePair()
                                .prepareWrite(left.region().slice(5, 0), right.region().remote())),
                WRITE);
        assertSuccess(
                left.complete(
                        left.queuePair()
                                .prepareRead(left.region().slice(5, 0), right.region().remote())),
                READ);

        assertThat(right.next().bytes()).isZero();
        var second = right.next();
        assertThat(second.bytes()).isZero();
        assertThat(second.immediate()).hasValue(4);
        assertThat(right.bytes(0, 100)).containsOnly(2);
    }

    @Test
    void shouldPostAChainInOrder() throws VerbsException {
        var chain =
                left.queuePair()
                        .prepareChain(
                                left.queuePair()
                                        .prepareWrite(
                                                left.region().slice(0, 8), right.region().remote())
                                        .id(1),
                                left.queuePair()
                                        .prepareFetchAndAdd(
                                                left.region().slice(64, 8),
                                                right.region().remote().at(8))
                                        .delta(1)
                                        .id(2),
                                left.queuePair()
                                        .prepareRead(
                                                left.region().slice(128, 16),
                                                right.region().remote())
                                        .fenced(true)
                                        .id(3));

        for (var round = 0; round < 3; round++) {
            assertThat(chain.tryPost()).isTrue();
            assertThat(left.take(3)).extracting(Side.Numbered::id).containsExactly(1L, 2L, 3L);
        }

        assertThat(left.bytes(128, 8)).containsOnly(1);
        assertThat(right.region().readLongAcquire(8)).isEqualTo(0x0202020202020202L + 3);
    }

    @Test
    void shouldPostAChainOfReceives() throws VerbsException {
        var chain =
                right.queuePair()
                        .prepareChain(
                                right.queuePair().prepareReceive(right.region().slice(0, 8)).id(1),
                                right.queuePair().prepareReceive(right.region().slice(8, 8)).id(2));
        assertThat(chain.tryPost()).isTrue();

        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8)));
        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8)));

        assertThat(right.take(2)).extracting(Side.Numbered::id).containsExactly(1L, 2L);
    }

    @Test
    void shouldChangeAPreparedRequestBetweenPosts() throws VerbsException {
        var write =
                left.queuePair()
                        .prepareWrite(
                                left.region().slice(0, 8), right.region().remote().slice(0, 64));

        left.post(write);
        left.post(write.remoteOffset(8));
        left.post(write.remote(right.region().remote().at(1000)).local(left.region().slice(0, 4)));
        left.take(3);

        assertThat(right.bytes(0, 16)).containsOnly(1);
        assertThat(right.bytes(16, 984)).containsOnly(2);
        assertThat(right.bytes(1000, 4)).containsOnly(1);
        assertThat(right.bytes(1004, 4)).containsOnly(2);
    }

    @Test
    void shouldReportThatTheQueueIsFullUntilASignaledCompletionFreesSlots() throws VerbsException {
        var write =
                left.queuePair().prepareWrite(left.region().slice(0, 8), right.region().remote());
        var posted = 0;
        for (var round = 0; round < 10; round++) {
            while (write.id(posted).signaled(posted % 32 == 31).tryPost()) {
                posted++;
            }
            assertThat(left.queuePair().freeSends()).isZero();
            assertThat(posted).isEqualTo((round + 1) * Pair.REQUESTS);
            assertThat(left.take(1).getFirst().id()).isEqualTo(posted - 1);
            assertThat(left.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
        }
    }

    @Test
    void shouldRejectAChainWithoutEnoughFreeSlots() throws VerbsException {
        var write =
                left.queuePair().prepareWrite(left.region().slice(0, 8), right.region().remote());
        var chain =
                left.queuePair()
                        .prepareChain(
                                left.queuePair()
                                        .prepareWrite(
                                                left.region().slice(0, 8), right.region().remote()),
                                left.queuePair()
                                        .prepareWrite(
                                                left.region().slice(0, 8),
                                                right.region().remote()));
        for (var posted = 0; posted < Pair.REQUESTS - 1; posted++) {
            left.post(write);
        }

        assertThat(chain.tryPost()).isFalse();
        assertThat(left.queuePair().freeSends()).isEqualTo(1);
        left.take(Pair.REQUESTS - 1);
        assertThat(chain.tryPost()).isTrue();
        left.take(2);
    }

    @Test
    void shouldCountFreeReceiveSlots() throws VerbsException {
        var receive = right.queuePair().prepareReceive(right.region().slice(0, 8));
        var posted = new ArrayList<Integer>();
        while (receive.tryPost()) {
            posted.add(right.queuePair().freeReceives());
        }
        assertThat(posted).hasSize(Pair.REQUESTS).endsWith(1, 0);

        left.complete(left.queuePair().prepareSend(left.region().slice(0, 8)));
        right.take(1);

        assertThat(right.queuePair().freeReceives()).isEqualTo(1);
    }

    private static void assertSuccess(Completion completion, CompletionKind kind) {
        assertThat(completion.isSuccess()).as("%s", completion).isTrue();
        assertThat(completion.kind()).isEqualTo(kind);
    }
}
