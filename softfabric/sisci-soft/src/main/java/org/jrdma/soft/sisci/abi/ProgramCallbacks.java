package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.sisci.fabric.EventQueue;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.LocalInterrupt;
import org.jrdma.soft.sisci.fabric.SegmentEvent;
import org.jspecify.annotations.Nullable;

/**
 * Wraps the callback functions of a program, which are C functions, as {@link EventQueue.Callback}
 * objects.
 */
final class ProgramCallbacks {

    private static final MethodHandle LOCAL_SEGMENT =
            Downcalls.plain(
                    FunctionDescriptor.of(
                            JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT,
                            JAVA_INT));
    private static final MethodHandle REMOTE_SEGMENT =
            Downcalls.plain(
                    FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle STATUS =
            Downcalls.plain(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle DATA =
            Downcalls.plain(
                    FunctionDescriptor.of(
                            JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT));

    private ProgramCallbacks() {}

    /** Calls a C function of the program for an event. */
    @FunctionalInterface
    private interface Invocation<E> {
        int invoke(MemorySegment function, E event) throws Throwable;
    }

    /**
     * Returns a callback that calls a function of the program; null if the flags do not request
     * callbacks.
     */
    private static <E> EventQueue.@Nullable Callback<E> of(
            long function, int flags, Invocation<E> invocation) {
        if (!FlagChecks.has(flags, SCI_FLAG_USE_CALLBACK())) {
            return null;
        }
        throwIf(function == 0, SCI_ERR_ILLEGAL_PARAMETER());
        var address = MemorySegment.ofAddress(function);
        return event -> Downcalls.call(() -> invocation.invoke(address, event));
    }

    static EventQueue.@Nullable Callback<SegmentEvent> ofLocalSegment(
            long function, long argument, long handle, int flags) {
        return of(
                function,
                flags,
                (address, event) ->
                        (int)
                                LOCAL_SEGMENT.invokeExact(
                                        address,
                                        argument,
                                        handle,
                                        event.reason(),
                                        event.node(),
                                        event.adapter(),
                                        SCI_ERR_OK()));
    }

    static EventQueue.@Nullable Callback<SegmentEvent> ofRemoteSegment(
            long function, long argument, long handle, int flags) {
        return of(
                function,
                flags,
                (address, event) ->
                        (int)
                                REMOTE_SEGMENT.invokeExact(
                                        address, argument, handle, event.reason(), SCI_ERR_OK()));
    }

    static EventQueue.@Nullable Callback<Integer> ofDma(
            long function, long argument, long handle, int flags) {
        return of(
                function,
                flags,
                (address, status) ->
                        (int) STATUS.invokeExact(address, argument, handle, (int) status));
    }

    static EventQueue.@Nullable Callback<LocalInterrupt.Trigger> ofInterrupt(
            long function, long argument, long handle, int flags) {
        return of(
                function,
                flags,
                (address, _) -> (int) STATUS.invokeExact(address, argument, handle, SCI_ERR_OK()));
    }

    static EventQueue.@Nullable Callback<LocalInterrupt.Trigger> ofDataInterrupt(
            long function, long argument, long handle, int flags) {
        return of(
                function,
                flags,
                (address, trigger) -> {
                    try (var arena = Arena.ofConfined()) {
                        var length = trigger.data().length;
                        var data = arena.allocate(Math.max(1, length), Long.BYTES);
                        data.copyFrom(MemorySegment.ofArray(trigger.data()));
                        return (int)
                                DATA.invokeExact(
                                        address,
                                        argument,
                                        handle,
                                        data.address(),
                                        length,
                                        SCI_ERR_OK());
                    } finally {
                        trigger.taken().run();
                    }
                });
    }
}
