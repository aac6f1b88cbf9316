package org.jrdma.ffi.linkage;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * Handles that call C. None is bound to an address: the function's address is the first argument,
 * so that one static final handle, which the JIT compiles to a plain call, serves every library and
 * provider that is open.
 */
public final class Downcalls {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");

    private Downcalls() {}

    /**
     * For a function that reports by errno. Arguments: address, {@link CapturedErrno#segment()},
     * then the function's own.
     */
    public static MethodHandle capturingErrno(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, CAPTURE_ERRNO);
    }

    /**
     * The same for a function of a variable number of arguments.
     *
     * @param named how many come before those
     */
    public static MethodHandle variadicCapturingErrno(FunctionDescriptor descriptor, int named) {
        return LINKER.downcallHandle(
                descriptor, Linker.Option.firstVariadicArg(named), CAPTURE_ERRNO);
    }

    /** For a function that reports by its value. Arguments: address, then the function's own. */
    public static MethodHandle plain(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    /**
     * For a short function that never waits and never calls Java: a third of a plain call's cost,
     * but garbage collection waits until it returns.
     */
    public static MethodHandle critical(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, Linker.Option.critical(false));
    }

    /** The memory of {@code bytes} at an address that C gave. */
    public static MemorySegment memoryAt(MemorySegment address, long bytes) {
        return address.reinterpret(bytes);
    }

    /** The same, until an arena closes. */
    public static MemorySegment memoryAt(MemorySegment address, long bytes, Arena arena) {
        return address.reinterpret(bytes, arena, null);
    }

    /** The text that ends with a zero byte at an address that C gave. */
    public static String textAt(MemorySegment address) {
        return address.reinterpret(Integer.MAX_VALUE).getString(0);
    }

    /** A call to C, for {@link #call}. */
    @FunctionalInterface
    public interface Call<T> {
        /** Invokes a handle exactly. */
        T invoke() throws Throwable;
    }

    /** A call to C without a result, for {@link #run}. */
    @FunctionalInterface
    public interface VoidCall {
        /** Invokes a handle exactly. */
        void invoke() throws Throwable;
    }

    /** Makes a call without a result that is not on a hot path. */
    public static void run(VoidCall call) {
        StackRoom.ensure();
        try {
            call.invoke();
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Makes a call that is not on a hot path. A handle declares Throwable, but a downcall throws
     * only what is unchecked.
     */
    public static <T> T call(Call<T> call) {
        StackRoom.ensure();
        try {
            return call.invoke();
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** What a downcall threw, as what it can only be: an error or a runtime exception. */
    public static RuntimeException unchecked(Throwable thrown) {
        return switch (thrown) {
            case Error error -> throw error;
            case RuntimeException exception -> exception;
            default -> throw new AssertionError("a downcall threw a checked exception", thrown);
        };
    }
}
