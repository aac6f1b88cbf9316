package org.jrdma.ffi.linkage;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.guard.StackSpace;

/**
 * Method handles that call C functions. No handle is bound to an address: the function's address is
 * the first argument. Therefore, one static final handle, which the JIT compiles to a direct call,
 * serves all open libraries and providers.
 */
public final class Downcalls {

    private static final Linker LINKER = Linker.nativeLinker();
    private static final Linker.Option CAPTURE_ERRNO = Linker.Option.captureCallState("errno");

    private Downcalls() {}

    /**
     * Returns a handle for a function that reports errors by errno. Its arguments are the address,
     * {@link CapturedErrno#segment()}, and the function's arguments.
     */
    public static MethodHandle capturingErrno(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, CAPTURE_ERRNO);
    }

    /**
     * Returns a handle for a variadic function that reports errors by errno.
     *
     * @param named the number of arguments before the variadic ones
     */
    public static MethodHandle variadicCapturingErrno(FunctionDescriptor descriptor, int named) {
        return LINKER.downcallHandle(
                descriptor, Linker.Option.firstVariadicArg(named), CAPTURE_ERRNO);
    }

    /**
     * Returns a handle for a function that reports errors by its return value. Its arguments are
     * the address and the function's arguments.
     */
    public static MethodHandle plain(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    /**
     * Returns a handle for a short function that neither blocks nor calls Java. The call costs a
     * third of a plain call, but garbage collection waits until it returns.
     */
    public static MethodHandle critical(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, Linker.Option.critical(false));
    }

    /** Returns the memory of {@code bytes} bytes at an address returned by C. */
    public static MemorySegment memoryAt(MemorySegment address, long bytes) {
        return address.reinterpret(bytes);
    }

    /** Returns the memory at an address returned by C, accessible until an arena is closed. */
    public static MemorySegment memoryAt(MemorySegment address, long bytes, Arena arena) {
        return address.reinterpret(bytes, arena, null);
    }

    /** Reads the zero-terminated string at an address returned by C. */
    public static String textAt(MemorySegment address) {
        return address.reinterpret(Integer.MAX_VALUE).getString(0);
    }

    /** A call to C, for {@link #call}. */
    @FunctionalInterface
    public interface Call<T> {
        T invoke() throws Throwable;
    }

    /** A call to C without a result, for {@link #run}. */
    @FunctionalInterface
    public interface VoidCall {
        void invoke() throws Throwable;
    }

    /** Makes a call without a result. Not for hot paths. */
    public static void run(VoidCall call) {
        StackSpace.ensureForLibraryInJava();
        try {
            call.invoke();
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Makes a call. Not for hot paths. A handle declares Throwable, but a downcall throws only
     * unchecked exceptions.
     */
    public static <T> T call(Call<T> call) {
        StackSpace.ensureForLibraryInJava();
        try {
            return call.invoke();
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /** Rethrows an error of a downcall, or returns its runtime exception. */
    public static RuntimeException unchecked(Throwable thrown) {
        return switch (thrown) {
            case Error error -> throw error;
            case RuntimeException exception -> exception;
            default -> throw new AssertionError("a downcall threw a checked exception", thrown);
        };
    }
}
