package org.jrdma.ffi.linkage;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.FabricException;

/** File descriptors for tests. */
final class TestDescriptors {

    static final MemorySegment CLOSE_ADDRESS =
            Linker.nativeLinker().defaultLookup().findOrThrow("close");
    static final MethodHandle CLOSE =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static final int O_NONBLOCK = 0x800;
    private static final MemorySegment EVENTFD_ADDRESS =
            Linker.nativeLinker().defaultLookup().findOrThrow("eventfd");
    private static final MemorySegment READ_ADDRESS =
            Linker.nativeLinker().defaultLookup().findOrThrow("read");
    private static final MemorySegment WRITE_ADDRESS =
            Linker.nativeLinker().defaultLookup().findOrThrow("write");
    private static final MethodHandle EVENTFD =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle TRANSFER =
            Downcalls.plain(FunctionDescriptor.of(JAVA_LONG, JAVA_INT, ADDRESS, JAVA_LONG));
    private static final MemorySegment PIPE_ADDRESS =
            Linker.nativeLinker().defaultLookup().findOrThrow("pipe");
    private static final MethodHandle PIPE =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, ADDRESS));

    private TestDescriptors() {}

    /** Returns a descriptor that {@link #signal} makes readable. */
    static int event() {
        return Downcalls.call(() -> (int) EVENTFD.invokeExact(EVENTFD_ADDRESS, 0, O_NONBLOCK));
    }

    /** Makes an event descriptor readable. */
    static void signal(int descriptor) {
        try (var arena = Arena.ofConfined()) {
            assertThat(transfer(WRITE_ADDRESS, descriptor, arena.allocateFrom(JAVA_LONG, 1)))
                    .isEqualTo(Long.BYTES);
        }
    }

    /**
     * Reads from an event descriptor, which makes it unreadable. Returns false if the descriptor
     * was not readable.
     */
    static boolean drain(int descriptor) {
        try (var arena = Arena.ofConfined()) {
            return transfer(READ_ADDRESS, descriptor, arena.allocate(JAVA_LONG)) == Long.BYTES;
        }
    }

    private static long transfer(MemorySegment function, int descriptor, MemorySegment buffer) {
        return Downcalls.call(
                () -> (long) TRANSFER.invokeExact(function, descriptor, buffer, buffer.byteSize()));
    }

    /** Returns the read end and the write end of a pipe. */
    static int[] pipe() {
        try (var arena = Arena.ofConfined()) {
            var ends = arena.allocate(JAVA_INT, 2);
            int result =
                    Downcalls.call(() ->
                            (int) PIPE.invokeExact(PIPE_ADDRESS, CapturedErrno.segment(), ends));
            assertThat(result).isZero();
            return ends.toArray(JAVA_INT);
        }
    }

    /** Returns the non-blocking ends of a pipe whose buffer is full. */
    static int[] fullPipe() throws FabricException {
        var ends = pipe();
        LinuxCalls.setNonBlocking(ends[0]);
        LinuxCalls.setNonBlocking(ends[1]);
        try (var arena = Arena.ofConfined()) {
            var number = arena.allocate(JAVA_LONG);
            while (transfer(WRITE_ADDRESS, ends[1], number) > 0) {}
        }
        return ends;
    }

    static int close(int descriptor) {
        return Downcalls.call(
                () -> (int) CLOSE.invokeExact(CLOSE_ADDRESS, CapturedErrno.segment(), descriptor));
    }
}
