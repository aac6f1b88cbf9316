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

/** Descriptors to wait on. */
final class Descriptors {

    static final MemorySegment CLOSE_ADDRESS =
            Linker.nativeLinker().defaultLookup().findOrThrow("close");
    static final MethodHandle CLOSE =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private static final MemorySegment PIPE_ADDRESS =
            Linker.nativeLinker().defaultLookup().findOrThrow("pipe");
    private static final MethodHandle PIPE =
            Downcalls.capturingErrno(FunctionDescriptor.of(JAVA_INT, ADDRESS));

    private Descriptors() {}

    /** Makes an event descriptor readable. */
    static void signal(int descriptor) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            Linux.write(descriptor, arena.allocateFrom(JAVA_LONG, 1));
        }
    }

    /** Makes an event descriptor unreadable; false if it was. */
    static boolean drain(int descriptor) throws FabricException {
        try (var arena = Arena.ofConfined()) {
            return Linux.read(descriptor, arena.allocate(JAVA_LONG)) == Long.BYTES;
        }
    }

    /** The two ends of a pipe: to read from, to write to. */
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

    static int close(int descriptor) {
        return Downcalls.call(
                () -> (int) CLOSE.invokeExact(CLOSE_ADDRESS, CapturedErrno.segment(), descriptor));
    }
}
