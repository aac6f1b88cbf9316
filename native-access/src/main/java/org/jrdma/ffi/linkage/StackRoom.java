package org.jrdma.ffi.linkage;

import java.lang.classfile.ClassFile;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;

/**
 * Room on the stack for what lies behind a C function that is Java itself. A stack that overflows
 * in there ends the JVM; one that overflows here is a {@link StackOverflowError} like any other.
 *
 * <p>What asks for room is a method that does nothing and has a great many local variables. The
 * interpreter makes place for them. Compiled code makes none, but must be able to become
 * interpreted code at each of its calls, so it touches the stack at its start as far down as the
 * interpreter's frame would reach: one store for each page, and nothing to return from.
 */
public final class StackRoom {

    /** In instructions; of what is called often, 325 bytes are inlined. */
    private static final int MORE_THAN_IS_INLINED = 400;

    /** Until so many calls did something, nothing is taken to be compiled. */
    private static final int COLD_CALLS = 20_000;

    /** Whether any open library is Java. */
    private static volatile boolean needed;

    /** Several threads may lose each other's counts, which delays the end of the cold calls. */
    private static int callsThatDidSomething;

    private StackRoom() {}

    /** From now on, there is a library that may be Java. */
    static void need() {
        needed = true;
        ensure(); // makes the methods while there is room
    }

    /** For a call that may use classes for the first time. */
    static void ensure() {
        if (needed) {
            enter(Methods.COLD);
        }
    }

    /** For a call that is made again and again, into a library that is Java. */
    public static void ensureForHotPath() {
        if (callsThatDidSomething < COLD_CALLS) {
            enter(Methods.COLD);
        } else {
            enter(Methods.HOT);
        }
    }

    /** Tells of a call on the hot path that was not for nothing, as a poll often is. */
    public static void didSomething() {
        if (callsThatDidSomething < COLD_CALLS) {
            callsThatDidSomething++;
        }
    }

    private static void enter(MethodHandle method) {
        try {
            method.invokeExact(true);
        } catch (Throwable e) {
            throw Downcalls.unchecked(e);
        }
    }

    /** Made only where a library is Java. */
    private static final class Methods {

        /** Enough for the JDK's own deepest way: that of classes used for the first time. */
        static final MethodHandle COLD = methodWithAFrameOf(128 << 10);

        /** Enough for code that is compiled and has been there before. */
        static final MethodHandle HOT = methodWithAFrameOf(16 << 10);
    }

    /**
     * A method that calls itself once, since code without a call never becomes interpreted code,
     * and is too long for the JIT to inline.
     */
    private static MethodHandle methodWithAFrameOf(int bytes) {
        var name = "frame";
        var self = ClassDesc.of(StackRoom.class.getPackageName(), "StackFrame");
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
                                                    for (var i = 0; i < MORE_THAN_IS_INLINED; i++) {
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
