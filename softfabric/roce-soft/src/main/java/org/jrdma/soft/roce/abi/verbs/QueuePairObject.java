package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntConsumer;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_ex;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ReferenceCount;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.engine.CompletionSink;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.QueuePairState;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.network.Port;
import org.jspecify.annotations.Nullable;

/** The implementation of an {@code ibv_qp} or {@code ibv_qp_ex}, a queue pair. */
final class QueuePairObject extends ContextResource {

    /** The completion sink of a queue pair without a completion queue. */
    private static final CompletionSink NO_COMPLETIONS =
            _ -> {
                throw new IllegalStateException(
                        "A queue pair without a completion queue has reported a completion.");
            };

    private final Port port;
    private final QueuePairKind kind;
    private final QueuePairStateAndAttributes core;
    private final QueuePair queuePair;

    /**
     * The reference counts of the objects that this queue pair uses, such as its protection domain.
     */
    private final List<ReferenceCount> dependencies;

    /** The poster of send requests; null if the type of the queue pair has no send queue. */
    private final @Nullable SendPoster sends;

    /** The post functions of an {@code ibv_qp_ex}; null if this queue pair is an {@code ibv_qp}. */
    private final @Nullable ExtendedSends extendedSends;

    /**
     * The poster of receive requests; null if the queue pair uses a shared receive queue or its
     * type has no receive queue.
     */
    private final @Nullable ReceivePoster receives;

    /** The XRC domain of an XRC receive queue pair; null for other types. */
    private final @Nullable XrcDomainObject extendedDomain;

    /** The multicast groups that the queue pair is attached to. */
    private final Set<RoceGid> groups = new HashSet<>();

    private final IntConsumer eventListener = this::raised;
    private boolean stopped;

    /**
     * Creates a queue pair of any type except XRC receive.
     *
     * @param requested an {@code ibv_qp_init_attr}, in which the constructor stores the actual
     *     capacities
     * @param extended true to create an {@code ibv_qp_ex}, false to create an {@code ibv_qp}
     */
    QueuePairObject(ProtectionDomainObject domain, MemorySegment requested, boolean extended) {
        var context = domain.context();
        var kind = QueuePairKind.of(ibv_qp_init_attr.qp_type(requested));
        var sendCompletions =
                CompletionQueueObject.of(ibv_qp_init_attr.send_cq(requested).address());
        var receiveCompletions =
                kind == QueuePairKind.EXTENDED_SENDER
                        ? null
                        : CompletionQueueObject.of(ibv_qp_init_attr.recv_cq(requested).address());
        var shared = sharedReceives(ibv_qp_init_attr.srq(requested).address());
        ErrnoException.throwIf(
                kind == QueuePairKind.EXTENDED_RECEIVER
                        || sendCompletions.context() != context
                        || (receiveCompletions != null && receiveCompletions.context() != context)
                        || (shared != null && shared.context() != context),
                Errno.EINVAL);
        var capacities = ibv_qp_init_attr.cap(requested);
        if (shared != null || receiveCompletions == null) {
            // A queue pair without its own receive queue ignores the requested values.
            ibv_qp_cap.max_recv_wr(capacities, 0);
            ibv_qp_cap.max_recv_sge(capacities, 0);
        }
        requireValid(capacities);
        var core =
                new QueuePairStateAndAttributes(
                        context.port(),
                        kind,
                        requested,
                        new QueuePairStateAndAttributes.Dependencies(
                                domain.domain(),
                                sendCompletions,
                                receiveCompletions == null ? NO_COMPLETIONS : receiveCompletions,
                                shared == null ? null : shared.queue(),
                                null),
                        ibv_qp_cap.max_recv_sge(capacities));
        // An ibv_qp_ex begins with an ibv_qp.
        super(context, extended ? ibv_qp_ex.layout() : ibv_qp.layout());
        this.port = context.port();
        this.kind = kind;
        this.extendedDomain = null;
        this.core = core;
        this.queuePair = core.queuePair();
        this.extendedSends =
                extended
                        ? new ExtendedSends(this, structure(), capacities, context.functions())
                        : null;
        this.sends =
                new SendPoster(
                        queuePair.sends(),
                        kind.transport(),
                        domain,
                        capacities,
                        ibv_qp_init_attr.sq_sig_all(requested) != 0);
        this.receives =
                shared != null || receiveCompletions == null
                        ? null
                        : new ReceivePoster(
                                queuePair.receives(), ibv_qp_cap.max_recv_sge(capacities));
        ibv_qp.pd(structure(), domain.structure());
        ibv_qp.send_cq(structure(), sendCompletions.structure());
        ibv_qp.recv_cq(structure(), ibv_qp_init_attr.recv_cq(requested));
        ibv_qp.srq(structure(), ibv_qp_init_attr.srq(requested));
        this.dependencies = new ArrayList<>(List.of(domain.users(), sendCompletions.users()));
        if (receiveCompletions != null) {
            dependencies.add(receiveCompletions.users());
        }
        if (shared != null) {
            dependencies.add(shared.users());
        }
        begin(ibv_qp_init_attr.qp_context(requested));
    }

