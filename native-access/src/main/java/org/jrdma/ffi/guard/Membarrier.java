package org.jrdma.ffi.guard;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * The membarrier(2) system call. This class links the C function itself: {@code
 * org.jrdma.ffi.linkage} cannot be used, because it depends on this package through {@code
 * org.jrdma.ffi}.
 */
final class Membarrier {

    private static final long QUERY = 0;
    private static final long PRIVATE_EXPEDITED = 1 << 3;
    private static final long REGISTER_PRIVATE_EXPEDITED = 1 << 4;

    private static final long UNKNOWN = -1;
    private static final long SYSTEM_CALL =
            switch (System.getProperty("os.arch")) {
                case "amd64" -> 324;
                case "aarch64" -> 283;
                default -> UNKNOWN;
            };

    // long syscall(long number, ...): the C library has no wrapper for membarrier(2).
    private static final MethodHandle SYSCALL =
            Linker.nativeLinker()
                    .downcallHandle(
                            FunctionDescriptor.of(
                                    JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                            Linker.Option.firstVariadicArg(1));
    private static final MemorySegment FUNCTION =
            Linker.nativeLinker().defaultLookup().findOrThrow("syscall");

    private Membarrier() {}

    /**
     * Registers the process with the kernel, as {@link #run()} requires, and runs one barrier. The
     * registration takes some milliseconds if the process has several threads. Registering again
     * has no effect.
     *
     * @return true if the kernel supports the barrier
     */
    static boolean register() {
        if (SYSTEM_CALL == UNKNOWN) {
            return false;
        }
        // The result is negative if the kernel or a seccomp filter rejects the call.
        var commands = call(QUERY);
        return commands > 0
                && (commands & PRIVATE_EXPEDITED) != 0
                && (commands & REGISTER_PRIVATE_EXPEDITED) != 0
                && call(REGISTER_PRIVATE_EXPEDITED) == 0
                && run();
    }

    /**
     * Returns after each running thread of this process has executed a full memory barrier.
     *
     * @return false if the kernel rejected the call, for example because of a lack of memory
     */
    static boolean run() {
        return call(PRIVATE_EXPEDITED) == 0;
    }

    private static long call(long command) {
        try {
            return (long) SYSCALL.invokeExact(FUNCTION, SYSTEM_CALL, command, 0L, 0L);
        } catch (Throwable e) {
            throw new AssertionError("a downcall threw an exception", e);
        }
    }
}
