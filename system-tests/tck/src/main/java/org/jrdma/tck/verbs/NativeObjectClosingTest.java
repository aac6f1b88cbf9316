package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.verbs.model.Access.LOCAL_WRITE;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.Device;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the lifetime of native objects: close by the owner, repeated close, use after close, and
 * use by a wrong thread.
 */
class NativeObjectClosingTest {

    private Device device;

    @BeforeEach
    void open() throws VerbsException {
        device = Fabric.underTest().open();
    }

    @AfterEach
    void close() {
        device.close();
    }

    @Test
    void shouldCloseTheObjectsOfTheDevice() throws VerbsException {
        var domain = device.newProtectionDomain();
        var arena = domain.newArena(LOCAL_WRITE);
        var region = arena.region(64);
        var buffer = domain.register(ByteBuffer.allocateDirect(64), LOCAL_WRITE);
        var completions = device.newCompletionQueue(16);
        var queuePair = domain.newReliableQueuePair(completions);

        device.close();

        assertThat(new NativeObject[] {domain, arena, region, buffer, completions, queuePair})
                .noneMatch(NativeObject::isOpen);
    }

    @Test
    void shouldCloseQueuePairsWithTheirCompletionQueueAndKeepTheDomain() throws VerbsException {
        var domain = device.newProtectionDomain();
        var sendCompletions = device.newCompletionQueue(16);
        var receiveCompletions = device.newCompletionQueue(16);
        var queuePair =
                domain.newQueuePair(QueuePairOptions.reliable(sendCompletions, receiveCompletions));

        receiveCompletions.close();

        assertThat(queuePair.isOpen()).isFalse();
        assertThat(sendCompletions.isOpen()).isTrue();
        assertThat(sendCompletions.remainingCapacity()).isEqualTo(16);
        assertThat(domain.isOpen()).isTrue();
    }

    @Test
    void shouldCloseTheObjectsOfTheDomainAndKeepTheCompletionQueue() throws VerbsException {
        var domain = device.newProtectionDomain();
        var arena = domain.newArena(LOCAL_WRITE);
        var region = arena.region(64);
        var completions = device.newCompletionQueue(16);
        var queuePair = domain.newReliableQueuePair(completions);

        domain.close();

        assertThat(new NativeObject[] {arena, region, queuePair}).noneMatch(NativeObject::isOpen);
        assertThat(completions.isOpen()).isTrue();
        assertThat(completions.remainingCapacity()).isEqualTo(16);
    }

    @Test
    void shouldCloseTwice() throws VerbsException {
        var domain = device.newProtectionDomain();
        var region = domain.newArena(LOCAL_WRITE).region(64);
        var completions = device.newCompletionQueue(16);
        var queuePair = domain.newReliableQueuePair(completions);
        for (var object : new NativeObject[] {queuePair, region, completions, domain, device}) {
            object.close();
            object.close();
            assertThat(object.isOpen()).isFalse();
        }
    }

    @Test
    void shouldRefuseADeviceThatIsClosed() {
        device.close();

        assertClosed(device, device::attributes);
        assertClosed(device, device::extendedAttributes);
        assertClosed(device, () -> device.port(1));
        assertClosed(device, () -> device.gids(1));
        assertClosed(device, () -> device.chooseGid(1));
        assertClosed(device, () -> device.partitionKeys(1));
        assertClosed(device, device::completionVectors);
        assertClosed(device, device::newProtectionDomain);
        assertClosed(device, () -> device.newCompletionQueue(4));
        assertClosed(device, () -> device.newCompletionDispatcher(4));
        assertClosed(device, () -> device.nextEvent(Duration.ofSeconds(5)));
        assertClosed(device, device::address);
    }

    @Test
    void shouldRefuseADomainThatIsClosed() throws VerbsException {
        var completions = device.newCompletionQueue(16);
        var domain = device.newProtectionDomain();
        domain.close();

        assertClosed(domain, () -> domain.newArena(LOCAL_WRITE));
        assertClosed(domain, () -> domain.register(ByteBuffer.allocateDirect(64), LOCAL_WRITE));
        assertClosed(domain, () -> domain.newReliableQueuePair(completions));
        assertClosed(domain, domain::address);
    }

    @Test
    void shouldRefuseACompletionQueueThatIsClosed() throws VerbsException {
        var domain = device.newProtectionDomain();
        var completions = device.newCompletionQueue(16);
        var options = QueuePairOptions.reliable(completions);
        var cursor = completions.newCursor(4);
        completions.close();

        assertClosed(completions, cursor::poll);
        assertClosed(completions, () -> completions.resize(32));
        assertClosed(completions, () -> domain.newQueuePair(options));
        cursor.close();
        assertThatThrownBy(cursor::poll)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
    }

    @Test
    void shouldRefuseACursorThatIsClosed() throws VerbsException {
        try (var pair = Pair.connected()) {
            var side = pair.left();
            var cursor = side.cursor();
            side.post(side.queuePair().prepareReceive(side.region().slice(0, 8)));
            side.queuePair().modify(QueuePairChange.to(QueuePairState.ERROR));
            while (cursor.poll() == 0) {
                Thread.onSpinWait();
            }
            assertThat(cursor.next()).isTrue();

            cursor.close();

            assertThatThrownBy(cursor::id).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(cursor::next)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
        }
    }