    /**
     * Creates an XRC receive queue pair. It has no receive queue: each request of its peer selects
     * an XRC receive queue of the domain.
     *
     * @param requested an {@code ibv_qp_init_attr}, in which this method stores the actual
     *     capacities
     */
    static QueuePairObject receiving(XrcDomainObject domain, MemorySegment requested) {
        ibv_qp_init_attr.cap(requested).fill((byte) 0);
        var core =
                new QueuePairStateAndAttributes(
                        domain.context().port(),
                        QueuePairKind.EXTENDED_RECEIVER,
                        requested,
                        new QueuePairStateAndAttributes.Dependencies(
                                // A new protection domain without memory, because the XRC receive
                                // queues of the requests determine the accessible memory.
                                new ProtectionDomain(),
                                NO_COMPLETIONS,
                                NO_COMPLETIONS,
                                null,
                                domain.domain().domain()),
                        DeviceLimits.MAX_ELEMENTS);
        return new QueuePairObject(domain, core, ibv_qp_init_attr.qp_context(requested));
    }

    /** Creates an {@code ibv_qp} for an existing XRC receive queue pair. */
    QueuePairObject(
            XrcDomainObject domain, QueuePairStateAndAttributes core, MemorySegment userContext) {
        super(domain.context(), ibv_qp.layout());
        this.port = context().port();
        this.kind = QueuePairKind.EXTENDED_RECEIVER;
        this.extendedDomain = domain;
        this.core = core;
        this.queuePair = core.queuePair();
        this.extendedSends = null;
        this.sends = null;
        this.receives = null;
        this.dependencies = List.of(domain.users());
        begin(userContext);
        domain.domain().receivers().put(queuePair.number(), core);
    }

    /**
     * Completes the construction: fills the structure, and registers this object with its
     * dependencies and its context.
     */
    private void begin(MemorySegment userContext) {
        core.open(eventListener);
        ibv_qp.context(structure(), context().address());
        ibv_qp.qp_context(structure(), userContext);
        ibv_qp.qp_num(structure(), queuePair.number());
        ibv_qp.qp_type(structure(), kind.code());
        dependencies.forEach(ReferenceCount::add);
        context().own(this);
    }

    private static @Nullable SharedReceiveQueueObject sharedReceives(long address) {
        if (address == 0) {
            return null;
        }
        var found = SharedReceiveQueueObject.of(address);
        if (found.isExtended()) {
            // An XRC receive queue is selected by requests of peers, and cannot be assigned to a
            // queue pair.
            throw new ErrnoException(Errno.EINVAL);
        }
        return found;
    }

    private static void requireValid(MemorySegment capacities) {
        requireAtMost(DeviceLimits.MAX_REQUESTS, ibv_qp_cap.max_send_wr(capacities));
        requireAtMost(DeviceLimits.MAX_REQUESTS, ibv_qp_cap.max_recv_wr(capacities));
        requireAtMost(DeviceLimits.MAX_ELEMENTS, ibv_qp_cap.max_send_sge(capacities));
        requireAtMost(DeviceLimits.MAX_ELEMENTS, ibv_qp_cap.max_recv_sge(capacities));
        requireAtMost(DeviceLimits.MAX_INLINE_BYTES, ibv_qp_cap.max_inline_data(capacities));
    }

    private static void requireAtMost(int max, int value) {
        ErrnoException.throwIf(value < 0 || value > max, Errno.EINVAL);
    }

    static QueuePairObject of(long address) {
        return StructureRegistry.object(address, QueuePairObject.class);
    }

    // ---- posting

    /**
     * Posts a chain of {@code ibv_send_wr} ({@code ibv_post_send}). Returns 0, or the errno of the
     * first request that failed. The requests before it are posted.
     *
     * @param failed the address where this method stores the address of the request that failed
     */
    int postSend(long request, long failed) {
        if (sends == null || !acceptsSends()) {
            UncheckedMemory.setLong(failed, request);
            return Errno.EINVAL;
        }
        try {
            return sends.post(request, failed);
        } finally {
            port.ring(queuePair);
        }
    }

    /**
     * Posts a chain of {@code ibv_send_wr}, either completely or not at all. Returns 0 or an errno.
     */
    int postAllSends(long first, int count) {
        if (sends == null || !acceptsSends()) {
            return Errno.EINVAL;
        }
        try {
            return sends.postAll(first, count);
        } finally {
            port.ring(queuePair);
        }
    }

