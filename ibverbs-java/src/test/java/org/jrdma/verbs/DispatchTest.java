package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Transfers from their post to their completion, over a library that completes them at once. */
@Timeout(60)
class DispatchTest {

    private static final Duration LONG = Duration.ofSeconds(30);

    @Test
    void shouldCompleteTheWritesOfThousandsOfVirtualThreadsOverFewSlots() throws Exception {
        try (var device = Verbs.from(new FakeLibrary()).open(FakeLibrary.DEVICE);
                var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            var domain = device.newProtectionDomain();
            var memory = domain.register(ByteBuffer.allocateDirect(64), Access.LOCAL_WRITE);
            var queuePair =
                    domain.newQueuePair(
                            QueuePairOptions.reliable(device.newCompletionDispatcher(64))
                                    .sends(8)
                                    .slotTimeout(LONG));
            queuePair.connect(queuePair.endpoint());

            var writes = new ArrayList<Future<Completion>>();
            for (var i = 0; i < 3_000; i++) {
                Callable<Completion> write =
                        () -> queuePair.write(memory.slice(), memory.remote()).await(LONG);
                writes.add(executor.submit(write));
            }

            for (var write : writes) {
                assertThat(write.get().status()).isEqualTo(CompletionStatus.SUCCESS);
            }
            queuePair.drain(LONG);
        }
    }

    @Test
    void shouldEndTheWaitForATransferWhenItsQueuePairIsClosed() throws Exception {
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
                    .isThrownBy(() -> receive.await(LONG))
                    .withMessage("queue pair 4660 of fake0 was closed before RECEIVE completed");
            assertThatIllegalStateException()
                    .isThrownBy(() -> queuePair.receive(memory.slice()))
                    .withMessage("queue pair 4660 of fake0 is closed");
        }
    }
}
