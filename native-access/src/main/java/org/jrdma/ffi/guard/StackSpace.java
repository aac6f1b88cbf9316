package org.jrdma.ffi.guard;

import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Ensures that enough stack is left for an operation that a stack overflow must not interrupt. A
 * check throws {@link StackOverflowError} before the operation has changed anything. Examples are
 * {@code close()}, which would otherwise leave an object half closed, and calls of C functions that
 * are implemented in Java, where an overflow terminates the JVM.
 *
 * <p>The check calls a generated method that does nothing and has very many local variables. The
 * interpreter reserves stack for these variables. Compiled code does not, but the JVM must be able
 * to continue the method in the interpreter at each call that the method makes. Therefore, the
 * compiled code touches the stack as far down as the interpreter's frame would reach, with one
 * store for each page.
 */
public final class StackSpace {

    /**
     * The number of {@code nop} instructions in the generated method, which makes it too long to be
     * inlined: the JIT inlines frequently called methods of up to 325 bytes.
     */
    private static final int NOP_COUNT = 400;

    /**
     * The number of calls with work after which the hot path is assumed to be compiled. Compiled
     * code needs less stack than the interpreter.
     */
    private static final int COLD_CALLS = 20_000;

    private static final long INITIALIZER_STACK_BYTES = 1 << 20;

    private static volatile boolean initialized;

    /** True after a library was opened that may be implemented in Java. */
    private static volatile boolean enabled;

    /**
     * The number of calls that {@link #recordWork()} has counted, up to {@link #COLD_CALLS}. The
     * counter is not synchronized: a lost update only delays the switch to the smaller check.
     */
    private static int callsWithWork;

    private StackSpace() {}

    /**
     * Generates the methods of the checks, on a thread of its own that has enough stack. The
     * current thread may have little stack left, and an initialization of a class that failed
     * cannot be repeated.
     */
    public static void initialize() {
        if (initialized) {
            return;
        }
        var thread =
                Thread.ofPlatform()
                        .name("jrdma-stack")
                        .daemon()
                        .stackSize(INITIALIZER_STACK_BYTES)
                        .start(StackSpace::ensure);
        var interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException _) {
                interrupted = true;
            }
        }
        initialized = true;
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Enables the check. Called when a library is opened that may be written in Java. */
    public static void enable() {
        initialize();
        enabled = true;
    }

    /** Checks the stack before an operation that may load classes. */
    public static void ensure() {
        enter(Methods.COLD);
    }

    /**
     * Checks the stack before a native call that may load classes. Does nothing if no library is
     * implemented in Java.
     */
    public static void ensureForLibraryInJava() {
        if (enabled) {
            ensure();
        }
    }

    /**
     * Checks the stack before a counter is incremented, so that enough stack is left to decrement
     * it later.
     */
    public static void ensureForRelease() {
        enter(Methods.RELEASE);
    }

    /** Checks the stack before a frequently repeated call of a library implemented in Java. */
    public static void ensureForHotPath() {
        if (callsWithWork < COLD_CALLS) {
            enter(Methods.COLD);
        } else {
            enter(Methods.HOT);
        }
    }

    /**
     * Counts one call on the hot path that has processed a request or a completion. Polls that find
     * nothing are not counted.
     */
    public static void recordWork() {
        if (callsWithWork < COLD_CALLS) {
            callsWithWork++;
        }
    }

    private static void enter(MethodHandle method) {
        try {
            method.invokeExact();
        } catch (StackOverflowError e) {
            throw e;
        } catch (Throwable e) {
            throw new AssertionError("A method without instructions failed", e);
        }
    }

    private static final class Methods {

        /**
         * A method with a frame of 128 KiB: enough for the deepest calls of the JDK, which occur
         * when classes are first used.
         */
        static final MethodHandle COLD = methodWithFrame(128 << 10);

        /** A method with a frame of 16 KiB: enough for code that is compiled and has run before. */
        static final MethodHandle HOT = methodWithFrame(16 << 10);

        /** A method with a frame of 4 KiB: enough for a few interpreted frames. */
        static final MethodHandle RELEASE = methodWithFrame(4 << 10);
    }

    /**
     * Generates a method with a large frame that calls another generated method: compiled code
     * never continues in the interpreter without a call. Both methods are too long to be inlined.
     */
    private static MethodHandle methodWithFrame(int bytes) {
        var self = ClassDesc.of(StackSpace.class.getPackageName(), "StackFrame");
        var type = ConstantDescs.MTD_void;
        var code =
                ClassFile.of()
                        .build(
                                self,
                                methods -> {
                                    methods.withMethodBody(
                                            "frame",
                                            type,
                                            ClassFile.ACC_STATIC,
                                            body -> {
                                                body.iconst_0().istore(bytes / Long.BYTES - 1);
                                                nops(body).invokestatic(self, "leaf", type);
                                                body.return_();
                                            });
                                    methods.withMethodBody(
                                            "leaf",
                                            type,
                                            ClassFile.ACC_STATIC,
                                            body -> nops(body).return_());
                                });
        try {
            var lookup = MethodHandles.lookup().defineHiddenClass(code, true);
            return lookup.findStatic(
                    lookup.lookupClass(), "frame", MethodType.methodType(void.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static CodeBuilder nops(CodeBuilder body) {
        for (var i = 0; i < NOP_COUNT; i++) {
            body.nop();
        }
        return body;
    }
}
