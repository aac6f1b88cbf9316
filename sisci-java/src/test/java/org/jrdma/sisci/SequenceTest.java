package org.jrdma.sisci;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.io.InterruptedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.FabricTimeoutException;
import org.jrdma.sisci.FakeLibrary.Kind;
import org.jrdma.sisci.model.SequenceStatus;
import org.jrdma.sisci.model.SisciError;
import org.jrdma.sisci.model.SisciException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SequenceTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    private final Arena arena = Arena.ofShared();
    private final MemorySegment message = arena.allocateFrom(ValueLayout.JAVA_LONG, 1, 2, 3, 4);

    private FakeLibrary library;
    private Node node;
    private LocalMap targetMap;
    private RemoteMap map;
    private Sequence sequence;

    @BeforeEach
    void open() throws Exception {
        open(Kind.WITH_CONSTANTS);
    }

    private void open(Kind kind) throws Exception {
        library = new FakeLibrary(kind);
        node = library.sisci.open();
        var segment = node.newSegment(7, 4096);
        segment.offer();
        targetMap = segment.map();
        map = node.connect(4, 7, TIMEOUT).map();
        sequence = map.newSequence();
    }

    @AfterEach
    void close() {
        node.close();
        arena.close();
    }

    @Test
    void shouldWriteWithOneCallIfThereIsNoError() throws Exception {
        assertThat(sequence.write(64, message, TIMEOUT)).isOne();
        var starts = library.calls("SCIStartSequence");
        var checks = library.calls("SCICheckSequence");

        assertThat(sequence.write(128, message, TIMEOUT)).isOne();
        assertThat(sequence.tryWrite(192, message)).isEqualTo(SequenceStatus.OK);

        assertThat(starts).isOne();
        assertThat(library.calls("SCIStartSequence")).isEqualTo(starts);
        assertThat(library.calls("SCICheckSequence")).isEqualTo(checks + 2);
        assertThat(targetMap.segment().asSlice(128, 32).mismatch(message)).isEqualTo(-1);
        assertThat(targetMap.segment().asSlice(192, 32).mismatch(message)).isEqualTo(-1);
    }

    @Test
    void shouldRetryARetriableWriteWithoutAPause() throws Exception {
        library.sequence("", "11");

        assertThat(sequence.write(0, message, TIMEOUT)).isEqualTo(3);
        assertThat(library.calls("SCIStartSequence")).isOne();
        assertThat(library.calls("SCICheckSequence")).isEqualTo(3);
    }

    @Test
    void shouldRestartBeforeItRetriesANotRetriableWrite() throws Exception {
        library.sequence("0" + "23", "2"); // OK, then NOT_RETRIABLE and PENDING, then OK

        assertThat(sequence.write(0, message, TIMEOUT)).isEqualTo(4);
        assertThat(library.calls("SCIStartSequence")).isEqualTo(4);
        assertThat(library.calls("SCICheckSequence")).isEqualTo(2);
    }

    @Test
    void shouldNotStoreUnlessStarted() throws Exception {
        library.sequence("32", "");

        assertThat(sequence.tryWrite(0, message)).isEqualTo(SequenceStatus.PENDING);
        assertThat(sequence.tryWrite(0, message)).isEqualTo(SequenceStatus.NOT_RETRIABLE);
        assertThat(targetMap.getLong(0)).isZero();
        assertThat(library.calls("SCICheckSequence")).isZero();

        assertThat(sequence.tryWrite(0, message)).isEqualTo(SequenceStatus.OK);
        assertThat(targetMap.getLong(0)).isOne();
    }

    @Test
    void shouldReportTheLastStatusOnTimeout() {
        library.sequence("0" + "2".repeat(10_000), "2");

        assertThatExceptionOfType(FabricTimeoutException.class)
                .isThrownBy(() -> sequence.write(0, message, Duration.ofMillis(20)))
                .withMessageStartingWith("32 bytes did not arrive through sequence of map of 4,096")
                .withMessageEndingWith("(last status: NOT_RETRIABLE) within 0.02s");
    }

    @Test
    void shouldEndAWriteOnAThreadInterrupt() {
        library.sequence("0" + "2".repeat(10_000), "2");
        Thread.currentThread().interrupt();

        assertThatExceptionOfType(InterruptedIOException.class)
                .isThrownBy(() -> sequence.write(0, message, TIMEOUT));
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void shouldRestartAfterAFailedCheck() throws Exception {
        library.fail("SCICheckSequence", sisci_h.SCI_ERR_ILLEGAL_OPERATION(), 1);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> sequence.write(0, message, TIMEOUT))
                .withMessageMatching(
                        "(?s)SCICheckSequence failed for sequence of map of .* of segment 7 .*: ILLEGAL_OPERATION.*");
        assertThat(sequence.write(0, message, TIMEOUT)).isOne();
        assertThat(library.calls("SCIStartSequence")).isEqualTo(2);
    }

    @Test
    void shouldRejectAWriteBeyondTheMap() {
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> sequence.tryWrite(4096 - 31, message));
        assertThat(library.calls("SCICheckSequence")).isZero();
    }

    @Test
    void shouldFlushAndExecuteABarrier() {
        sequence.flush();
        sequence.storeBarrier();

        assertThat(library.calls("SCIFlush of a sequence")).isOne();
        assertThat(library.calls("SCIStoreBarrier")).isOne();
    }

    @Test
    void shouldCopyInBothDirections() throws Exception {
        map.copyFrom(message, 8);
        assertThat(targetMap.getLong(16)).isEqualTo(2);

        var target = arena.allocate(32);
        map.copyTo(target, 8);
        assertThat(target.mismatch(message)).isEqualTo(-1);

        sequence.copyFrom(message, 512);
        assertThat(targetMap.getLong(512)).isOne();
    }

    @Test
    void shouldSplitALargeCopySoThatNoCallDelaysACloseForLong() throws Exception {
        var bytes = (2 << 20) + 8;
        var largeSegment = node.newSegment(8, 4 << 20);
        largeSegment.offer();
        var sourceMap = largeSegment.map();
        try (var remote = node.connect(4, 8, TIMEOUT);
                var largeMap = remote.map();
                var largeSequence = largeMap.newSequence()) {
            var source = arena.allocate(bytes, 8);
            for (var i = 0L; i < bytes; i += 8) {
                source.set(ValueLayout.JAVA_LONG, i, i);
            }

            largeMap.copyFrom(source, 0);
            assertThat(library.calls("SCIMemCpy")).isEqualTo(3);
            assertThat(sourceMap.segment().asSlice(0, bytes).mismatch(source)).isEqualTo(-1);

            sourceMap.segment().fill((byte) 0);
            largeSequence.copyFrom(source, 0);
            assertThat(library.calls("SCIMemCpy")).isEqualTo(6);
            assertThat(sourceMap.segment().asSlice(0, bytes).mismatch(source)).isEqualTo(-1);

            var target = arena.allocate(8200, 8);
            largeMap.copyTo(target, 16);
            assertThat(library.calls("SCIMemCpy")).isEqualTo(9);
            assertThat(target.mismatch(sourceMap.segment().asSlice(16, 8200))).isEqualTo(-1);
        }
    }

    @Test
    void shouldReportACheckedCopyThatDidNotArrive() {
        library.fail("SCIMemCpy", sisci_h.SCI_ERR_TRANSFER_FAILED(), 1);

        assertThatExceptionOfType(SisciException.class)
                .isThrownBy(() -> sequence.copyFrom(message, 0))
                .withMessageStartingWith("SCIMemCpy failed for map of 4,096 bytes of segment 7")
                .satisfies(e -> assertThat(e.error()).isEqualTo(SisciError.TRANSFER_FAILED));
    }

    @Test
    void shouldRejectACopyOfHeapMemoryOrBeyondTheMap() {
        var heap = MemorySegment.ofArray(new long[4]);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> map.copyFrom(heap, 0))
                .withMessageStartingWith("Cannot copy memory on the heap");
        assertThatIllegalArgumentException().isThrownBy(() -> map.copyTo(message.asReadOnly(), 0));
        assertThatExceptionOfType(IndexOutOfBoundsException.class)
                .isThrownBy(() -> map.copyFrom(message, 4096 - 31));
        assertThat(library.calls("SCIMemCpy")).isZero();
    }

    @Test
    void shouldRejectACopyOfFreedMemoryAndOfMemoryOfAnotherThread() throws Exception {
        var other = Arena.ofShared();
        var freed = other.allocate(8);
        other.close();
        var foreign = CompletableFuture.supplyAsync(() -> Arena.ofConfined().allocate(8)).get();

        assertThatIllegalStateException()
                .isThrownBy(() -> map.copyFrom(freed, 0))
                .withMessageStartingWith("The memory segment is closed");
        assertThatExceptionOfType(WrongThreadException.class)
                .isThrownBy(() -> map.copyTo(foreign, 0))
                .withMessageStartingWith("The memory segment belongs to another thread");
        assertThat(library.calls("SCIMemCpy")).isZero();
    }

    @Test
    void shouldRejectACopyIfTheNumberOfTheFlagIsUnknown() throws Exception {
        node.close();
        open(Kind.SINGLE_THREADED);

        map.copyFrom(message, 0);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> map.copyTo(arena.allocate(32), 0))
                .withMessageContaining("SCI_FLAG_BLOCK_READ");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> sequence.copyFrom(message, 0))
                .withMessageContaining("SCI_FLAG_ERROR_CHECK");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(map::flushCpuBuffers)
                .withMessageContaining("SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY");
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> map.newSequence(true))
                .withMessageContaining("SCI_FLAG_FAST_BARRIER");
    }

    @Test
    void shouldRejectUseAfterClose() {
        sequence.close();

        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(sequence::start)
                .withMessageEndingWith("is closed");
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(sequence::check);
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(sequence::flush);
        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(sequence::storeBarrier);
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> sequence.tryWrite(0, message));
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> sequence.copyFrom(message, 0));
    }
}
