package org.jrdma.soft.sisci.abi;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.lang.foreign.ValueLayout;
import java.util.function.LongFunction;
import org.jrdma.soft.sisci.fabric.EventQueue;
import org.jrdma.soft.sisci.fabric.FlagChecks;
import org.jrdma.soft.sisci.fabric.InterruptingWord;
import org.jrdma.soft.sisci.fabric.LocalInterrupt;
import org.jrdma.soft.sisci.fabric.LocalSegment;
import org.jrdma.soft.sisci.fabric.RemoteInterrupt;
import org.jspecify.annotations.Nullable;

/** The functions for interrupts, data interrupts and interrupt flags. */
final class InterruptExports extends AbstractExports {

    private static final byte[] NO_DATA = {};

    InterruptExports(SoftSisciLibrary library) {
        super(library);
    }

    @Exported("SCICreateInterrupt")
    void create(
            long descriptor,
            long interrupt,
            int adapter,
            long number,
            long callback,
            long argument,
            int flags) {
        create(
                descriptor,
                interrupt,
                false,
                adapter,
                number,
                flags,
                handle -> ProgramCallbacks.ofInterrupt(callback, argument, handle, flags));
    }

    @Exported("SCICreateDataInterrupt")
    void createWithData(
            long descriptor,
            long interrupt,
            int adapter,
            long number,
            long callback,
            long argument,
            int flags) {
        create(
                descriptor,
                interrupt,
                true,
                adapter,
                number,
                flags,
                handle -> ProgramCallbacks.ofDataInterrupt(callback, argument, handle, flags));
    }

    private void create(
            long descriptor,
            long interrupt,
            boolean carriesData,
            int adapter,
            long number,
            int flags,
            LongFunction<EventQueue.@Nullable Callback<LocalInterrupt.Trigger>> callback) {
        var interrupts = library.process().interrupts();
        var owner = descriptor(descriptor);
        var requestedNumber = ProgramMemory.integer(number);
        var created =
                handles.create(
                        interrupt,
                        handle ->
                                interrupts.create(
                                        owner,
                                        carriesData,
                                        adapter,
                                        requestedNumber,
                                        callback.apply(handle),
                                        flags));
        ProgramMemory.setInteger(number, created.number());
    }

    private LocalInterrupt local(long handle, boolean carriesData) {
        var object = handles.object(handle, LocalInterrupt.class);
        throwIf(object.carriesData() != carriesData, SCI_ERR_ILLEGAL_PARAMETER());
        return object;
    }

    private RemoteInterrupt remote(long handle, boolean carriesData) {
        var object = handles.object(handle, RemoteInterrupt.class);
        throwIf(object.carriesData() != carriesData, SCI_ERR_ILLEGAL_PARAMETER());
        return object;
    }

    @Exported("SCIRegisterInterruptFlag")
    void register(
            int adapter,
            long interrupt,
            long segment,
            int offset,
            long callback,
            long argument,
            int flags) {
        var target = handles.object(segment, LocalSegment.class);
        var _ =
                handles.create(
                        interrupt,
                        handle ->
                                InterruptingWord.register(
                                        target,
                                        adapter,
                                        offset,
                                        ProgramCallbacks.ofInterrupt(
                                                callback, argument, handle, flags),
                                        flags));
    }

    private InterruptingWord flag(long handle) {
        return handles.object(handle, InterruptingWord.class);
    }

    @Exported("SCIEnableConditionalInterrupt")
    void enable(long interrupt, int flags) {
        FlagChecks.checkNone(flags);
        flag(interrupt).enable();
    }

    @Exported("SCIDisableConditionalInterrupt")
    void disable(long interrupt, int flags) {
        FlagChecks.checkNone(flags);
        flag(interrupt).disable();
    }

    @Exported("SCIGetConditionalInterruptTrigCounter")
    void count(long interrupt, long count, int flags) {
        FlagChecks.checkNone(flags);
        ProgramMemory.setInteger(count, flag(interrupt).count());
    }