    private boolean acceptsSends() {
        return switch (core.state()) {
            case RESET, INITIALIZED, READY_TO_RECEIVE -> false;
            case READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> true;
        };
    }

    /**
     * Returns the post functions of an {@code ibv_qp_ex}.
     *
     * @throws ErrnoException with {@code EINVAL} if this queue pair is not an {@code ibv_qp_ex}
     */
    ExtendedSends extendedSends() {
        if (extendedSends == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return extendedSends;
    }

    boolean isExtended() {
        return extendedSends != null;
    }

    /**
     * Posts a request to bind a type 1 memory window ({@code ibv_bind_mw}). Returns 0 or an errno.
     *
     * @param requested an {@code ibv_mw_bind}
     */
    int bind(MemoryWindowObject window, MemorySegment requested) {
        if (sends == null || !acceptsSends()) {
            return Errno.EINVAL;
        }
        try {
            return sends.bind(window, requested);
        } finally {
            port.ring(queuePair);
        }
    }

    /**
     * Posts a chain of {@code ibv_recv_wr} ({@code ibv_post_recv}). Returns 0, or the errno of the
     * first request that failed. The requests before it are posted.
     *
     * @param failed the address where this method stores the address of the request that failed
     */
    int postReceive(long request, long failed) {
        if (receives == null || core.state() == QueuePairState.RESET) {
            UncheckedMemory.setLong(failed, request);
            return Errno.EINVAL;
        }
        var errno = receives.post(request, failed);
        // When a queue pair fails, the engine sets the state before it flushes the receive queue.
        // Because of this fence, either the engine finds the new request, or this thread reads the
        // ERROR state and requests another flush.
        VarHandle.fullFence();
        if (queuePair.state() == QueuePairState.ERROR) {
            port.ring(queuePair);
        }
        return errno;
    }

    // ---- attributes

    /**
     * Changes the attributes and the state of the queue pair ({@code ibv_modify_qp}).
     *
     * @param requested an {@code ibv_qp_attr} with the new values
     * @param mask the {@code IBV_QP_} flags of the members to change
     */
    void modify(MemorySegment requested, int mask) {
        core.modify(requested, mask);
        if (sends != null) {
            sends.pathMtu(core.pathMtu());
        }
        ibv_qp.state(structure(), core.state().code());
    }

    /**
     * Stores the current attributes in an {@code ibv_qp_attr} and the initial attributes in an
     * {@code ibv_qp_init_attr} ({@code ibv_query_qp}).
     */
    void query(MemorySegment target, MemorySegment initialTarget) {
        core.query(target, initialTarget);
        ibv_qp.state(structure(), ibv_qp_attr.qp_state(target));
    }

    // ---- multicast

    /**
     * Attaches the queue pair to a multicast group ({@code ibv_attach_mcast}). If the queue pair is
     * already attached, this method has no effect.
     */
    void join(RoceGid group) {
        ErrnoException.throwIf(
                kind != QueuePairKind.DATAGRAM || !group.isMulticast(), Errno.EINVAL);
        synchronized (groups) {
            if (groups.contains(group)) {
                return; // As in the kernel, a repeated attach to the same group has no effect.
            }
            try {
                port.join(group);
            } catch (FabricException e) {
                throw new ErrnoException(e.code());
            }
            port.run(engine -> engine.joinGroup(queuePair, group));
            groups.add(group);
        }
    }

    /**
     * Detaches the queue pair from a multicast group ({@code ibv_detach_mcast}).
     *
     * @throws ErrnoException with {@code EINVAL} if the queue pair is not attached to the group
     */
    void leave(RoceGid group) {
        synchronized (groups) {
            ErrnoException.throwIf(!groups.remove(group), Errno.EINVAL);
            port.run(engine -> engine.leaveGroup(queuePair, group));
            port.leave(group);
        }
    }

    // ---- events and closing

    /**
     * Reports an asynchronous event about this queue pair to the program. The caller may hold the
     * port's lock.
     */
    private void raised(int type) {
        context().raise(new AsyncEvent(type, structure().address(), asyncEvents()));
    }

    /**
     * Checks that the queue pair is not attached to a multicast group.
     *
     * @throws ErrnoException with {@code EBUSY} if it is attached to a group
     */
    void requireNoGroups() {
        synchronized (groups) {
            ErrnoException.throwIf(!groups.isEmpty(), Errno.EBUSY);
        }
    }

    @Override
    void stop() {
        if (stopped) {
            return;
        }
        stopped = true;
        synchronized (groups) {
            List.copyOf(groups).forEach(this::leave);
        }
        if (core.close(eventListener) && extendedDomain != null) {
            extendedDomain.domain().receivers().remove(queuePair.number());
        }
        context().forgetEvents(asyncEvents());
    }

    @Override
    void destroy() {
        stop();
        super.destroy();
        dependencies.forEach(ReferenceCount::remove);
    }
}
