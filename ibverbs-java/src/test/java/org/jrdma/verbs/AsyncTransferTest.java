package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.CompletionStatus;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests transfers from the post to the completion, with a fake library that completes them
 * immediately.
 */
@Timeout(60)
class AsyncTransferTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    @Test
    void shouldCompleteWritesOfThousandsOfVirtualThreadsWithFewSlots() throws Exception {
        try (var device = Verbs.from(new FakeLibrary()).open(FakeLibrary.DEVICE);
                var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            var domain = device.newProtectionDomain();
            var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
            var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(device.newCompletionDispatcher(64))
                                    .sends(8)
                                    .slotTimeout(TIMEOUT));
            queuePair.connect(queuePair.endpoint());

            var writes = new ArrayList<Future<Completion>>();
            for (var i = 0; i < 3_000; i++) {
                Callable<Completion> write =
                        () -> queuePair.write(memory.slice(), memory.remote()).await(TIMEOUT);
                writes.add(executor.submit(write));
            }

            for (var write : writes) {
                assertThat(write.get().status()).isEqualTo(CompletionStatus.SUCCESS);
            }
            queuePair.drain(TIMEOUT);
        }
    }

    @Test
    void shouldNotLetABusyDispatcherStarveOthers() throws Exception {
        try (var busyDevice = Verbs.from(new FakeLibrary()).open(FakeLibrary.DEVICE);
                var device = Verbs.from(new FakeLibrary()).open(FakeLibrary.DEVICE)) {
            var stopped = new CompletableFuture<Void>();
            var started = new CountDownLatch(1);
            var busy = connected(busyDevice);
            var queuePair = connected(device);
            // The action runs on the thread that all dispatchers share. It posts another write for
            // each completion, so that its completion queue never becomes empty.
            var postAgain =
                    new Consumer<Completion>() {
                        @Override
                        public void accept(Completion completion) {
                            started.countDown();
                            if (!stopped.isDone()) {
                                var _ = write(busy).future(Runnable::run).thenAccept(this);
                            }
                        }
                    };
            var _ = write(busy).future(Runnable::run).thenAccept(postAgain);
            started.await();

            try {
                write(queuePair).await(TIMEOUT);
            } finally {
                stopped.complete(null);
            }

            busy.drain(TIMEOUT);
        }
    }

    private static AsyncQueuePair connected(Device device) throws VerbsException {
        var queuePair =
                device.newProtectionDomain()
                        .newQueuePair(
                                QueuePairOptions.reliable(device.newCompletionDispatcher(64)));
        queuePair.connect(queuePair.endpoint());
        return queuePair;
    }

    /** Posts a write of zero bytes. */
    private static Transfer write(AsyncQueuePair queuePair) {
        try {
            return queuePair.write(List.of(), new RemoteMemory(4096, 1, 1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void shouldWakeUpAWaitForATransferWhenItsQueuePairIsClosed() throws Exception {
        try (var device = Verbs.from(new FakeLibrary()).open(FakeLibrary.DEVICE)) {
            var domain = device.newProtectionDomain();
            var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
            var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(device.newCompletionDispatcher(64)));
            queuePair.connect(queuePair.endpoint());
            var receive = queuePair.receive(memory.slice());

            queuePair.close();

            assertThatIllegalStateException()
                    .isThrownBy(() -> receive.await(TIMEOUT))
                    .withMessage(
                            "queue pair 0x001234 of fake0 was closed before RECEIVE completed");
            assertThatIllegalStateException()
                    .isThrownBy(() -> queuePair.receive(memory.slice()))
                    .withMessage("queue pair 0x001234 of fake0 is closed");
            assertThatIllegalStateException()
                    .isThrownBy(queuePair::endpoint)
                    .withMessage("queue pair 0x001234 of fake0 is closed");
        }
    }
}
