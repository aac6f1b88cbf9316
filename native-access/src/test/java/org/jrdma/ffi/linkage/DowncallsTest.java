package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.Phaser;
import org.jrdma.abi.testing.AllocatedHeapBytes;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.TestThreads;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class DowncallsTest {

    private static final MemorySegment ABS =
            Linker.nativeLinker().defaultLookup().findOrThrow("labs");
    private static final FunctionDescriptor ABS_DESCRIPTOR =
            FunctionDescriptor.of(JAVA_LONG, JAVA_LONG);
    private static final MethodHandle PLAIN = Downcalls.plain(ABS_DESCRIPTOR);
    private static final MethodHandle CRITICAL = Downcalls.critical(ABS_DESCRIPTOR);
    private static final MemorySegment LSEEK =
            Linker.nativeLinker().defaultLookup().findOrThrow("lseek");
    private static final MethodHandle SEEK =
            Downcalls.capturingErrno(
                    FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT));

    private static final int ESPIPE = 29;

    @Test
    void shouldCaptureTheErrnoOfACall() {
        assertThat(TestDescriptors.close(-1)).isEqualTo(-1);

        assertThat(CapturedErrno.value()).isEqualTo(Errno.EBADF);
    }

    @Test
    void shouldKeepTheErrnoAcrossSystemCallsOfTheJvm() throws Exception {
        TestDescriptors.close(-1);

        assertThat(new java.io.File("/there/is/no/such/file").exists()).isFalse();
        System.gc();

        assertThat(CapturedErrno.value()).isEqualTo(Errno.EBADF);
    }

    @Test
    void shouldCaptureTheErrnoOfEachThreadSeparately() throws Exception {
        var steps = new Phaser(2);
        var otherThread =
                TestThreads.start(() -> {
                    steps.arriveAndAwaitAdvance();
                    seekInAPipe();
                    steps.arriveAndAwaitAdvance();
                    return CapturedErrno.value();
                });
        TestDescriptors.close(-1);
        steps.arriveAndAwaitAdvance();
        steps.arriveAndAwaitAdvance();

        assertThat(CapturedErrno.value()).isEqualTo(Errno.EBADF);
        assertThat(otherThread.result()).isEqualTo(ESPIPE);
    }

    @Test
    void shouldNotAllocateInACompiledCallThatCapturesErrno() throws Throwable {
        var calls = 20_000;
        var bytes = Long.MAX_VALUE;
        for (var round = 0; round < 500 && bytes >= calls; round++) {
            var before = AllocatedHeapBytes.ofCurrentThread();
            var failures = closeAnInvalidDescriptor(calls);
            bytes = AllocatedHeapBytes.ofCurrentThread() - before;
            assertThat(failures).isEqualTo(calls);
        }

        assertThat(bytes).as("bytes for %d calls", calls).isLessThan(calls);
    }

    @Test
    void shouldMakePlainAndCriticalCalls() throws Throwable {
        assertThat((long) PLAIN.invokeExact(ABS, -42L)).isEqualTo(42);
        assertThat((long) CRITICAL.invokeExact(ABS, -42L)).isEqualTo(42);
    }

    @Test
    void shouldReturnMemoryOfTheGivenSize() {
        try (var arena = Arena.ofConfined()) {
            var memory = arena.allocateFrom("Saluton");

            var reinterpreted = Downcalls.memoryAt(MemorySegment.ofAddress(memory.address()), 8);

            assertThat(reinterpreted.getString(0)).isEqualTo("Saluton");
            assertThatThrownBy(() -> reinterpreted.get(JAVA_INT, 8))
                    .isInstanceOf(IndexOutOfBoundsException.class);
        }
    }

    @Test
    void shouldRethrowUncheckedExceptions() {
        assertThatThrownBy(() ->
                        Downcalls.call(() -> {
                            throw new IllegalStateException("closed");
                        }))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("closed");
        assertThatThrownBy(() ->
                        Downcalls.run(() -> {
                            throw new StackOverflowError("deep");
                        }))
                .isInstanceOf(StackOverflowError.class)
                .hasMessage("deep");
    }

    @Test
    void shouldTreatACheckedExceptionAsAnAssertionError() {
        assertThatThrownBy(() ->
                        Downcalls.call(() -> {
                            throw new IOException("from a downcall");
                        }))
                .isInstanceOf(AssertionError.class)
                .hasRootCauseMessage("from a downcall");
    }

    private static void seekInAPipe() {
        var ends = TestDescriptors.pipe();
        TestDescriptors.close(ends[1]);
        long result =
                Downcalls.call(() ->
                        (long) SEEK.invokeExact(LSEEK, CapturedErrno.segment(), ends[0], 0L, 0));
        assertThat(result).isEqualTo(-1);
    }

    private static int closeAnInvalidDescriptor(int times) throws Throwable {
        var failures = 0;
        for (var i = 0; i < times; i++) {
            if ((int)
                                    TestDescriptors.CLOSE.invokeExact(
                                            TestDescriptors.CLOSE_ADDRESS,
                                            CapturedErrno.segment(),
                                            -1)
                            < 0
                    && CapturedErrno.value() == Errno.EBADF) {
                failures++;
            }
        }
        return failures;
    }
}
