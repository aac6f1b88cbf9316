package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_comp_channel;
import org.jrdma.abi.rdma.ibv_cq;
import org.jrdma.abi.rdma.ibv_cq_ex;
import org.jrdma.abi.rdma.ibv_cq_init_attr_ex;
import org.jrdma.abi.rdma.ibv_moderate_cq;
import org.jrdma.abi.rdma.ibv_modify_cq_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.CapturedErrno;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.VerbsException;

/** Completion queues and the channels that tell of them. Polling is in {@link HotPath}. */
public final class CompletionFunctions {

    private static final MethodHandle CREATE_CHANNEL =
            capturingErrno(rdma_h.ibv_create_comp_channel$descriptor());
    private static final MethodHandle DESTROY_CHANNEL =
            capturingErrno(rdma_h.ibv_destroy_comp_channel$descriptor());
    private static final MethodHandle CREATE_CQ = capturingErrno(rdma_h.ibv_create_cq$descriptor());
    private static final MethodHandle CREATE_CQ_EX =
            capturingErrno(verbs_context.create_cq_ex.descriptor());
    private static final MethodHandle RESIZE_CQ = capturingErrno(rdma_h.ibv_resize_cq$descriptor());
    private static final MethodHandle MODIFY_CQ =
            capturingErrno(verbs_context.modify_cq.descriptor());
    private static final MethodHandle DESTROY_CQ =
            capturingErrno(rdma_h.ibv_destroy_cq$descriptor());
    private static final MethodHandle GET_CQ_EVENT =
            capturingErrno(rdma_h.ibv_get_cq_event$descriptor());
    private static final MethodHandle ACK_CQ_EVENTS =
            capturingErrno(rdma_h.ibv_ack_cq_events$descriptor());

    private final MemorySegment createChannel;
    private final MemorySegment destroyChannel;
    private final MemorySegment createCq;
    private final MemorySegment resizeCq;
    private final MemorySegment destroyCq;
    private final MemorySegment getCqEvent;
    private final MemorySegment ackCqEvents;

    /** Finds the functions. */
    public CompletionFunctions(NativeLibrary library) throws LibraryNotFoundException {
        createChannel = library.require("ibv_create_comp_channel");
        destroyChannel = library.require("ibv_destroy_comp_channel");
        createCq = library.require("ibv_create_cq");
        resizeCq = library.require("ibv_resize_cq");
        destroyCq = library.require("ibv_destroy_cq");
        getCqEvent = library.require("ibv_get_cq_event");
        ackCqEvents = library.require("ibv_ack_cq_events");
    }

    /** NULL and errno on failure. */
    public MemorySegment createChannel(MemorySegment context, Attempt attempt)
            throws VerbsException {
        var channel =
                attempt.pointer(
                        call(() ->
                                (MemorySegment)
                                        CREATE_CHANNEL.invokeExact(
                                                createChannel, segment(), context)));
        return memoryAt(channel, ibv_comp_channel.layout().byteSize());
    }

    /** Returns the errno. */
    public void destroyChannel(MemorySegment channel, Attempt attempt) throws VerbsException {
        attempt.errno(
                call(() -> (int) DESTROY_CHANNEL.invokeExact(destroyChannel, segment(), channel)));
    }

    /** The descriptor that a channel's events come from. */
    public static int descriptor(MemorySegment channel) {
        return ibv_comp_channel.fd(channel);
    }

    /** Without channel: NULL for it. NULL and errno on failure. */
    public MemorySegment create(
            MemorySegment context, int capacity, MemorySegment channel, int vector, Attempt attempt)
            throws VerbsException {
        var queue =
                attempt.pointer(
                        call(() ->
                                (MemorySegment)
                                        CREATE_CQ.invokeExact(
                                                createCq,
                                                segment(),
                                                context,
                                                capacity,
                                                MemorySegment.NULL,
                                                channel,
                                                vector)));
        return memoryAt(queue, ibv_cq.layout().byteSize());
    }

    /**
     * How an extended queue is made, besides its capacity.
     *
     * @param parentDomain NULL for none
     */
    public record Extension(
            Set<CompletionField> fields,
            boolean singleThreaded,
            boolean ignoringOverrun,
            MemorySegment parentDomain) {}

