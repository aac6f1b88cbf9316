package org.jrdma.tck.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.jrdma.tck.verbs.AsyncPair.TIMEOUT;

import java.io.InterruptedIOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.verbs.QueuePairOptions;
import org.jrdma.verbs.Transfer;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.TransferException;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests the operations of {@code AsyncQueuePair}. */
class AsyncOperationsTest {

    private AsyncPair pair;

    @BeforeEach
    void open() throws VerbsException {
        pair = AsyncPair.connected();
        pair.here().segment().fill((byte) 1);
        pair.there().segment().fill((byte) 2);
    }

    @AfterEach
    void close() {
        if (pair != null) {
            pair.close();
        }
    }

    @Test
    void shouldSendAndReceive() throws Exception {
        var plain = pair.right().receive(pair.there().slice(0, 100));
        var withData = pair.right().receive(pair.there().slice(100, 100));

        assertThat(pair.left().send(pair.here().slice(0, 10)).await(TIMEOUT).kind())
                .isEqualTo(CompletionKind.SEND);
        pair.left().sendWithImmediate(pair.here().slice(0, 20), 42).await(TIMEOUT);

        assertThat(plain.await(TIMEOUT).bytes()).isEqualTo(10);
        assertThat(plain.await(TIMEOUT).immediate()).isEmpty();
        assertThat(withData.await(TIMEOUT).bytes()).isEqualTo(20);
        assertThat(withData.await(TIMEOUT).immediate()).hasValue(42);
        assertThat(withData.isCompleted()).isTrue();
    }

    @Test
    void shouldWriteReadAndNotifyThePeer() throws Exception {
        var notified = pair.right().receive(List.of());

        pair.left().write(pair.here().slice(0, 10), pair.there().remote()).await(TIMEOUT);
        pair.left()
                .writeWithImmediate(pair.here().slice(0, 10), pair.there().remote().at(10), 7)
                .await(TIMEOUT);
        pair.left().read(pair.here().slice(100, 30), pair.there().remote()).await(TIMEOUT);

        assertThat(notified.await(TIMEOUT).kind())
                .isEqualTo(CompletionKind.RECEIVE_WRITE_WITH_IMMEDIATE);
        assertThat(notified.await(TIMEOUT).immediate()).hasValue(7);
        var read = pair.here().segment().asSlice(100, 30).toArray(ValueLayout.JAVA_BYTE);
        assertThat(read).startsWith(Side.times(20, 1)).endsWith(Side.times(10, 2));
    }

    @Test
    void shouldRunAtomics() throws Exception {
        var result = pair.here().slice(8, 8);
        var word = pair.there().remote().at(16);
        pair.there().segment().set(ValueLayout.JAVA_LONG, 16, 5);

        pair.left().fetchAndAdd(result, word, 3).await(TIMEOUT);
        assertThat(pair.here().readLongAcquire(8)).isEqualTo(5);
        pair.left().compareAndSwap(result, word, 8, -1).await(TIMEOUT);
        assertThat(pair.here().readLongAcquire(8)).isEqualTo(8);
        assertThat(pair.there().readLongAcquire(16)).isEqualTo(-1);
    }

    @Test
    void shouldRefuseAnUnalignedAtomicBeforeItIsPosted() {
        var unaligned = pair.there().remote().at(4);

        assertThatThrownBy(() -> pair.left().fetchAndAdd(pair.here().slice(0, 8), unaligned, 1))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> pair.left().write(pair.here().slice(0, 8), unaligned.slice(0, 7)))
                .isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Test
    void shouldCompleteAFutureOnSuccessAndOnFailure() throws Exception {
        var future = pair.left().write(pair.here().slice(0, 10), pair.there().remote()).future();
        assertThat(future.get(10, TimeUnit.SECONDS).isSuccess()).isTrue();

        var failing = pair.left().write(pair.here().slice(0, 10), memoryWithWrongKey()).future();
        assertThat(failing.get(10, TimeUnit.SECONDS).status())
                .isEqualTo(Fabric.underTest().profile().statusOf(FailureCase.WRITE_WITH_WRONG_KEY));
    }

    @Test
    void shouldDescribeTheFailureOfATransfer() throws Exception {
        var transfer = pair.left().write(pair.here().slice(0, 10), memoryWithWrongKey());

        assertThatThrownBy(() -> transfer.await(TIMEOUT))
                .isInstanceOfSatisfying(
                        TransferException.class,
                        e ->
                                assertThat(e.completion().status())
                                        .isEqualTo(CompletionStatus.REMOTE_ACCESS_ERROR))
                .hasMessageContaining("WRITE on " + pair.left())
                .hasMessageContaining("REMOTE_ACCESS_ERROR")
                .hasMessageContaining(CompletionStatus.REMOTE_ACCESS_ERROR.meaning());
        assertThat(pair.left().query().state()).isEqualTo(QueuePairState.ERROR);
    }

    @Test
    void shouldLeaveATransferRunningWhenAWaitTimesOut() throws Exception {
        var received = pair.right().receive(pair.there().slice(0, 100));

        assertThatThrownBy(() -> received.await(Duration.ofMillis(30)))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining("RECEIVE")
                .hasMessageContaining(pair.right().toString());
        assertThat(received.isCompleted()).isFalse();
        assertThat(received.future().cancel(true)).isTrue();
        pair.left().send(pair.here().slice(0, 10)).await(TIMEOUT);

        assertThat(received.await(TIMEOUT).bytes()).isEqualTo(10);
    }

