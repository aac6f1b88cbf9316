package org.jrdma.soft.sisci.abi;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.ffi.linkage.Downcalls;
import org.jrdma.soft.sisci.fabric.LocalInterrupt;
import org.jrdma.soft.sisci.fabric.Outlet;
import org.jrdma.soft.sisci.fabric.Refusal;
import org.jrdma.soft.sisci.fabric.SegmentEvent;
import org.jspecify.annotations.Nullable;

/** Functions of the program's, as what calls them. */
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

    /** Whether there is one; the flag alone says so. */
    private static boolean isWanted(long function, int flags) {
        var wanted = (flags & sisci_h.SCI_FLAG_USE_CALLBACK()) != 0;
        Refusal.when(wanted && function == 0, sisci_h.SCI_ERR_ILLEGAL_PARAMETER());
        return wanted;
    }

    static Outlet.@Nullable Callback<SegmentEvent> ofLocalSegment(
            long function, long argument, long handle, int flags) {
        if (!isWanted(function, flags)) {
            return null;
        }
        var address = MemorySegment.ofAddress(function);
        return event ->
                Downcalls.call(() ->
                        (int)
                                LOCAL_SEGMENT.invokeExact(
                                        address,
                                        argument,
                                        handle,
                                        event.reason(),
                                        event.node(),
                                        event.adapter(),
                                        sisci_h.SCI_ERR_OK()));
    }

    static Outlet.@Nullable Callback<SegmentEvent> ofRemoteSegment(
            long function, long argument, long handle, int flags) {
        if (!isWanted(function, flags)) {
            return null;
        }
        var address = MemorySegment.ofAddress(function);
        return event ->
                Downcalls.call(() ->
                        (int)
                                REMOTE_SEGMENT.invokeExact(
                                        address,
                                        argument,
                                        handle,
                                        event.reason(),
                                        sisci_h.SCI_ERR_OK()));
    }

    static Outlet.@Nullable Callback<Integer> ofDma(
            long function, long argument, long handle, int flags) {
        if (!isWanted(function, flags)) {
            return null;
        }
        var address = MemorySegment.ofAddress(function);
        return status ->
                Downcalls.call(
                        () -> (int) STATUS.invokeExact(address, argument, handle, (int) status));
    }

    static Outlet.@Nullable Callback<LocalInterrupt.Triggered> ofInterrupt(
            long function, long argument, long handle, int flags) {
        if (!isWanted(function, flags)) {
            return null;
        }
        var address = MemorySegment.ofAddress(function);
        return _ ->
                Downcalls.call(() ->
                        (int) STATUS.invokeExact(address, argument, handle, sisci_h.SCI_ERR_OK()));
    }

    static Outlet.@Nullable Callback<LocalInterrupt.Triggered> ofDataInterrupt(
            long function, long argument, long handle, int flags) {
        if (!isWanted(function, flags)) {
            return null;
        }
        var address = MemorySegment.ofAddress(function);
        return triggered -> {
            try (var arena = Arena.ofConfined()) {
                var data = arena.allocate(Math.max(1, triggered.data().length), Long.BYTES);
                MemorySegment.copy(
                        triggered.data(),
                        0,
                        data,
                        ValueLayout.JAVA_BYTE,
                        0,
                        triggered.data().length);
                return Downcalls.call(() ->
                        (int)
                                DATA.invokeExact(
                                        address,
                                        argument,
                                        handle,
                                        data.address(),
                                        triggered.data().length,
                                        sisci_h.SCI_ERR_OK()));
            } finally {
                triggered.taken().run();
            }
        };
    }
}