    @Test
    void shouldRefuseAQueuePairThatIsClosedBeforeItWasConnected() throws VerbsException {
        try (var pair = Pair.unconnected()) {
            var side = pair.left();
            var queuePair = side.queuePair();
            var send = queuePair.prepareSend(side.region().slice(0, 8));
            var receive = queuePair.prepareReceive(side.region().slice(0, 8));
            queuePair.close();

            assertClosed(queuePair, send::tryPost);
            assertClosed(queuePair, receive::tryPost);
        }
    }

    @Test
    void shouldRefuseAQueuePairThatIsClosed() throws VerbsException {
        try (var pair = Pair.connected()) {
            var side = pair.left();
            var queuePair = side.queuePair();
            var send = queuePair.prepareSend(side.region().slice(0, 8));
            var receive = queuePair.prepareReceive(side.region().slice(0, 8));
            var endpoint = pair.right().queuePair().endpoint();
            queuePair.close();

            assertClosed(queuePair, send::tryPost);
            assertClosed(queuePair, receive::tryPost);
            assertClosed(queuePair, queuePair::query);
            assertClosed(
                    queuePair, () -> queuePair.modify(QueuePairChange.to(QueuePairState.ERROR)));
            assertClosed(queuePair, () -> queuePair.drain(side.cursor(), Duration.ZERO, c -> {}));
            assertThatThrownBy(() -> queuePair.connect(endpoint)).isInstanceOf(Exception.class);
            assertThat(side.cursor().poll()).isZero();
        }
    }

    @Test
    void shouldRefuseAnAsyncQueuePairThatIsClosed() throws VerbsException {
        try (var pair = AsyncPair.connected()) {
            pair.left().close();
            var piece = pair.here().slice(0, 8);

            assertClosed(pair.left(), () -> pair.left().send(piece));
            assertClosed(pair.left(), () -> pair.left().receive(piece));
            assertClosed(pair.left(), () -> pair.left().write(piece, pair.there().remote()));
            assertClosed(pair.left(), () -> pair.left().drain(Duration.ofSeconds(1)));
        }
    }

    @Test
    void shouldRefuseToPostARegionThatIsClosed() throws VerbsException {
        try (var pair = Pair.connected()) {
            var side = pair.left();
            var region = side.domain().newArena(Pair.ALL).region(64);
            var send = side.queuePair().prepareSend(region.slice());
            var chain =
                    side.queuePair()
                            .prepareChain(
                                    side.queuePair().prepareSend(side.region().slice(0, 8)),
                                    side.queuePair().prepareSend(region.slice()));
            region.close();

            assertClosed(region, send::tryPost);
            assertThatThrownBy(chain::tryPost)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("closed");
            assertThat(side.queuePair().freeSends()).isEqualTo(Pair.REQUESTS);
        }
    }

    @Test
    void shouldSkipCompletionsOfAClosedQueuePair() throws VerbsException {
        try (var pair = Pair.connected()) {
            var side = pair.left();
            side.post(
                    side.queuePair()
                            .prepareWrite(
                                    side.region().slice(0, 8), pair.right().region().remote()));
            side.queuePair().close();

            side.cursor().poll();

            assertThat(side.cursor().next()).isFalse();
        }
    }

    @Test
    void shouldConfinePreparedRequestsAndCursorsToTheirThread() throws Exception {
        try (var pair = Pair.unconnected()) {
            var side = pair.left();
            var send = side.queuePair().prepareSend(side.region().slice(0, 8));
            var receive = side.queuePair().prepareReceive(side.region().slice(0, 8));

            assertWrongThread(send::tryPost);
            assertWrongThread(() -> send.id(4));
            assertWrongThread(() -> send.signaled(false));
            assertWrongThread(receive::tryPost);
            assertWrongThread(() -> side.queuePair().prepareSend(side.region().slice(0, 8)));
            assertWrongThread(() -> side.queuePair().prepareReceive(side.region().slice(0, 8)));
            assertWrongThread(side.cursor()::poll);
            assertWrongThread(side.cursor()::next);
            assertWrongThread(side.cursor()::close);
        }
    }

    @Test
    void shouldLetAnotherThreadPrepareRequestsAfterTheFirstThreadEnded() throws Exception {
        try (var pair = Pair.unconnected()) {
            var side = pair.left();
            var first =
                    Thread.ofPlatform()
                            .start(() -> side.queuePair().prepareSend(side.region().slice(0, 8)));
            first.join();

            assertThat(side.queuePair().prepareSend(side.region().slice(0, 8)).id()).isZero();
        }
    }

    @Test
    void shouldRefuseToMixDevices() throws VerbsException {
        try (var other = Fabric.underTest().open();
                var completions = other.newCompletionQueue(16);
                var domain = device.newProtectionDomain()) {
            assertThatThrownBy(() -> domain.newReliableQueuePair(completions))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("must belong to the same device");
            assertThat(completions.remainingCapacity()).isEqualTo(16);
        }
    }

    private static void assertClosed(NativeObject object, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(object.toString())
                .hasMessageContaining("closed");
    }

    private static void assertWrongThread(ThrowingCallable call) throws Exception {
        var failure = new CompletableFuture<Throwable>();
        Thread.ofPlatform()
                .start(() -> {
                    try {
                        call.call();
                        failure.complete(new AssertionError("The call did not throw."));
                    } catch (Throwable e) {
                        failure.complete(e);
                    }
                });
        assertThat(failure.get(10, TimeUnit.SECONDS)).isInstanceOf(WrongThreadException.class);
    }
}
