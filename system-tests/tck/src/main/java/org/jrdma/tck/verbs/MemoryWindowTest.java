package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.tck.verbs.Fabric.underTest;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;
import static org.jrdma.verbs.model.Access.MEMORY_WINDOW_BIND;
import static org.jrdma.verbs.model.Access.REMOTE_ATOMIC;
import static org.jrdma.verbs.model.Access.REMOTE_READ;
import static org.jrdma.verbs.model.Access.REMOTE_WRITE;
import static org.jrdma.verbs.model.Access.ZERO_BASED;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import org.jrdma.verbs.DirectConnectOptions;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedBind;
import org.jrdma.verbs.PreparedRequest;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.memory.MemoryWindow;
import org.jrdma.verbs.memory.RegisteredArena;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests memory windows. The right side binds windows to memory that has no remote access rights,
 * and the left side accesses the memory through these windows.
 */
class MemoryWindowTest {

    private static final int OWN = 1;
    private static final int CANARY = 0x5a;
    private static final int BYTES = 8192;
    private static final Access[] ALL = {REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC};

    enum Type {
        ONE,
        TWO
    }

    private final Profile profile = underTest().profile();
    private Pair pair;
    private Side left;
    private Side right;
    private RegisteredArena arena;
    private MemoryRegion region;

    @BeforeEach
    void open() throws VerbsException {
        underTest().needs(Feature.MEMORY_WINDOWS);
        use(
                Pair.connected(
                        DirectConnectOptions.DEFAULT
                                .acknowledgeTimeout(Duration.ofMillis(4))
                                .retries(1)));
    }

