package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.REMOTE_ATOMIC;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.PostException;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how both of two connected queue pairs report a request that fails. */
class FailedRequestTest {

    private static final int OWN = 1;
    private static final int CANARY = 0x5a;

    private final Profile profile = Fabric.underTest().profile();
    private Pair pair;
    private Side left;
    private Side right;

    @BeforeEach
    void open() throws VerbsException {
        use(
                Pair.connected(
                        DirectConnectOptions.DEFAULT
                                .acknowledgeTimeout(Duration.ofMillis(4))
                                .retries(1)
                                .receiverNotReadyRetries(0)));
    }

    private void use(Pair opened) {
        pair = opened;
        left = pair.left();
        right = pair.right();
        left.fill(OWN);
        right.fill(CANARY);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    // ---- local keys

    @Test
    void shouldRefuseToWriteFromMemoryOfAnotherDomain() throws VerbsException {
        assertFails(
                FailureCase.WRITE_FROM_ANOTHER_DOMAIN,
                left.queuePair()
                        .prepareWrite(
                                regionOfAnotherDomain(left).slice(0, 64), right.region().remote()));
    }

    @Test
    void shouldRefuseToSendFromMemoryOfAnotherDomain() throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));

        assertFails(
                FailureCase.SEND_FROM_ANOTHER_DOMAIN,
                left.queuePair().prepareSend(regionOfAnotherDomain(left).slice(0, 64)));
    }

    @Test
    void shouldRefuseToReadIntoMemoryOfAnotherDomain() throws VerbsException {
        var other = regionOfAnotherDomain(left);
        other.segment().fill((byte) CANARY);

        assertFails(
                FailureCase.READ_INTO_ANOTHER_DOMAIN,
                left.queuePair().prepareRead(other.slice(0, 64), right.region().remote()));
        assertThat(other.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(CANARY);
    }

    @Test
    void shouldRefuseToReadIntoMemoryWithoutLocalWrite() throws VerbsException {
        var readOnly = left.domain().newArena(REMOTE_READ).region(64);

        assertFails(
                FailureCase.READ_INTO_MEMORY_WITHOUT_LOCAL_WRITE,
                left.queuePair().prepareRead(readOnly.slice(), right.region().remote()));
        assertThat(readOnly.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void shouldFailAReceiveIntoMemoryWithoutLocalWriteOnBothSides() throws VerbsException {
        var readOnly = right.domain().newArena(REMOTE_READ).region(64);
        right.post(right.queuePair().prepareReceive(readOnly.slice()));

        assertFails(
                FailureCase.RECEIVE_WITHOUT_LOCAL_WRITE_AT_SENDER,
                left.queuePair().prepareSend(left.region().slice(0, 64)));
        assertStatus(FailureCase.RECEIVE_WITHOUT_LOCAL_WRITE_AT_RECEIVER, right.next());
        assertThat(readOnly.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void shouldFailAReceiveWhoseRegionWasClosedOnBothSides() throws VerbsException {
        var region = right.domain().newArena(LOCAL_WRITE).region(64);
        right.post(right.queuePair().prepareReceive(region.slice()));
        region.close();

        assertFails(
                FailureCase.RECEIVE_WITHOUT_LOCAL_WRITE_AT_SENDER,
                left.queuePair().prepareSend(left.region().slice(0, 64)));
        assertStatus(FailureCase.RECEIVE_WITHOUT_LOCAL_WRITE_AT_RECEIVER, right.next());
        assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(0);
    }

    @Test
    void shouldRefuseToWriteWithAWrongLocalKey() throws Exception {
        try (var broken =
                Pair.connected(
                        FaultyLibraries.withWrongKeys(),
                        DirectConnectOptions.DEFAULT,
                        options -> options)) {
            broken.right().fill(CANARY);

            var completion =
                    broken.left()
                            .complete(
                                    broken.left()
                                            .queuePair()
                                            .prepareWrite(
                                                    broken.left().region().slice(0, 64),
                                                    broken.right().region().remote()));

            assertStatus(FailureCase.WRITE_WITH_WRONG_LOCAL_KEY, completion);
            assertThat(broken.right().bytes(0, 100)).containsOnly(CANARY);
        }
    }

    @Test
    void shouldRefuseAnAtomicWithAWrongLocalKey() throws Exception {
        try (var broken =
                Pair.connected(
                        FaultyLibraries.withWrongKeys(),
                        DirectConnectOptions.DEFAULT,
                        options -> options)) {
            broken.left().fill(CANARY);

            var completion =
                    broken.left()
                            .complete(
                                    broken.left()
                                            .queuePair()
                                            .prepareFetchAndAdd(
                                                    broken.left().region().slice(0, 8),
                                                    broken.right().region().remote()));

            assertStatus(FailureCase.ATOMIC_WITH_WRONG_LOCAL_KEY, completion);
            assertThat(broken.left().bytes(0, 100)).containsOnly(CANARY);
        }
    }

    // ---- remote keys

    @Test
    void shouldRefuseAWriteWithAWrongKey() throws VerbsException {
        assertFails(FailureCase.WRITE_WITH_WRONG_KEY, write(wrongKey()));
    }

    @Test
    void shouldRefuseAReadWithAWrongKey() throws VerbsException {
        assertFails(FailureCase.READ_WITH_WRONG_KEY, read(wrongKey()));
        assertThat(left.bytes(0, 100)).containsOnly(OWN);
    }

    @Test
    void shouldRefuseAnAtomicWithAWrongKey() throws VerbsException {
        assertFails(FailureCase.ATOMIC_WITH_WRONG_KEY, atomic(wrongKey()));
    }

    @Test
    void shouldRejectAWriteBeyondTheRegionAndKeepTheBytesAfterIt() throws VerbsException {
        assertFails(FailureCase.WRITE_OUT_OF_BOUNDS, write(claim(small(), 16)));
    }

    @Test
    void shouldRefuseAWriteThatBeginsBeforeTheRegion() throws VerbsException {
        assertFails(FailureCase.WRITE_OUT_OF_BOUNDS, write(claim(small(), -8)));
    }

    @Test
    void shouldRefuseAReadBeyondTheRegion() throws VerbsException {
        assertFails(FailureCase.READ_OUT_OF_BOUNDS, read(claim(small(), 16)));
        assertThat(left.bytes(0, 100)).containsOnly(OWN);
    }

    @Test
    void shouldRefuseAWriteWithoutTheRight() throws VerbsException {
        assertFails(
                FailureCase.WRITE_WITHOUT_RIGHT,
                write(memoryWithAccess(LOCAL_WRITE, REMOTE_READ, REMOTE_ATOMIC)));
    }

    @Test
    void shouldRefuseAReadWithoutTheRight() throws VerbsException {
        assertFails(
                FailureCase.READ_WITHOUT_RIGHT,
                read(memoryWithAccess(LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC)));
    }

    @Test
    void shouldRefuseAnAtomicWithoutTheRight() throws VerbsException {
        assertFails(
                FailureCase.ATOMIC_WITHOUT_RIGHT,
                atomic(memoryWithAccess(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ)));
    }

    @Test
    void shouldRefuseAWriteThatTheQueuePairDoesNotGrant() throws VerbsException {
        grantThroughQueuePair(LOCAL_WRITE, REMOTE_READ, REMOTE_ATOMIC);
        assertFails(FailureCase.WRITE_WITHOUT_RIGHT_OF_QUEUE_PAIR, write(right.region().remote()));
    }

    @Test
    void shouldRefuseAReadThatTheQueuePairDoesNotGrant() throws VerbsException {
        grantThroughQueuePair(LOCAL_WRITE, REMOTE_WRITE, REMOTE_ATOMIC);
        assertFails(FailureCase.READ_WITHOUT_RIGHT_OF_QUEUE_PAIR, read(right.region().remote()));
    }

    @Test
    void shouldRefuseAnAtomicThatTheQueuePairDoesNotGrant() throws VerbsException {
        grantThroughQueuePair(LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ);
        assertFails(
                FailureCase.ATOMIC_WITHOUT_RIGHT_OF_QUEUE_PAIR, atomic(right.region().remote()));
    }

    @Test
    void shouldRefuseAWriteToMemoryOfAnotherDomain() throws VerbsException {
        var other = regionOfAnotherDomain(right);
        other.segment().fill((byte) CANARY);

        assertFails(FailureCase.WRITE_TO_ANOTHER_DOMAIN, write(other.remote()));
        assertThat(other.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(CANARY);
    }

    @Test
    void shouldRefuseAWriteToARegionThatWasClosed() throws VerbsException {
        var region = right.domain().newArena(Pair.ALL).region(4096);
        region.segment().fill((byte) CANARY);
        var remote = region.remote();
        region.close();

        assertFails(FailureCase.WRITE_TO_CLOSED_REGION, write(remote));
        assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(CANARY);
    }

    @Test
    void shouldFailAStreamOfWritesWhenThePeerClosesTheRegion() throws Exception {
        pair.close();
        // The default timeouts are used, because shorter ones expire on a busy machine.
        use(Pair.connected());
        var arena = right.domain().newArena(Pair.ALL);
        var region = arena.region(32 << 10);
        var write =
                left.queuePair().prepareWrite(left.region().slice(0, 32 << 10), region.remote());
        var closer =
                Thread.ofPlatform()
                        .unstarted(() -> {
                            region.close();
                            region.segment().fill((byte) CANARY);
                        });
        var posted = 0;
        var completed = 0;
        Completion failed = null;
        while (failed == null) {
            assertThat(posted).as("writes posted without a failure").isLessThan(100_000);
            if (write.tryPost()) {
                posted++;
            } else {
                var completion = left.next();
                completed++;
                if (completed == 10) {
                    closer.start();
                }
                failed = completion.isSuccess() ? null : completion;
            }
        }
        closer.join();

        assertStatus(FailureCase.WRITE_TO_CLOSED_REGION, failed);
        left.take(posted - completed)
                .forEach(rest ->
                        assertThat(rest.completion().status()).isEqualTo(CompletionStatus.FLUSHED));
        assertThat(region.segment().toArray(ValueLayout.JAVA_BYTE)).containsOnly(CANARY);
    }

    // ---- rejections by the SDK, before the device is called

    @Test
    void shouldRejectARequestThatIsLongerThanThePeersMemory() {
        var remote = right.region().remote().slice(0, 63);

        assertThatThrownBy(() -> left.queuePair().prepareWrite(left.region().slice(0, 64), remote))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> left.queuePair().prepareRead(left.region().slice(0, 64), remote))
                .isInstanceOf(IndexOutOfBoundsException.class);
        var write = left.queuePair().prepareWrite(left.region().slice(0, 60), remote);
        assertThatThrownBy(() -> write.remoteOffset(4))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> write.local(left.region().slice(0, 64)))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldRefuseAnUnalignedAtomic() {
        var result = left.region().slice(0, 8);
        var unaligned = right.region().remote().at(4);
        var queuePair = left.queuePair();

        assertThatThrownBy(() -> queuePair.prepareFetchAndAdd(result, unaligned))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("multiple of 8");
        assertThatThrownBy(() -> queuePair.prepareCompareAndSwap(result, unaligned))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() ->
                        queuePair
                                .prepareFetchAndAdd(result, right.region().remote())
                                .remoteOffset(12))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() ->
                        queuePair.prepareFetchAndAdd(
                                left.region().slice(0, 4), right.region().remote()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8 bytes");
    }

    @Test
    void shouldRejectMoreInlineDataThanTheQueuePairAllows() {
        var room = left.queuePair().inlineBytes();
        var send = left.queuePair().prepareSend(left.region().slice(0, room + 1));

        assertThatThrownBy(() -> send.inline(true))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(room + " bytes inline");
    }

    @Test
    void shouldRejectMoreSlicesThanTheQueuePairAllows() {
        var piece = left.region().slice(0, 8);

        assertThatThrownBy(() -> left.queuePair().prepareSend(List.of(piece, piece)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("at most 1 slices of memory");
        assertThatThrownBy(() -> left.queuePair().prepareReceive(List.of(piece, piece)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRejectInvalidChains() {
        var one = left.queuePair().prepareSend(left.region().slice(0, 8));
        var two = left.queuePair().prepareSend(left.region().slice(0, 8));
        var receive = left.queuePair().prepareReceive(left.region().slice(0, 8));

        assertThatThrownBy(() -> left.queuePair().prepareChain())
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> left.queuePair().prepareChain(two, receive))
                .isInstanceOf(IllegalArgumentException.class);
        left.queuePair().prepareChain(one);
        assertThatThrownBy(() -> left.queuePair().prepareChain(one))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(one::tryPost)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("chain");
    }

    @Test
    void shouldIdentifyTheRequestOfAChainThatTheProviderRefuses() throws Exception {
        try (var refusing =
                Pair.connected(
                        FaultyLibraries.refusingSecondRequests(),
                        DirectConnectOptions.DEFAULT,
                        options -> options)) {
            var side = refusing.left();
            var remote = refusing.right().region().remote();
            var chain =
                    side.queuePair()
                            .prepareChain(
                                    side.queuePair()
                                            .prepareWrite(side.region().slice(0, 8), remote)
                                            .id(1),
                                    side.queuePair()
                                            .prepareWrite(side.region().slice(0, 8), remote)
                                            .id(2),
                                    side.queuePair()
                                            .prepareWrite(side.region().slice(0, 8), remote)
                                            .id(3));

            assertThatThrownBy(chain::tryPost)
                    .isInstanceOfSatisfying(
                            PostException.class,
                            e -> {
                                assertThat(e.failedRequest()).isEqualTo(1);
                                assertThat(e)
                                        .hasMessageContaining("request 2 of 3")
                                        .hasMessageContaining("EINVAL");
                            });
            assertThat(side.queuePair().freeSends()).isEqualTo(Pair.REQUESTS - 1);
            assertThat(side.take(1).getFirst().id()).isEqualTo(1);
            assertThat(side.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
        }
    }

    // ---- receives, responses, states

    @Test
    void shouldFailAMessageThatIsLongerThanTheReceiveOnBothSides() throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 63)));

        assertFails(
                FailureCase.RECEIVE_TOO_SMALL_AT_SENDER,
                left.queuePair().prepareSend(left.region().slice(0, 64)));
        assertStatus(FailureCase.RECEIVE_TOO_SMALL_AT_RECEIVER, right.next());
        assertThat(right.bytes(63, 1000)).containsOnly(CANARY);
    }

    @Test
    void shouldGiveUpWhenThePeerPostsNoReceive() throws VerbsException {
        assertFails(
                FailureCase.NO_RECEIVE_IN_TIME,
                left.queuePair().prepareSend(left.region().slice(0, 64)));
    }

    @Test
    void shouldRetryUntilThePeerPostsAReceive() throws Exception {
        pair.close();
        use(Pair.connected());
        left.post(left.queuePair().prepareSend(left.region().slice(0, 64)));
        Thread.sleep(20);
        assertThat(left.cursor().poll()).isZero();

        right.post(right.queuePair().prepareReceive(right.region().slice(0, 64)));

        assertThat(left.next().isSuccess()).isTrue();
        assertThat(right.next().bytes()).isEqualTo(64);
    }

    @Test
    void shouldGiveUpWhenThePeerIsGone() throws VerbsException {
        right.queuePair().close();

        assertFails(FailureCase.NO_ANSWER_IN_TIME, write(right.region().remote()));
    }

    @Test
    void shouldFlushTheRequestsAfterAFailure() throws VerbsException {
        left.queuePair().prepareReceive(left.region().slice(0, 8)).id(1).tryPost();
        assertFails(FailureCase.WRITE_WITH_WRONG_KEY, write(wrongKey()));
        left.post(write(right.region().remote()).id(2));
        left.post(write(right.region().remote()).id(3));

        var flushed = left.take(3);

        assertThat(flushed).extracting(Side.Numbered::id).containsExactlyInAnyOrder(1L, 2L, 3L);
        assertThat(flushed)
                .allSatisfy(each ->
                        assertThat(each.completion().status()).isEqualTo(CompletionStatus.FLUSHED));
        assertThat(right.bytes(0, 100)).containsOnly(CANARY);
    }

    @Test
    void shouldReportTheStateOfTheQueuePairAfterAFailure() throws VerbsException {
        assertStatus(FailureCase.WRITE_WITH_WRONG_KEY, left.complete(write(wrongKey())));
        assertThat(left.queuePair().state()).isEqualTo(QueuePairState.READY_TO_SEND);

        assertThatThrownBy(() ->
                        left.queuePair()
                                .modify(QueuePairChange.to(QueuePairState.SEND_QUEUE_DRAINED)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("from READY_TO_SEND to SEND_QUEUE_DRAINED")
                .hasMessageContaining("in state ERROR");

        assertThat(left.queuePair().state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void shouldRefuseToPostInAWrongState() throws VerbsException {
        try (var unconnected = Pair.unconnected()) {
            var side = unconnected.left();
            var send = side.queuePair().prepareSend(side.region().slice(0, 8));
            var receive = side.queuePair().prepareReceive(side.region().slice(0, 8));

            assertThatThrownBy(send::tryPost)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("RESET")
                    .hasMessageContaining("READY_TO_SEND");
            assertThatThrownBy(receive::tryPost)
                    .isInstanceOf(VerbsException.class)
                    .hasMessageContaining("RESET")
                    .hasMessageContaining("INIT");
            assertThat(side.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
            assertThat(side.queuePair().freeReceives()).isEqualTo(Pair.REQUESTS);
        }
    }

    // ---- helpers

    private void assertFails(FailureCase failure, PreparedRequest<?> request)
            throws VerbsException {
        assertStatus(failure, left.complete(request));
        assertThat(left.queuePair().query().state()).isEqualTo(QueuePairState.ERROR);
        assertThat(left.queuePair().state()).isEqualTo(QueuePairState.ERROR);
        assertThat(right.bytes(128, 1000)).containsOnly(CANARY);
        if (failure != FailureCase.RECEIVE_TOO_SMALL_AT_SENDER) {
            assertThat(right.bytes(0, 128)).containsOnly(CANARY);
        }
    }

    private void assertStatus(FailureCase failure, Completion completion) {
        assertThat(completion.status())
                .as("%s, %s", failure, profile)
                .isEqualTo(profile.statusOf(failure));
    }

    private PreparedRequest<?> write(RemoteMemory remote) {
        return left.queuePair().prepareWrite(left.region().slice(0, 64), remote);
    }

    private PreparedRequest<?> read(RemoteMemory remote) {
        return left.queuePair().prepareRead(left.region().slice(0, 64), remote);
    }

    private PreparedRequest<?> atomic(RemoteMemory remote) {
        return left.queuePair().prepareFetchAndAdd(left.region().slice(0, 8), remote).delta(1);
    }

    private RemoteMemory wrongKey() {
        var remote = right.region().remote();
        return new RemoteMemory(remote.address(), remote.key() ^ 0x5500, remote.length());
    }

    /**
     * Registers 64 bytes in the middle of the right side's memory. The bytes around them must stay
     * unchanged.
     */
    private MemoryRegion small() throws VerbsException {
        return right.domain()
                .registerUnguarded(right.region().segment().asSlice(4096, 64), Pair.ALL);
    }

    /**
     * Returns remote memory of 64 bytes at an offset from a region, so that it can exceed the
     * bounds of the region. A faulty peer could send such a description.
     */
    private static RemoteMemory claim(MemoryRegion region, long offset) {
        return new RemoteMemory(region.remote().address() + offset, region.remoteKey(), 64);
    }

    private RemoteMemory memoryWithAccess(Access... access) throws VerbsException {
        return right.domain()
                .registerUnguarded(right.region().segment().asSlice(0, 4096), access)
                .remote();
    }

    private void grantThroughQueuePair(Access... access) throws VerbsException {
        pair.close();
        use(Pair.connected(DirectConnectOptions.DEFAULT.access(access)));
    }

    private static MemoryRegion regionOfAnotherDomain(Side side) throws VerbsException {
        return side.domain().device().newProtectionDomain().newArena(Pair.ALL).region(4096);
    }
}
