package org.jrdma.nvme;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.time.Duration.ofMillis;
import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.nvme.model.MappedRegisters;
import org.jrdma.nvme.model.Status;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Operations of threads that share an asynchronous queue. */
@Timeout(60)
class AsyncNvmeQueueTest {

    private static final Duration TIMEOUT = ofSeconds(20);

    private final DriveHarness harness = new DriveHarness();
    private NvmeDrive drive;
    private NvmeNamespace namespace;

    @BeforeEach
    void open() throws FabricException {
        drive = Nvme.open(harness, NvmeOptions.DEFAULTS.ioTimeout(ofSeconds(1)));
        namespace = drive.namespaces().getFirst();
    }

    @AfterEach
    void close() {
        drive.close();
        harness.close();
    }

    @Test
    void shouldTransferDataOfManyVirtualThreads() throws Exception {
        try (var queue = drive.newAsyncQueue(4);
                var threads = Executors.newVirtualThreadPerTaskExecutor()) {
            var results = new ArrayList<Future<?>>();
            for (var thread = 0; thread < 50; thread++) {
                var block = thread * 16L;
                results.add(threads.submit(() -> transfer(queue, block)));
            }
            for (var result : results) {
                result.get();
            }
            assertThat(queue.depth()).isEqualTo(4);
        }
    }

    private Void transfer(AsyncNvmeQueue queue, long block) throws FabricException {
        try (var source = drive.newMemory(8192);
                var target = drive.newMemory(8192)) {
            for (var round = 1; round <= 20; round++) {
                for (var i = 0L; i < 1024; i++) {
                    source.segment().setAtIndex(JAVA_LONG, i, block << 32 | round * 1024L + i);
                }
                queue.write(namespace, block, 16, source, 0).await(TIMEOUT);
                queue.read(namespace, block, 16, target, 0).await(TIMEOUT);
                assertThat(target.segment().mismatch(source.segment())).isEqualTo(-1);
            }
        }
        return null;
    }

    @Test
    void shouldCompleteFutures() throws Exception {
        try (var queue = drive.newAsyncQueue(8);
                var memory = drive.newMemory(8 * 4096)) {
            var futures = new ArrayList<CompletableFuture<Void>>();
            for (var i = 0; i < 8; i++) {
                futures.add(queue.read(namespace, i * 8L, 8, memory, i * 4096L).future());
            }
            CompletableFuture.allOf(futures.toArray(CompletableFuture[]::new))
                    .get(20, TimeUnit.SECONDS);
            var flush = queue.flush(namespace);
            flush.await(TIMEOUT);
            assertThat(flush.isCompleted()).isTrue();
        }
    }

    @Test
    void shouldReportTheStatusOfAFailedCommandAndContinue() throws Exception {
        try (var queue = drive.newAsyncQueue(1);
                var memory = drive.newMemory(4096)) {
            var operation = queue.read(namespace, DriveHarness.BLOCKS, 8, memory, 0);
            assertThatExceptionOfType(NvmeException.class)
                    .isThrownBy(() -> operation.await(TIMEOUT))
                    .extracting(failure -> failure.status().orElseThrow())
                    .isEqualTo(Status.LBA_OUT_OF_RANGE);
            assertThatThrownBy(() -> operation.future().get(20, TimeUnit.SECONDS))
                    .hasRootCauseInstanceOf(NvmeException.class);
            queue.flush(namespace).await(TIMEOUT);
        }
    }

    @Test
    void shouldRejectInvalidArgumentsAndClosedMemory() throws Exception {
        try (var queue = drive.newAsyncQueue(1)) {
            var memory = drive.newMemory(4096);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> queue.read(namespace, 0, 0, memory, 0));
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> queue.write(namespace, 0, 8, memory, 4));
            memory.close();
            assertThatIllegalStateException()
                    .isThrownBy(() -> queue.read(namespace, 0, 8, memory, 0));
            queue.flush(namespace).await(TIMEOUT);
        }
    }

    @Test
    void shouldKeepClosedMemoryUntilTheCommandHasCompleted() throws Exception {
        try (var queue = drive.newAsyncQueue(1)) {
            harness.stopController();
            var memory = drive.newMemory(4096);
            var operation = queue.read(namespace, 0, 8, memory, 0);
            memory.close();
            assertThat(memory.segment().scope().isAlive()).isTrue();
            harness.resumeController();
            operation.await(TIMEOUT);
            assertThat(memory.segment().scope().isAlive()).isFalse();
        }
    }

    @Test
    void shouldReportThatTheQueueIsFullOrTheWaitWasInterrupted() throws Exception {
        try (var queue = drive.newAsyncQueue(1)) {
            harness.stopController();
            var operation = queue.flush(namespace);
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> queue.flush(namespace))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("Interrupted while waiting for a slot of I/O queue 1");
            assertThatThrownBy(() -> operation.await(TIMEOUT))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("Interrupted while waiting for a command of I/O queue 1");
            assertThat(Thread.interrupted()).isTrue();
            assertThatThrownBy(() -> operation.await(ofMillis(10)))
                    .isInstanceOf(FabricTimeoutException.class)
                    .hasMessageContaining("No completion of a command of I/O queue 1");
            harness.resumeController();
            operation.await(TIMEOUT);
        }
    }

    @Test
    void shouldFailAllOperationsWhenTheControllerDoesNotRespond() throws Exception {
        try (var queue = drive.newAsyncQueue(2)) {
            harness.stopController();
            var first = queue.flush(namespace);
            var second = queue.flush(namespace);
            assertUnanswered(first);
            assertUnanswered(second);
            assertUnanswered(queue.flush(namespace));
            harness.resumeController();
        }
    }

    private static void assertUnanswered(NvmeOperation operation) {
        assertThatThrownBy(() -> operation.await(TIMEOUT))
                .isInstanceOf(FabricTimeoutException.class)
                .hasMessageContaining("completed none of 2 pending commands");
    }

    @Test
    void shouldReportAControllerThatFailed() throws Exception {
        try (var queue = drive.newAsyncQueue(1)) {
            harness.stopController();
            var operation = queue.flush(namespace);
            harness.registers()
                    .write(MappedRegisters.STATUS, MappedRegisters.READY | MappedRegisters.FATAL);
            assertThatThrownBy(() -> operation.await(TIMEOUT))
                    .isInstanceOf(NvmeException.class)
                    .hasMessageContaining("reports a fatal error");
            harness.registers().write(MappedRegisters.STATUS, MappedRegisters.READY);
            harness.resumeController();
        }
    }

    @Test
    void shouldFailPendingOperationsWhenTheQueueOrTheDriveIsClosed() throws Exception {
        var queue = drive.newAsyncQueue(1);
        var idle = drive.newAsyncQueue(1);
        harness.stopController();
        var operation = queue.flush(namespace);
        var closer = Thread.ofPlatform().start(queue::close);
        assertThatIllegalStateException()
                .isThrownBy(() -> operation.await(TIMEOUT))
                .withMessageContaining("was closed before the command completed");
        harness.resumeController();
        closer.join();
        drive.close();
        for (var closed : new AsyncNvmeQueue[] {queue, idle}) {
            var late = closed.flush(namespace);
            assertThatIllegalStateException().isThrownBy(() -> late.await(TIMEOUT));
        }
    }
}