    @Exported("SCIRemoveInterrupt")
    void remove(long interrupt, int flags) {
        FlagChecks.checkNone(flags);
        if (handles.object(interrupt, Object.class) instanceof InterruptingWord flag) {
            flag.remove();
        } else {
            local(interrupt, false).remove();
        }
        handles.release(interrupt);
    }

    @Exported("SCIRemoveDataInterrupt")
    void removeWithData(long interrupt, int flags) {
        FlagChecks.checkNone(flags);
        local(interrupt, true).remove();
        handles.release(interrupt);
    }

    @Exported("SCIWaitForInterrupt")
    void await(long interrupt, int timeout, int flags) {
        FlagChecks.checkNone(flags);
        if (handles.object(interrupt, Object.class) instanceof InterruptingWord flag) {
            flag.await(timeout);
        } else {
            local(interrupt, false).await(timeout);
        }
    }

    /**
     * Implements {@code SCIWaitForDataInterrupt}: waits for a trigger and copies its data. The
     * integer at {@code length} is the size of the buffer on entry, and the size of the data on
     * return.
     */
    @Exported("SCIWaitForDataInterrupt")
    void awaitData(long interrupt, long data, long length, int timeout, int flags) {
        FlagChecks.checkNone(flags);
        var capacity = Integer.toUnsignedLong(ProgramMemory.integer(length));
        var bytes = local(interrupt, true).awaitData(timeout, capacity);
        if (bytes.length > 0) {
            ProgramMemory.at(data, bytes.length).asByteBuffer().put(bytes);
        }
        ProgramMemory.setInteger(length, bytes.length);
    }

    /**
     * Implements {@code SCIConnectInterrupt}. Fails at once if the interrupt does not exist: the
     * timeout is ignored.
     */
    @Exported("SCIConnectInterrupt")
    void connect(
            long descriptor,
            long interrupt,
            int node,
            int adapter,
            int number,
            @SuppressWarnings("unused") int timeout,
            int flags) {
        connect(descriptor, interrupt, false, node, adapter, number, flags);
    }

    /**
     * Implements {@code SCIConnectDataInterrupt}. Fails at once if the interrupt does not exist:
     * the timeout is ignored.
     */
    @Exported("SCIConnectDataInterrupt")
    void connectWithData(
            long descriptor,
            long interrupt,
            int node,
            int adapter,
            int number,
            @SuppressWarnings("unused") int timeout,
            int flags) {
        connect(descriptor, interrupt, true, node, adapter, number, flags);
    }

    private void connect(
            long descriptor,
            long interrupt,
            boolean carriesData,
            int node,
            int adapter,
            int number,
            int flags) {
        FlagChecks.checkNone(flags);
        var owner = descriptor(descriptor);
        var _ =
                handles.create(
                        interrupt,
                        _ -> RemoteInterrupt.connect(owner, carriesData, node, adapter, number));
    }

    @Exported("SCIDisconnectInterrupt")
    void disconnect(long interrupt, int flags) {
        FlagChecks.checkNone(flags);
        remote(interrupt, false).disconnect();
        handles.release(interrupt);
    }

    @Exported("SCIDisconnectDataInterrupt")
    void disconnectWithData(long interrupt, int flags) {
        FlagChecks.checkNone(flags);
        remote(interrupt, true).disconnect();
        handles.release(interrupt);
    }

    @Exported("SCITriggerInterrupt")
    void trigger(long interrupt, int flags) {
        FlagChecks.checkNone(flags);
        remote(interrupt, false).trigger();
    }

    @Exported("SCITriggerDataInterrupt")
    void triggerWithData(long interrupt, long data, int length, int flags) {
        FlagChecks.checkNone(flags);
        throwIf(
                Integer.compareUnsigned(length, RemoteInterrupt.MAX_DATA) > 0,
                SCI_ERR_OUT_OF_RANGE());
        remote(interrupt, true)
                .trigger(
                        length == 0
                                ? NO_DATA
                                : ProgramMemory.at(data, length).toArray(ValueLayout.JAVA_BYTE));
    }
}
