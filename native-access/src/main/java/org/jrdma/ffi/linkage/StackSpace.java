package org.jrdma.ffi.linkage;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Ensures that enough stack is left for a C function that is implemented in Java. A stack overflow
 * inside such a function terminates the JVM, while an overflow here is an ordinary {@link
 * StackOverflowError}.
 *
 * <p>The check calls a method that does nothing and has very many local variables. The interpreter
 * reserves stack for them. Compiled code does not, but it must be able to continue in the
 * interpreter at each of its calls. Therefore, it touches the stack as far down as the
 * interpreter's frame would reach, with one store for each page.
 */
public final class StackSpace {

    /**
     * The number of instructions that prevents inlining: the JIT inlines up to 325 bytes of a
     * frequently called method.
     */
    private static final int NOP_COUNT = 400;

    /**
     * The number of calls that must have processed work before the hot path is assumed to be
     * compiled.
     */
    private static final int COLD_CALLS = 20_000;

    /** Set once an open library may be written in Java. */
    private static volatile boolean enabled;

    /**
     * The number of calls that processed work. Lost updates are harmless: they only delay the end
     * of the cold calls.
     */
    private static int callsWithWork;

    private StackSpace() {}

    /** Enables the check. Called when a library is opened that may be written in Java. */
    static void enable() {
        enabled = true;
        ensure(); // generates the methods while enough stack is left
    }

    /** Checks the stack before a call that may load classes. */
    static void ensure() {
        if (enabled) {
            enter(Methods.COLD);
        }
    }

    /** Checks the stack before a frequently repeated call of a library written in Java. */
    public static void ensureForHotPath() {
        if (callsWithWork < COLD_CALLS) {
            enter(Methods.COLD);
        } else {
            enter(Methods.HOT);
        }
    }

    /** Reports a call on the hot path that processed work. Many polls do not. */
    public static void recordWork() {
        if (callsWithWork < COLD_CALLS) {
            callsWithWork++;
        }
    }

    private static void enter(MethodHandle method) {
        try {
            method.invokeExact(true);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Initialized only if a library is written in Java. */
    private static final class Methods {

        /** Enough for the deepest calls of the JDK, which occur when classes are first used. */
        static final MethodHandle COLD = methodWithFrame(128 << 10);

        /** Enough for code that is compiled and has run before. */
        static final MethodHandle HOT = methodWithFrame(16 << 10);
    }

    /**
     * Generates a method that calls itself once, because compiled code without a call never
     * continues in the interpreter, and that is too long to be inlined.
     */
    private static MethodHandle methodWithFrame(int bytes) {
        var name = "frame";
        var self = ClassDesc.of(StackSpace.class.getPackageName(), "StackFrame");
        var type = MethodTypeDesc.of(ConstantDescs.CD_void, ConstantDescs.CD_boolean);
        var code =
                ClassFile.of()
                        .build(
                                self,
                                frame ->
                                        frame.withMethodBody(
                                                name,
                                                type,
                                                ClassFile.ACC_PUBLIC | ClassFile.ACC_STATIC,
                                                body -> {
                                                    body.iconst_0().istore(bytes / Long.BYTES - 1);
                                                    for (var i = 0; i < NOP_COUNT; i++) {
                                                        body.nop();
                                                    }
                                                    body.iload(0)
                                                            .ifThen(again ->
                                                                    again.iconst_0()
                                                                            .invokestatic(
                                                                                    self, name,
                                                                                    type))
                                                            .return_();
                                                }));
        try {
            var lookup = MethodHandles.lookup().defineHiddenClass(code, true);
            return lookup.findStatic(
                    lookup.lookupClass(), name, MethodType.methodType(void.class, boolean.class));
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