    @Test
    void shouldStopWaitingWhenInterruptedAndLeaveTheTransferRunning() throws Exception {
        var received = pair.right().receive(pair.there().slice(0, 100));
        var failure = new CompletableFuture<Throwable>();
        var waiter = startWaiting(received, failure);
        waiter.interrupt();

        assertThat(failure.get(10, TimeUnit.SECONDS)).isInstanceOf(InterruptedIOException.class);
        pair.left().send(pair.here().slice(0, 10)).await(TIMEOUT);
        assertThat(received.await(TIMEOUT).bytes()).isEqualTo(10);
    }

    @Test
    void shouldEndAWaitWhenTheQueuePairIsClosed() throws Exception {
        var failure = new CompletableFuture<Throwable>();
        startWaiting(pair.right().receive(pair.there().slice(0, 100)), failure);

        pair.right().close();

        assertThat(failure.get(10, TimeUnit.SECONDS))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(pair.right().toString())
                .hasMessageContaining("closed");
    }

    @Test
    void shouldEndAWaitWhenTheDispatcherIsClosed() throws Exception {
        var failure = new CompletableFuture<Throwable>();
        startWaiting(pair.right().receive(pair.there().slice(0, 100)), failure);

        pair.completions().close();

        assertThat(failure.get(10, TimeUnit.SECONDS)).isInstanceOf(IllegalStateException.class);
        assertThat(pair.left().isOpen()).isFalse();
        assertThat(pair.right().isOpen()).isFalse();
        assertThat(pair.domain().isOpen()).isTrue();
    }

    private static Thread startWaiting(Transfer transfer, CompletableFuture<Throwable> failure)
            throws InterruptedException {
        return BackgroundCalls.start(Thread.ofPlatform(), () -> transfer.await(TIMEOUT), failure);
    }

    @Test
    void shouldWaitForASlotForTheConfiguredTime() throws Exception {
        var received = new ArrayList<Transfer>();
        for (var count = 0; count < Pair.REQUESTS; count++) {
            received.add(pair.right().receive(pair.there().slice(0, 8)));
        }

        assertThatThrownBy(() -> pair.right().receive(pair.there().slice(0, 8)))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining("No free slot in the receive queue");

        pair.left().send(pair.here().slice(0, 8)).await(TIMEOUT);
        received.getFirst().await(TIMEOUT);
        assertThat(pair.right().receive(pair.there().slice(0, 8)).isCompleted()).isFalse();
    }

    @Test
    void shouldFlushEverythingWhenDrained() throws Exception {
        var first = pair.right().receive(pair.there().slice(0, 8));
        var second = pair.right().receive(pair.there().slice(0, 8));

        pair.right().drain(TIMEOUT);

        assertThat(first.isCompleted()).isTrue();
        assertThat(first.awaitCompletion(TIMEOUT).status()).isEqualTo(CompletionStatus.FLUSHED);
        assertThat(second.awaitCompletion(TIMEOUT).status()).isEqualTo(CompletionStatus.FLUSHED);
        assertThat(pair.right().state()).isEqualTo(QueuePairState.ERROR);
        pair.right().drain(Duration.ofSeconds(1));
    }

    @Test
    void shouldRefuseToPostInAWrongState() throws Exception {
        var unconnected =
                pair.domain()
                        .newQueuePair(
                                QueuePairOptions.reliable(pair.device().newCompletionDispatcher(4))
                                        .sends(1)
                                        .receives(1));

        assertThatThrownBy(() -> unconnected.send(pair.here().slice(0, 8)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("RESET")
                .hasMessageContaining("Connect or activate the queue pair first");
        assertThatThrownBy(() -> unconnected.receive(pair.here().slice(0, 8)))
                .isInstanceOf(VerbsException.class)
                .hasMessageContaining("INIT");
    }

    @Test
    void shouldCloseAfterMoreEventsThanOneBatchOfAcknowledgments() throws Exception {
        for (var round = 0; round < 200; round++) {
            pair.left().write(pair.here().slice(0, 8), pair.there().remote()).await(TIMEOUT);
        }

        CompletableFuture.runAsync(pair::close).get(10, TimeUnit.SECONDS);
    }

    @Test
    void shouldServeManyThreadsThatShareAQueuePair() throws Exception {
        var threads = new ArrayList<CompletableFuture<Integer>>();
        for (var number = 0; number < 8; number++) {
            var place = number * 8L;
            threads.add(
                    BackgroundCalls.call(
                            Thread.ofPlatform(),
                            () -> {
                                var rounds = 0;
                                for (; rounds < 25; rounds++) {
                                    pair.left()
                                            .fetchAndAdd(
                                                    pair.here().slice(place, 8),
                                                    pair.there().remote().at(1024),
                                                    1)
                                            .await(TIMEOUT);
                                }
                                return rounds;
                            }));
        }
        for (var thread : threads) {
            assertThat(thread.get(60, TimeUnit.SECONDS)).isEqualTo(25);
        }
        assertThat(pair.there().readLongAcquire(1024)).isEqualTo(0x0202020202020202L + 200);
    }

    private RemoteMemory memoryWithWrongKey() {
        return new RemoteMemory(
                pair.there().remote().address(), pair.there().remoteKey() ^ 0x5500, 100);
    }
}