    /** An {@code ibv_cq_ex}. Without channel: NULL for it. NULL and errno on failure. */
    public MemorySegment createExtended(
            VerbsContext context,
            int capacity,
            MemorySegment channel,
            int vector,
            Extension extension,
            Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.create_cq_ex$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_cq_init_attr_ex.allocate(arena);
            ibv_cq_init_attr_ex.cqe(attributes, capacity);
            ibv_cq_init_attr_ex.channel(attributes, channel);
            ibv_cq_init_attr_ex.comp_vector(attributes, vector);
            ibv_cq_init_attr_ex.wc_flags(attributes, Codes.COMPLETION_FIELD.bits(extension.fields));
            var flags =
                    (extension.singleThreaded ? rdma_h.IBV_CREATE_CQ_ATTR_SINGLE_THREADED() : 0)
                            | (extension.ignoringOverrun
                                    ? rdma_h.IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN()
                                    : 0);
            var parent = extension.parentDomain;
            ibv_cq_init_attr_ex.flags(attributes, flags);
            ibv_cq_init_attr_ex.parent_domain(attributes, parent);
            ibv_cq_init_attr_ex.comp_mask(
                    attributes,
                    (flags == 0 ? 0 : rdma_h.IBV_CQ_INIT_ATTR_MASK_FLAGS())
                            | (parent.address() == 0 ? 0 : rdma_h.IBV_CQ_INIT_ATTR_MASK_PD()));
            var queue =
                    attempt.pointer(
                            call(() ->
                                    (MemorySegment)
                                            CREATE_CQ_EX.invokeExact(
                                                    function,
                                                    segment(),
                                                    context.address(),
                                                    attributes)));
            return memoryAt(queue, ibv_cq_ex.layout().byteSize());
        }
    }

    /** Returns the errno. */
    public void resize(MemorySegment queue, int capacity, Attempt attempt) throws VerbsException {
        attempt.errno(
                call(() -> (int) RESIZE_CQ.invokeExact(resizeCq, segment(), queue, capacity)));
    }

    /** Lets events stand for several completions. Returns the errno. */
    public void moderate(
            VerbsContext context,
            MemorySegment queue,
            int completions,
            int microseconds,
            Attempt attempt)
            throws VerbsException {
        var function = context.require(verbs_context.modify_cq$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_modify_cq_attr.allocate(arena);
            ibv_modify_cq_attr.attr_mask(attributes, rdma_h.IBV_CQ_ATTR_MODERATE());
            var moderation = ibv_modify_cq_attr.moderate(attributes);
            ibv_moderate_cq.cq_count(moderation, (short) completions);
            ibv_moderate_cq.cq_period(moderation, (short) microseconds);
            attempt.errno(
                    call(() ->
                            (int) MODIFY_CQ.invokeExact(function, segment(), queue, attributes)));
        }
    }

    /** Waits until every event taken from its channel was acknowledged. Returns the errno. */
    public void destroy(MemorySegment queue, Attempt attempt) throws VerbsException {
        attempt.errno(call(() -> (int) DESTROY_CQ.invokeExact(destroyCq, segment(), queue)));
    }

    /**
     * Takes an event from a channel whose descriptor does not block; false where there is none. -1
     * and errno on failure.
     */
    public boolean takeEvent(MemorySegment channel, Attempt attempt) throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var queue = arena.allocate(ValueLayout.ADDRESS);
            var context = arena.allocate(ValueLayout.ADDRESS);
            int result =
                    call(() ->
                            (int)
                                    GET_CQ_EVENT.invokeExact(
                                            getCqEvent, segment(), channel, queue, context));
            if (result < 0) {
                if (CapturedErrno.value() == Errno.EAGAIN) {
                    return false;
                }
                throw attempt.failed(CapturedErrno.value());
            }
            return true;
        }
    }

    /**
     * Acknowledges events taken. Takes a lock in C, so it is worth while to do it for several at
     * once.
     */
    public void acknowledge(MemorySegment queue, int events) {
        run(() -> {
            ACK_CQ_EVENTS.invokeExact(ackCqEvents, segment(), queue, events);
        });
    }
}
