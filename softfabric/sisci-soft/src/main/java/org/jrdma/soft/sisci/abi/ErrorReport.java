package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.sisci.fabric.SciException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The error reporting of exported functions. A function stores its error code at the address that
 * the program passes as the last argument.
 */
final class ErrorReport {

    private static final Logger LOG = LoggerFactory.getLogger(ErrorReport.class);
    private static final ThreadLocal<String> EXPLANATION = ThreadLocal.withInitial(() -> "");

    static {
        // The JVM allocates memory for the first use of a handler, which may be a lack of memory.
        try (var arena = Arena.ofConfined()) {
            var code = arena.allocate(Integer.BYTES, Integer.BYTES).address();
            clear(code);
            report(new SciException(SCI_ERR_OK()), code);
            reportNoMemory(code);
            EXPLANATION.remove();
        }
    }

    private ErrorReport() {}

    /**
     * The handles of the handlers. They are created after {@link ErrorReport} was initialized: the
     * first call of an earlier handle would check the initialization, which needs memory.
     */
    private static final class Handler {

        static final MethodHandle CLEAR =
                handle("clear", MethodType.methodType(void.class, long.class));
        static final MethodHandle REPORT =
                handle("report", MethodType.methodType(void.class, Throwable.class, long.class));
        static final MethodHandle EXPLAIN =
                handle("explain", MethodType.methodType(void.class, Throwable.class));
        static final MethodHandle REPORT_NO_MEMORY =
                handle("reportNoMemory", MethodType.methodType(void.class, long.class));

        private Handler() {}

        private static MethodHandle handle(String name, MethodType type) {
            try {
                return MethodHandles.lookup().findStatic(ErrorReport.class, name, type);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }
    }

    /**
     * Adapts a function to one that takes the address of the error code as an additional last
     * argument. The adapted function throws nothing, and returns 0 if it fails. If there is too
     * little memory even to handle an exception, the error code is SCI_ERR_API_NOSPC.
     */
    static MethodHandle reported(MethodHandle function) {
        var type = function.type();
        var count = type.parameterCount();
        var cleared =
                MethodHandles.foldArguments(
                        MethodHandles.dropArguments(function, count, long.class),
                        count,
                        Handler.CLEAR);
        var failed = MethodHandles.dropArguments(Handler.REPORT, 1, type.parameterList());
        var reported =
                MethodHandles.catchException(
                        cleared, Throwable.class, returningZero(failed, type.returnType()));
        var lastResort =
                MethodHandles.dropArguments(
                        MethodHandles.dropArguments(
                                Handler.REPORT_NO_MEMORY, 0, type.parameterList()),
                        0,
                        Throwable.class);
        return MethodHandles.catchException(
                reported, Throwable.class, returningZero(lastResort, type.returnType()));
    }

    /** Adapts a function without an error code: it throws nothing, and returns 0 if it fails. */
    static MethodHandle silent(MethodHandle function) {
        var result = function.type().returnType();
        var explained =
                MethodHandles.catchException(
                        function, Throwable.class, returningZero(Handler.EXPLAIN, result));
        var lastResort = MethodHandles.empty(MethodType.methodType(result, Throwable.class));
        return MethodHandles.catchException(explained, Throwable.class, lastResort);
    }

    private static MethodHandle returningZero(MethodHandle handler, Class<?> result) {
        return result == void.class
                ? handler
                : MethodHandles.filterReturnValue(handler, MethodHandles.zero(result));
    }

    private static void clear(long address) {
        if (address != 0) {
            UncheckedMemory.setInt(address, SCI_ERR_OK());
        }
    }

    private static void report(Throwable thrown, long address) {
        if (address != 0) {
            UncheckedMemory.setInt(address, SciException.codeOf(thrown));
        }
        explain(thrown);
    }

    private static void reportNoMemory(long address) {
        if (address != 0) {
            UncheckedMemory.setInt(address, SCI_ERR_API_NOSPC());
        }
    }

    /** Never throws, because an exception in a function that C called would terminate the JVM. */
    private static void explain(Throwable thrown) {
        try {
            EXPLANATION.remove();
            if (thrown instanceof SciException refusal) {
                EXPLANATION.set(String.valueOf(refusal.getMessage()));
            } else {
                LOG.error("A function of the software fabric failed", thrown);
            }
        } catch (Throwable e) {
            // there is no memory for an explanation
        }
    }

    /**
     * Returns the explanation of the last failure on the current thread, which supplements the
     * error code.
     */
    static String explanation() {
        return EXPLANATION.get();
    }
}