    private void use(Pair opened) throws VerbsException {
        pair = opened;
        left = pair.left();
        right = pair.right();
        left.fill(OWN);
        arena = right.domain().newArena(LOCAL_WRITE, MEMORY_WINDOW_BIND);
        region = arena.region(BYTES);
        region.segment().fill((byte) CANARY);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    // ---- access through a window

    @ParameterizedTest
    @EnumSource
    void shouldGrantThePeerWritesReadsAndAtomics(Type type) throws VerbsException {
        var window = newWindow(type);
        var bind = bind(window, ALL).range(4096, 64);

        var bound = right.complete(bind);

        assertThat(bound.isSuccess()).isTrue();
        assertThat(bound.kind()).isEqualTo(CompletionKind.BIND);
        assertThat(window.remote().address()).isEqualTo(region.startAddress() + 4096);
        assertThat(window.remote().length()).isEqualTo(64);
        assertThat(left.complete(write(window.remote())).isSuccess()).isTrue();
        assertThat(bytes(4096, 64)).containsOnly(OWN);
        assertThat(bytes(0, 4096)).containsOnly(CANARY);
        assertThat(bytes(4160, BYTES - 4160)).containsOnly(CANARY);
        left.fill(0);
        assertThat(
                        left.complete(
                                        left.queuePair()
                                                .prepareRead(
                                                        left.region().slice(0, 64),
                                                        window.remote()))
                                .isSuccess())
                .isTrue();
        assertThat(left.bytes(0, 64)).containsOnly(OWN);
        region.segment().set(ValueLayout.JAVA_LONG, 4096, 41);
        assertThat(
                        left.complete(
                                        left.queuePair()
                                                .prepareFetchAndAdd(
                                                        left.region().slice(0, 8), window.remote())
                                                .delta(1))
                                .isSuccess())
                .isTrue();
        assertThat(region.segment().get(ValueLayout.JAVA_LONG, 4096)).isEqualTo(42);
    }

    @ParameterizedTest
    @EnumSource
    void shouldGrantWritesToAPeerOfAnUnreliableConnection(Type type) throws VerbsException {
        pair.close();
        use(Pair.unreliable());
        var window = newWindow(type);
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 8)));

        left.post(
                left.queuePair()
                        .prepareWrite(left.region().slice(0, 64), window.remote())
                        .immediate(7));

        assertThat(right.next().immediate()).hasValue(7);
        assertThat(bytes(0, 64)).containsOnly(OWN);
        assertThat(bytes(64, BYTES - 64)).containsOnly(CANARY);
    }

    @Test
    void shouldStartItsAddressesAtZeroIfItIsZeroBased() throws VerbsException {
        var window = right.domain().newType2Window();
        var bind = bind(window, REMOTE_WRITE, ZERO_BASED).range(4096, 128);
        assertThat(right.complete(bind).isSuccess()).isTrue();

        assertThat(window.remote().address()).isZero();
        assertThat(left.complete(write(window.remote().at(64))).isSuccess()).isTrue();

        assertThat(bytes(4160, 64)).containsOnly(OWN);
        assertThat(bytes(0, 4160)).containsOnly(CANARY);
        assertThat(bytes(4224, BYTES - 4224)).containsOnly(CANARY);
    }

    @Test
    void shouldGrantAccessToAPeerThatReceivesAMessageAfterTheBind() throws VerbsException {
        var window = right.domain().newType2Window();
        left.post(left.queuePair().prepareReceive(left.region().slice(100, RemoteMemory.BYTES)));

        right.post(bind(window, REMOTE_WRITE).signaled(false));
        right.region().segment().asByteBuffer().put(window.remote().toBytes());
        right.post(
                right.queuePair()
                        .prepareSend(right.region().slice(0, RemoteMemory.BYTES))
                        .signaled(false));

        assertThat(left.next().kind()).isEqualTo(CompletionKind.RECEIVE);
        var description = RemoteMemory.from(left.region().segment().asByteBuffer().position(100));
        assertThat(description).isEqualTo(window.remote());
        assertThat(left.complete(write(description)).isSuccess()).isTrue();
        assertThat(bytes(0, 64)).containsOnly(OWN);
    }

    // ---- invalidation

    @Test
    void shouldChangeTheKeyOfATypeOneWindowWithEachBindAndRejectTheFormerKey()
            throws VerbsException {
        var window = right.domain().newType1Window();
        var bind = bind(window, REMOTE_WRITE);
        assertThat(right.complete(bind).isSuccess()).isTrue();
        var former = window.remote();

        assertThat(right.complete(bind).isSuccess()).isTrue();

        assertThat(window.key()).isNotEqualTo(former.key());
        assertThat(left.complete(write(window.remote())).isSuccess()).isTrue();
        region.segment().fill((byte) CANARY);
        assertRefused(FailureCase.WRITE_WITH_FORMER_KEY_OF_WINDOW, former);
    }

    @Test
    void shouldRevokeAccessByABindOfZeroBytes() throws VerbsException {
        var window = right.domain().newType1Window();
        var bind = bind(window, REMOTE_WRITE);
        assertThat(right.complete(bind).isSuccess()).isTrue();
        var former = window.remote();

        assertThat(right.complete(bind.range(0, 0)).isSuccess()).isTrue();

        assertThatThrownBy(window::remote)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not bound");
        assertRefused(
                FailureCase.WRITE_WITH_FORMER_KEY_OF_WINDOW,
                new RemoteMemory(former.address(), window.key(), former.length()));
    }

    @Test
    void shouldRevokeAccessByALocalInvalidation() throws VerbsException {
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        var former = window.remote();

        var invalidated = right.complete(right.queuePair().prepareInvalidate(window));

        assertThat(invalidated.isSuccess()).isTrue();
        assertThat(invalidated.kind()).isEqualTo(CompletionKind.INVALIDATE);
        assertThatThrownBy(window::remote).isInstanceOf(IllegalStateException.class);
        assertRefused(FailureCase.WRITE_WITH_FORMER_KEY_OF_WINDOW, former);
    }

    @Test
    void shouldRevokeAccessByAnInvalidatingMessage() throws VerbsException {
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        var former = window.remote();
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));

        var sent =
                left.complete(
                        left.queuePair()
                                .prepareSend(left.region().slice(0, 100))
                                .invalidating(former));

        assertThat(sent.isSuccess()).isTrue();
        assertThat(sent.kind()).isEqualTo(CompletionKind.SEND);
        assertThat(sent.invalidatedKey()).isEmpty();
        assertThat(right.next().kind()).isEqualTo(CompletionKind.RECEIVE);
        assertThat(right.bytes(0, 100)).containsOnly(OWN);
        assertRefused(FailureCase.WRITE_WITH_FORMER_KEY_OF_WINDOW, former);
    }

    @Test
    void shouldReportTheKeyThatAMessageInvalidated() throws VerbsException {
        underTest().needs(Feature.REPORTING_INVALIDATION);
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));
        var send = left.queuePair().prepareSend(left.region().slice(0, 100));

        left.post(send.invalidating(window.remote()).signaled(false));

        var received = right.next();
        assertThat(received.invalidatedKey()).hasValue(window.key());
        assertThat(received.immediate()).isEmpty();
        assertThat(right.cursor().hasInvalidated()).isTrue();
        assertThat(right.cursor().invalidatedKey()).isEqualTo(window.key());
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));
        left.post(send.immediate(7));
        assertThat(right.next().invalidatedKey()).isEmpty();
        assertThat(right.cursor().hasInvalidated()).isFalse();
    }

    @Test
    void shouldRevokeAccessByALongInvalidatingMessage() throws VerbsException {
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        var bytes = 20_000;
        right.post(right.queuePair().prepareReceive(right.region().slice(0, bytes)));

        left.post(
                left.queuePair()
                        .prepareSend(left.region().slice(0, bytes))
                        .invalidating(window.remote())
                        .signaled(false));

        var received = right.next();
        assertThat(received.bytes()).isEqualTo(bytes);
        assertThat(right.bytes(0, bytes)).containsOnly(OWN);
        assertRefused(FailureCase.WRITE_WITH_FORMER_KEY_OF_WINDOW, window.remote());
    }

    @Test
    void shouldChangeTheKeyOfATypeTwoWindowWithEachBind() throws VerbsException {
        var window = right.domain().newType2Window();
        var bind = bind(window, REMOTE_WRITE).signaled(false);
        var invalidate = right.queuePair().prepareInvalidate(window);
        var former = window.key();
        // The loop makes more binds than the window has different keys.
        for (var i = 0; i < 300; i++) {
            right.post(bind.range(i, 64));
            assertThat(window.key()).isNotEqualTo(former);
            former = window.key();
            assertThat(right.complete(invalidate).isSuccess()).isTrue();
        }
        assertThat(right.complete(bind.range(4096, 64).signaled(true)).isSuccess()).isTrue();

        assertThat(left.complete(write(window.remote())).isSuccess()).isTrue();

        assertThat(bytes(4096, 64)).containsOnly(OWN);
        assertThat(bytes(0, 4096)).containsOnly(CANARY);
    }

    @Test
    void shouldBindAndInvalidateInOneChain() throws VerbsException {
        var window = right.domain().newType2Window();
        var chain =
                right.queuePair()
                        .prepareChain(
                                bind(window, REMOTE_WRITE).id(1),
                                right.queuePair().prepareInvalidate(window).id(2));

        assertThat(chain.tryPost()).isTrue();
        assertThat(chain.tryPost()).isTrue();

        assertThat(right.take(4))
                .allSatisfy(each -> assertThat(each.completion().isSuccess()).isTrue())
                .extracting(Side.Numbered::id)
                .containsExactly(1L, 2L, 1L, 2L);
    }

    @ParameterizedTest
    @EnumSource
    void shouldRevokeAccessWhenTheWindowIsClosed(Type type) throws VerbsException {
        var window = newWindow(type);
        var bind = bind(window, REMOTE_WRITE);
        assertThat(right.complete(bind).isSuccess()).isTrue();
        var former = window.remote();

        window.close();

        assertRefused(FailureCase.WRITE_WITH_FORMER_KEY_OF_WINDOW, former);
        assertThatThrownBy(bind::tryPost)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(window.toString());
    }

    @ParameterizedTest
    @EnumSource
    void shouldCloseBeforeTheRegionThatItIsBoundTo(Type type) throws VerbsException {
        var window = newWindow(type);
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        var former = window.remote();

        region.close();

        assertThat(window.isOpen()).isFalse();
        assertRefused(FailureCase.WRITE_WITH_FORMER_KEY_OF_WINDOW, former);
        arena.close();
        assertThat(region.segment().scope().isAlive())
                .as("the scope of the memory, which remains alive if a window uses the region")
                .isFalse();
    }

    @Test
    void shouldCloseWithTheQueuePairThatBoundItIfItIsOfTypeTwo() throws VerbsException {
        var typeTwo = right.domain().newType2Window();
        var typeOne = right.domain().newType1Window();
        assertThat(right.complete(bind(typeTwo, REMOTE_WRITE)).isSuccess()).isTrue();
        assertThat(right.complete(bind(typeOne, REMOTE_WRITE)).isSuccess()).isTrue();

        right.queuePair().close();

        assertThat(typeTwo.isOpen()).isFalse();
        assertThat(typeOne.isOpen()).isTrue();
    }

    // ---- access beyond a window

    @Test
    void shouldRejectAccessBeyondItsRange() throws VerbsException {
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_WRITE).range(4096, 64)).isSuccess()).isTrue();
        var target = window.remote();

        var completion =
                left.complete(write(new RemoteMemory(target.address() + 16, target.key(), 64)));

        assertStatus(FailureCase.WRITE_BEYOND_WINDOW, completion);
        if (!completion.isSuccess()) {
            assertThat(bytes(0, BYTES)).containsOnly(CANARY);
        }
    }

    @Test
    void shouldRejectAccessWithoutTheRight() throws VerbsException {
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_READ)).isSuccess()).isTrue();

        assertRefused(FailureCase.WRITE_WITHOUT_RIGHT_OF_WINDOW, window.remote());
    }

    @Test
    void shouldGrantAccessOnlyToThePeerOfItsQueuePairIfItIsOfTypeTwo() throws VerbsException {
        var window = right.domain().newType2Window();
        var selfConnected = connectedToItself();
        right.post(selfConnected.prepareBind(window, region, REMOTE_WRITE));
        assertThat(right.next().isSuccess()).isTrue();

        assertRefused(FailureCase.WRITE_THROUGH_WINDOW_OF_ANOTHER_QUEUE_PAIR, window.remote());
    }

    @Test
    void shouldGrantAccessToAllPeersOfItsDomainIfItIsOfTypeOne() throws VerbsException {
        var window = right.domain().newType1Window();
        var selfConnected = connectedToItself();
        right.post(selfConnected.prepareBind(window, region, REMOTE_WRITE));
        assertThat(right.next().isSuccess()).isTrue();

        assertThat(left.complete(write(window.remote())).isSuccess()).isTrue();

        assertThat(bytes(0, 64)).containsOnly(OWN);
    }

    // ---- rejections by the device

    @ParameterizedTest
    @EnumSource
    void shouldRejectABindToARegionWithoutTheBindRight(Type type) throws VerbsException {
        var withoutBind = right.domain().newArena(LOCAL_WRITE, REMOTE_WRITE).region(64);

        assertBindFails(
                FailureCase.BIND_TO_REGION_WITHOUT_RIGHT,
                right.queuePair().prepareBind(newWindow(type), withoutBind, REMOTE_WRITE));
    }

    @Test
    void shouldRejectRemoteWriteToMemoryWithoutLocalWrite() throws VerbsException {
        var readOnly = right.domain().newArena(MEMORY_WINDOW_BIND).region(64);

        assertBindFails(
                FailureCase.BIND_FOR_WRITES_WITHOUT_LOCAL_WRITE,
                right.queuePair()
                        .prepareBind(right.domain().newType2Window(), readOnly, REMOTE_WRITE));
    }

    @Test
    void shouldRefuseToBindAWindowOfTypeTwoThatIsBound() throws VerbsException {
        var bind = bind(right.domain().newType2Window(), REMOTE_WRITE);
        assertThat(right.complete(bind).isSuccess()).isTrue();

        assertBindFails(FailureCase.BIND_OF_BOUND_WINDOW, bind);
    }

    @Test
    void shouldRefuseToBindAWindowOfTypeTwoToNoBytes() throws VerbsException {
        assertBindFails(
                FailureCase.BIND_OF_NO_BYTES,
                bind(right.domain().newType2Window(), REMOTE_WRITE).range(0, 0));
    }

    @Test
    void shouldFailTheReceiverOfAMessageThatInvalidatesAnUnknownKey() throws VerbsException {
        assertInvalidationFails(new RemoteMemory(0, right.region().remoteKey() ^ 0x5500, 8));
    }

    @Test
    void shouldFailTheReceiverOfAMessageThatInvalidatesARegion() throws VerbsException {
        assertInvalidationFails(right.region().remote());
    }

    private void assertInvalidationFails(RemoteMemory wrong) throws VerbsException {
        right.post(right.queuePair().prepareReceive(right.region().slice(0, 100)));

        var sent =
                left.complete(
                        left.queuePair()
                                .prepareSend(left.region().slice(0, 8))
                                .invalidating(wrong));

        assertStatus(FailureCase.INVALIDATION_OF_WRONG_KEY_AT_SENDER, sent);
        assertStatus(FailureCase.INVALIDATION_OF_WRONG_KEY_AT_RECEIVER, right.next());
        assertThat(right.queuePair().query().state()).isEqualTo(QueuePairState.ERROR);
    }

    // ---- rejections by the SDK, before the device is called

    @Test
    void shouldRejectAChainThatInvalidatesAnUnboundWindow() throws VerbsException {
        var window = right.domain().newType2Window();
        var unbound = right.queuePair().prepareInvalidate(window);
        var send = right.queuePair().prepareSend(right.region().slice(0, 8));

        assertNotBound(right.queuePair().prepareChain(send, unbound));
        assertThatThrownBy(window::remote).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void shouldRejectAChainThatInvalidatesAWindowTwice() throws VerbsException {
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        var bound = window.remote();

        assertNotBound(
                right.queuePair()
                        .prepareChain(
                                right.queuePair().prepareInvalidate(window),
                                bind(right.domain().newType2Window(), REMOTE_WRITE),
                                right.queuePair().prepareInvalidate(window)));

        assertThat(window.remote()).isEqualTo(bound);
        assertThat(left.complete(write(bound)).isSuccess()).isTrue();
    }

    @Test
    void shouldInvalidateAndBindAndInvalidateInOneChain() throws VerbsException {
        var window = right.domain().newType2Window();
        assertThat(right.complete(bind(window, REMOTE_WRITE)).isSuccess()).isTrue();
        var chain =
                right.queuePair()
                        .prepareChain(
                                right.queuePair().prepareInvalidate(window),
                                bind(window, REMOTE_WRITE),
                                right.queuePair().prepareInvalidate(window));

        assertThat(chain.tryPost()).isTrue();

        assertThat(right.take(3))
                .allSatisfy(each -> assertThat(each.completion().isSuccess()).isTrue());
        assertNotBound(chain);
    }

    /** Checks that a chain is rejected, and that the queue pair can still be used. */
    private void assertNotBound(PreparedRequest.Chain chain) throws VerbsException {
        assertThatThrownBy(chain::tryPost)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("is not bound");
        assertThat(right.queuePair().query().state()).isEqualTo(QueuePairState.READY_TO_SEND);
    }

    @Test
    void shouldRefuseToBindAcrossDomains() throws VerbsException {
        var foreignWindow = left.domain().newType2Window();
        var window = right.domain().newType2Window();

        assertThatThrownBy(() -> right.queuePair().prepareBind(foreignWindow, region, REMOTE_READ))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(left.domain().toString());
        assertThatThrownBy(() -> left.queuePair().prepareBind(window, region, REMOTE_READ))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> right.queuePair().prepareBind(window, left.region(), REMOTE_READ))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRejectAddressesOutsideTheRegion() throws VerbsException {
        var bind = bind(right.domain().newType2Window(), REMOTE_READ);

        assertThatThrownBy(() -> bind.range(BYTES - 8, 9))
                .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> bind.range(-1, 8)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldRejectTheInvalidationOfAnUnboundWindow() throws VerbsException {
        var window = right.domain().newType2Window();
        var invalidate = right.queuePair().prepareInvalidate(window);

        assertThatThrownBy(invalidate::tryPost)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("not bound");
        assertThat(right.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
    }

    @Test
    void shouldRejectMemoryForOperationsWithoutData() throws VerbsException {
        var window = right.domain().newType2Window();
        var piece = right.region().slice(0, 8);

        assertThatThrownBy(() -> bind(window, REMOTE_READ).local(piece))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("BIND transfers no local memory");
        assertThatThrownBy(() -> right.queuePair().prepareInvalidate(window).local(piece))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldRejectInvalidChainsOfBinds() throws VerbsException {
        var window = right.domain().newType2Window();
        var send = right.queuePair().prepareSend(right.region().slice(0, 8));

        assertThatThrownBy(() ->
                        right.queuePair()
                                .prepareChain(
                                        bind(right.domain().newType1Window(), REMOTE_READ), send))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("type 1");
        assertThatThrownBy(() ->
                        right.queuePair()
                                .prepareChain(bind(window, REMOTE_READ), bind(window, REMOTE_READ)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("only once");
        right.post(send.signaled(false)); // The request is not part of a chain.
    }

    @Test
    void shouldRejectInvalidationOverAnUnreliableConnection() throws VerbsException {
        pair.close();
        use(Pair.unreliable());
        var window = right.domain().newType2Window();
        var send = left.queuePair().prepareSend(left.region().slice(0, 8));

        assertThatThrownBy(() -> right.queuePair().prepareInvalidate(window))
                .isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> send.invalidating(new RemoteMemory(0, 1, 8)))
                .isInstanceOf(UnsupportedOperationException.class);
    }

    @Test
    void shouldRejectReregistrationOfARegionWithABoundWindow() throws VerbsException {
        underTest().needs(Feature.REREGISTRATION);
        assertThat(right.complete(bind(right.domain().newType2Window(), REMOTE_WRITE)).isSuccess())
                .isTrue();

        assertThatThrownBy(() -> region.reregister(LOCAL_WRITE))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("EBUSY");

        assertThat(region.isOpen()).isTrue();
    }

    // ---- async operations

    @ParameterizedTest
    @EnumSource
    void shouldBindByAnAsyncOperation(Type type) throws Exception {
        try (var asyncPair = AsyncPair.connected()) {
            var target = asyncPair.domain().newArena(LOCAL_WRITE, MEMORY_WINDOW_BIND).region(BYTES);
            var window =
                    type == Type.ONE
                            ? asyncPair.domain().newType1Window()
                            : asyncPair.domain().newType2Window();
            asyncPair.here().segment().fill((byte) OWN);

            var bound =
                    asyncPair
                            .right()
                            .bind(window, target, 4096, 64, REMOTE_WRITE)
                            .await(AsyncPair.TIMEOUT);

            assertThat(bound.kind()).isEqualTo(CompletionKind.BIND);
            asyncPair
                    .left()
                    .write(asyncPair.here().slice(0, 64), window.remote())
                    .await(AsyncPair.TIMEOUT);
            assertThat(target.segment().asSlice(4096, 64).toArray(ValueLayout.JAVA_BYTE))
                    .containsOnly(OWN);
        }
    }

    @Test
    void shouldInvalidateByAsyncOperations() throws Exception {
        try (var asyncPair = AsyncPair.connected()) {
            var target = asyncPair.domain().newArena(LOCAL_WRITE, MEMORY_WINDOW_BIND).region(BYTES);
            var window = asyncPair.domain().newType2Window();
            asyncPair.right().bind(window, target, REMOTE_WRITE).await(AsyncPair.TIMEOUT);

            var invalidated = asyncPair.right().invalidate(window).await(AsyncPair.TIMEOUT);

            assertThat(invalidated.kind()).isEqualTo(CompletionKind.INVALIDATE);
            assertThatThrownBy(() -> asyncPair.right().invalidate(window))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("not bound");
            var received = asyncPair.right().receive(asyncPair.there().slice());
            // The bind after this send must not contain the immediate data of the send.
            asyncPair.right().sendWithImmediate(asyncPair.there().slice(0, 8), 7);
            asyncPair.left().receive(asyncPair.here().slice()).await(AsyncPair.TIMEOUT);
            asyncPair.right().bind(window, target, REMOTE_WRITE).await(AsyncPair.TIMEOUT);
            asyncPair
                    .left()
                    .sendInvalidating(asyncPair.here().slice(0, 8), window.remote())
                    .await(AsyncPair.TIMEOUT);
            received.await(AsyncPair.TIMEOUT);
            assertThat(
                            asyncPair
                                    .left()
                                    .write(asyncPair.here().slice(0, 8), window.remote())
                                    .awaitCompletion(AsyncPair.TIMEOUT)
                                    .status())
                    .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR);
        }
    }

    // ---- helpers

    private MemoryWindow newWindow(Type type) throws VerbsException {
        return type == Type.ONE ? right.domain().newType1Window() : right.domain().newType2Window();
    }

    private PreparedBind bind(MemoryWindow window, Access... rights) {
        return right.queuePair().prepareBind(window, region, rights);
    }

    /** Creates a queue pair on the right side that is connected to itself, not to the left side. */
    private PolledQueuePair connectedToItself() throws VerbsException {
        var selfConnected =
                right.domain()
                        .newQueuePair(QueuePairOptions.reliable(right.completions()).sends(4));
        selfConnected.connect(selfConnected.endpoint());
        return selfConnected;
    }

    private PreparedRequest<?> write(RemoteMemory remote) {
        return left.queuePair().prepareWrite(left.region().slice(0, 64), remote);
    }

    private byte[] bytes(long offset, long length) {
        return region.segment().asSlice(offset, length).toArray(ValueLayout.JAVA_BYTE);
    }

    private void assertRefused(FailureCase failure, RemoteMemory remote) throws VerbsException {
        assertStatus(failure, left.complete(write(remote)));
        assertThat(bytes(0, BYTES)).containsOnly(CANARY);
    }

    private void assertBindFails(FailureCase failure, PreparedBind bind) throws VerbsException {
        assertStatus(failure, right.complete(bind));
        assertThat(right.queuePair().query().state()).isEqualTo(QueuePairState.ERROR);
    }

    private void assertStatus(FailureCase failure, Completion completion) {
        assertThat(completion.status())
                .as("%s, %s", failure, profile)
                .isEqualTo(profile.statusOf(failure));
    }
}
