package org.jrdma.verbs.internal;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.run;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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

/**
 * Calls the C functions of completion queues and completion channels. The functions that poll are
 * in {@link PostAndPollFunctions} and {@link CompletionPoller}.
 */
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

    /**
     * The memory for the results of {@link #takeEvent}, to which the C function writes the address
     * of the queue, which it reads again, and the context of the queue. Threads may share the
     * memory if the channel has only one queue.
     */
    public record EventMemory(MemorySegment queue, MemorySegment context) {

        public static EventMemory allocate(Arena arena) {
            return new EventMemory(arena.allocate(ADDRESS), arena.allocate(ADDRESS));
        }
    }

    private final MemorySegment createChannel;
    private final MemorySegment destroyChannel;
    private final MemorySegment createCq;
    private final MemorySegment resizeCq;
    private final MemorySegment destroyCq;
    private final MemorySegment getCqEvent;
    private final MemorySegment ackCqEvents;

    public CompletionFunctions(NativeLibrary library) throws LibraryNotFoundException {
        createChannel = library.require("ibv_create_comp_channel");
        destroyChannel = library.require("ibv_destroy_comp_channel");
        createCq = library.require("ibv_create_cq");
        resizeCq = library.require("ibv_resize_cq");
        destroyCq = library.require("ibv_destroy_cq");
        getCqEvent = library.require("ibv_get_cq_event");
        ackCqEvents = library.require("ibv_ack_cq_events");
    }

    /** Creates a completion channel. The C function returns NULL and sets errno on failure. */
    public MemorySegment createChannel(MemorySegment context, CheckedCall attempt)
            throws VerbsException {
        return attempt.structure(
                ibv_comp_channel.layout(),
                () ->
                        (MemorySegment)
                                CREATE_CHANNEL.invokeExact(createChannel, segment(), context));
    }

    /** Destroys a completion channel. The C function returns 0 or an errno. */
    public void destroyChannel(MemorySegment channel, CheckedCall attempt) throws VerbsException {
        attempt.errno(() -> (int) DESTROY_CHANNEL.invokeExact(destroyChannel, segment(), channel));
    }

    public static int descriptor(MemorySegment channel) {
        return ibv_comp_channel.fd(channel);
    }

    /**
     * Creates a completion queue. The C function returns NULL and sets errno on failure.
     *
     * @param channel the completion channel, or NULL
     */
    public MemorySegment create(
            MemorySegment context,
            int capacity,
            MemorySegment channel,
            int vector,
            CheckedCall attempt)
            throws VerbsException {
        return attempt.structure(
                ibv_cq.layout(),
                () ->
                        (MemorySegment)
                                CREATE_CQ.invokeExact(
                                        createCq,
                                        segment(),
                                        context,
                                        capacity,
                                        MemorySegment.NULL,
                                        channel,
                                        vector));
    }

    /**
     * The options of {@code ibv_create_cq_ex} that {@code ibv_create_cq} lacks.
     *
     * @param parentDomain the parent domain, or NULL
     */
    public record Extension(
            Set<CompletionField> fields,
            boolean singleThreaded,
            boolean ignoringOverrun,
            MemorySegment parentDomain) {}

    /**
     * Creates an {@code ibv_cq_ex}. The C function returns NULL and sets errno on failure.
     *
     * @param channel the completion channel, or NULL
     */
    public MemorySegment createExtended(
            VerbsContext context,
            int capacity,
            MemorySegment channel,
            int vector,
            Extension extension,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.create_cq_ex$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_cq_init_attr_ex.allocate(arena);
            ibv_cq_init_attr_ex.cqe(attributes, capacity);
            ibv_cq_init_attr_ex.channel(attributes, channel);
            ibv_cq_init_attr_ex.comp_vector(attributes, vector);
            ibv_cq_init_attr_ex.wc_flags(
                    attributes, VerbsEnumCodes.COMPLETION_FIELD.bits(extension.fields));
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
            return attempt.structure(
                    ibv_cq_ex.layout(),
                    () ->
                            (MemorySegment)
                                    CREATE_CQ_EX.invokeExact(
                                            function, segment(), context.address(), attributes));
        }
    }

    /** Changes the capacity of a completion queue. The C function returns 0 or an errno. */
    public void resize(MemorySegment queue, int capacity, CheckedCall attempt)
            throws VerbsException {
        attempt.errno(() -> (int) RESIZE_CQ.invokeExact(resizeCq, segment(), queue, capacity));
    }

    /**
     * Moderates the events of a completion queue: one event reports several completions. The C
     * function returns 0 or an errno.
     *
     * @param completions the number of completions after which an event is raised
     * @param microseconds the time after which an event is raised for fewer completions
     */
    public void moderate(
            VerbsContext context,
            MemorySegment queue,
            int completions,
            int microseconds,
            CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.modify_cq$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_modify_cq_attr.allocate(arena);
            ibv_modify_cq_attr.attr_mask(attributes, rdma_h.IBV_CQ_ATTR_MODERATE());
            var moderation = ibv_modify_cq_attr.moderate(attributes);
            ibv_moderate_cq.cq_count(moderation, (short) completions);
            ibv_moderate_cq.cq_period(moderation, (short) microseconds);
            attempt.errno(
                    () -> (int) MODIFY_CQ.invokeExact(function, segment(), queue, attributes));
        }
    }

    /**
     * Destroys a completion queue. Blocks until all events of the queue that were taken from its
     * channel are acknowledged. The C function returns 0 or an errno.
     */
    public void destroy(MemorySegment queue, CheckedCall attempt) throws VerbsException {
        attempt.errno(() -> (int) DESTROY_CQ.invokeExact(destroyCq, segment(), queue));
    }

    /**
     * Takes an event from a completion channel whose descriptor is non-blocking. Returns false if
     * there is no event. The C function returns -1 and sets errno on failure.
     */
    public boolean takeEvent(MemorySegment channel, EventMemory event, CheckedCall attempt)
            throws VerbsException {
        int result =
                call(() ->
                        (int)
                                GET_CQ_EVENT.invokeExact(
                                        getCqEvent,
                                        segment(),
                                        channel,
                                        event.queue,
                                        event.context));
        if (result < 0) {
            if (CapturedErrno.value() == Errno.EAGAIN) {
                return false;
            }
            throw attempt.failed(CapturedErrno.value());
        }
        return true;
    }

    /**
     * Acknowledges a number of events of a completion queue. Callers should acknowledge several
     * events by one call, because the C function takes a lock.
     */
    public void acknowledge(MemorySegment queue, int events) {
        run(() -> {
            ACK_CQ_EVENTS.invokeExact(ackCqEvents, segment(), queue, events);
        });
    }
}
