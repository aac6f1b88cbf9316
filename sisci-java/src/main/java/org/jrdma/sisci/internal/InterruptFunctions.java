package org.jrdma.sisci.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import org.jrdma.abi.sisci.sisci_h;
import org.jrdma.sisci.model.SisciException;

/** Calls the functions of libsisci for interrupts with and without data. */
public final class InterruptFunctions {

    /**
     * The method handle for {@code SCICreateInterrupt} and {@code SCICreateDataInterrupt}, which
     * have the same signature.
     */
    private static final MethodHandle CREATE =
            capturingErrno(sisci_h.SCICreateInterrupt$descriptor());

    private static final MethodHandle AWAIT =
            capturingErrno(sisci_h.SCIWaitForInterrupt$descriptor());
    private static final MethodHandle CONNECT =
            capturingErrno(sisci_h.SCIConnectInterrupt$descriptor());
    private static final MethodHandle REGISTER_FLAG =
            capturingErrno(sisci_h.SCIRegisterInterruptFlag$descriptor());
    private static final MethodHandle COUNT_OF_FLAG =
            capturingErrno(sisci_h.SCIGetConditionalInterruptTrigCounter$descriptor());
    private static final MethodHandle TRIGGER_DATA =
            capturingErrno(sisci_h.SCITriggerDataInterrupt$descriptor());

    private final SisciLibrary library;

    public InterruptFunctions(SisciLibrary library) {
        this.library = library;
    }

    /** The handle of a new interrupt, and the number by which peers connect to it. */
    public record Created(MemorySegment handle, int number) {}

    /**
     * Creates an interrupt.
     *
     * @param number the number of the interrupt if the flags contain {@code SCI_FLAG_FIXED_INTNO};
     *     otherwise, the library chooses the number
     * @param listener the key of a listener in {@link Callbacks}; 0 for no listener
     */
    public Created create(
            boolean withData,
            MemorySegment node,
            int adapter,
            int number,
            long listener,
            int flags,
            Object subject)
            throws SisciException {
        var callback = Callbacks.orNull(withData ? Callbacks.data() : Callbacks.status(), listener);
        var allFlags = flags | library.callbackFlag(listener);
        return library.call(
                withData ? "SCICreateDataInterrupt" : "SCICreateInterrupt",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    var numbered = arena.allocate(JAVA_INT);
                    numbered.set(JAVA_INT, 0, number);
                    CREATE.invokeExact(
                            function,
                            segment(),
                            node,
                            handle,
                            adapter,
                            numbered,
                            callback,
                            MemorySegment.ofAddress(listener),
                            allFlags,
                            error);
                    return new Created(handle.get(ADDRESS, 0), numbered.get(JAVA_INT, 0));
                });
    }

    /**
     * Waits in the library for an interrupt that was created without a listener. Several threads
     * can wait at the same time. Neither an interrupt of the thread nor a removal ends the wait.
     *
     * @return false if the timeout expired
     */
    public boolean await(MemorySegment interrupt, int milliseconds, Object subject)
            throws SisciException {
        return library.tryRun(
                "SCIWaitForInterrupt",
                subject,
                sisci_h.SCI_ERR_TIMEOUT(),
                (function, _, error) -> {
                    AWAIT.invokeExact(function, segment(), interrupt, milliseconds, 0, error);
                });
    }

    /** Removes an interrupt. A callback may still be running afterwards. */
    public void remove(boolean withData, MemorySegment interrupt, Object subject)
            throws SisciException {
        ofInterrupt(withData ? "SCIRemoveDataInterrupt" : "SCIRemoveInterrupt", interrupt, subject);
    }

    /**
     * Connects to an interrupt without waiting, because no release of the library implements the
     * timeout.
     */
    public MemorySegment connect(
            boolean withData, MemorySegment node, int peer, int adapter, int number, Object subject)
            throws SisciException {
        var timeout = library.number(SisciConstant.SCI_INFINITE_TIMEOUT);
        return library.call(
                withData ? "SCIConnectDataInterrupt" : "SCIConnectInterrupt",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    CONNECT.invokeExact(
                            function, segment(), node, handle, peer, adapter, number, timeout, 0,
                            error);
                    return handle.get(ADDRESS, 0);
                });
    }

    public void disconnect(boolean withData, MemorySegment interrupt, Object subject)
            throws SisciException {
        ofInterrupt(
                withData ? "SCIDisconnectDataInterrupt" : "SCIDisconnectInterrupt",
                interrupt,
                subject);
    }

    public void trigger(MemorySegment interrupt, Object subject) throws SisciException {
        ofInterrupt("SCITriggerInterrupt", interrupt, subject);
    }

    /** Triggers a data interrupt. Fails with NOSPC if the receive queue of the peer is full. */
    public void trigger(MemorySegment interrupt, byte[] message, Object subject)
            throws SisciException {
        library.run(
                "SCITriggerDataInterrupt",
                subject,
                (function, arena, error) -> {
                    var data = arena.allocate(message.length, 8);
                    data.copyFrom(MemorySegment.ofArray(message));
                    TRIGGER_DATA.invokeExact(
                            function, segment(), interrupt, data, message.length, 0, error);
                });
    }

    /**
     * Registers an interrupt flag at an offset in a segment and returns its handle.
     *
     * @param listener the key of a listener in {@link Callbacks}
     */
    public MemorySegment registerFlag(
            int adapter,
            MemorySegment segment,
            int offset,
            boolean conditional,
            long listener,
            Object subject)
            throws SisciException {
        var callback = Callbacks.status();
        var flags =
                library.callbackFlag(listener)
                        | (conditional
                                ? library.number(SisciConstant.SCI_FLAG_CONDITIONAL_INTERRUPT)
                                : 0);
        return library.call(
                "SCIRegisterInterruptFlag",
                subject,
                (function, arena, error) -> {
                    var handle = arena.allocate(ADDRESS);
                    REGISTER_FLAG.invokeExact(
                            function,
                            segment(),
                            adapter,
                            handle,
                            segment,
                            offset,
                            callback,
                            MemorySegment.ofAddress(listener),
                            flags,
                            error);
                    return handle.get(ADDRESS, 0);
                });
    }

    /** Enables a flag. Fails with COND_INT_RACE_PROBLEM if a store arrived at the same time. */
    public void enableFlag(MemorySegment interrupt, Object subject) throws SisciException {
        ofInterrupt("SCIEnableConditionalInterrupt", interrupt, subject);
    }

    public void disableFlag(MemorySegment interrupt, Object subject) throws SisciException {
        ofInterrupt("SCIDisableConditionalInterrupt", interrupt, subject);
    }

    public int countOfFlag(MemorySegment interrupt, Object subject) throws SisciException {
        return library.call(
                "SCIGetConditionalInterruptTrigCounter",
                subject,
                (function, arena, error) -> {
                    var count = arena.allocate(JAVA_INT);
                    COUNT_OF_FLAG.invokeExact(function, segment(), interrupt, count, 0, error);
                    return count.get(JAVA_INT, 0);
                });
    }

    private void ofInterrupt(String name, MemorySegment interrupt, Object subject)
            throws SisciException {
        library.run(name, interrupt, 0, subject);
    }
}
