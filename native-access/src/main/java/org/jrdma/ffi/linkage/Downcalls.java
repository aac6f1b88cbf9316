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
     * Returns a handle for a function that reports errors by errno. The arguments of the handle are
     * the address of the function, {@link CapturedErrno#segment()}, and the function's arguments.
     */
    public static MethodHandle capturingErrno(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, CAPTURE_ERRNO);
    }

    /**
     * Returns a handle for a variadic function that reports errors by errno. Its arguments are
     * those of {@link #capturingErrno}.
     *
     * @param named the number of named arguments, which precede the variadic arguments
     */
    public static MethodHandle variadicCapturingErrno(FunctionDescriptor descriptor, int named) {
        return LINKER.downcallHandle(
                descriptor, Linker.Option.firstVariadicArg(named), CAPTURE_ERRNO);
    }

    /**
     * Returns a handle for a function that does not report errors by errno. The arguments of the
     * handle are the address of the function and the function's arguments.
     */
    public static MethodHandle plain(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor);
    }

    /**
     * Returns a handle for a short function that neither blocks nor calls Java. A call costs a
     * third of a {@linkplain #plain plain} call, but the garbage collector waits until the call
     * returns.
     */
    public static MethodHandle critical(FunctionDescriptor descriptor) {
        return LINKER.downcallHandle(descriptor, Linker.Option.critical(false));
    }

    /**
     * Returns a segment for {@code bytes} bytes of memory at an address that a C function returned.
     * The segment is always accessible.
     */
    public static MemorySegment memoryAt(MemorySegment address, long bytes) {
        return address.reinterpret(bytes);
    }

    /**
     * Returns a segment for {@code bytes} bytes of memory at an address that a C function returned.
     * The segment is accessible until {@code arena} is closed.
     */
    public static MemorySegment memoryAt(MemorySegment address, long bytes, Arena arena) {
        return address.reinterpret(bytes, arena, null);
    }

    /** Reads the zero-terminated UTF-8 string at an address that a C function returned. */
    public static String textAt(MemorySegment address) {
        return address.reinterpret(Integer.MAX_VALUE).getString(0);
    }

    /** A call of a C function that has a result, for {@link #call}. */
    @FunctionalInterface
    public interface Call<T> {
        /** Invokes a method handle by {@code invokeExact}, and returns the result. */
        T invoke() throws Throwable;
    }

    /** A call of a C function without a result, for {@link #run}. */
    @FunctionalInterface
    public interface VoidCall {
        /** Invokes a method handle by {@code invokeExact}. */
        void invoke() throws Throwable;
    }

    /**
     * Checks that enough stack is left, and calls a C function without a result. Not for hot paths.
     */
    public static void run(VoidCall call) {
        StackSpace.ensureForLibraryInJava();
        try {
            call.invoke();
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Checks that enough stack is left, calls a C function, and returns its result. Not for hot
     * paths. Method handles declare Throwable, but downcalls throw only unchecked exceptions and
     * errors, which this method rethrows.
     */
    public static <T> T call(Call<T> call) {
        StackSpace.ensureForLibraryInJava();
        try {
            return call.invoke();
        } catch (Throwable e) {
            throw unchecked(e);
        }
    }

    /**
     * Throws {@code thrown} if it is an Error, and returns it if it is a RuntimeException. Callers
     * throw the returned exception.
     */
    public static RuntimeException unchecked(Throwable thrown) {
        return switch (thrown) {
            case Error error -> throw error;
            case RuntimeException exception -> exception;
            default -> throw new AssertionError("a downcall threw a checked exception", thrown);
        };
    }
}
