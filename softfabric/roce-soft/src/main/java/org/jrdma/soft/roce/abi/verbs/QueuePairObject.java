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
import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.ReferenceCount;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.engine.CompletionSink;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.QueuePairState;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.network.Port;
import org.jspecify.annotations.Nullable;

/** Behind an {@code ibv_qp}. */
final class QueuePairObject extends ContextResource {

    /** Of one that completes nothing itself. */
    private static final CompletionSink NOWHERE =
            _ -> {
                throw new IllegalStateException("a completion of a queue pair that has none");
            };

    private final Port port;
    private final QueuePairKind kind;
    private final QueuePairCore core;
    private final QueuePair queuePair;

    /** Of what it needs. */
    private final List<ReferenceCount> needed;

    /** Null for one that sends nothing. */
    private final @Nullable SendRequests sends;

    /** Null for one that {@code ibv_create_qp} made. */
    private final @Nullable ExtendedSends extendedSends;

    /** Null for one that has none of its own. */
    private final @Nullable ReceiveRequests receives;

    /** What it receives in, of those that are shared. */
    private final @Nullable XrcDomainObject extendedDomain;

    private final Set<Address> groups = new HashSet<>();
    private final IntConsumer eventListener = this::raised;
    private boolean stopped;

    /**
     * One with requests to send, and with receives of its own or shared ones, if its type has any.
     *
     * @param wanted an {@code ibv_qp_init_attr}, which is told what it got
     * @param extended whether it is an {@code ibv_qp_ex}
     */
    QueuePairObject(ProtectionDomainObject domain, MemorySegment wanted, boolean extended) {
        var context = domain.context();
        var kind = QueuePairKind.of(ibv_qp_init_attr.qp_type(wanted));
        var sendCompletions = CompletionQueueObject.of(ibv_qp_init_attr.send_cq(wanted).address());
        var receiveCompletions =
                kind == QueuePairKind.EXTENDED_SENDER
                        ? null
                        : CompletionQueueObject.of(ibv_qp_init_attr.recv_cq(wanted).address());
        var shared = sharedReceives(ibv_qp_init_attr.srq(wanted).address());
        ErrnoException.throwIf(
                kind == QueuePairKind.EXTENDED_RECEIVER
                        || sendCompletions.context() != context
                        || (receiveCompletions != null && receiveCompletions.context() != context)
                        || (shared != null && shared.context() != context),
                Errno.EINVAL);
        var room = ibv_qp_init_attr.cap(wanted);
        if (shared != null || receiveCompletions == null) {
            ibv_qp_cap.max_recv_wr(room, 0); // whatever was asked for
            ibv_qp_cap.max_recv_sge(room, 0);
        }
        refuseUnlessPossible(room);
        var core =
                new QueuePairCore(
                        context.port(),
                        kind,
                        wanted,
                        new QueuePairCore.Dependencies(
                                domain.domain(),
                                sendCompletions,
                                receiveCompletions == null ? NOWHERE : receiveCompletions,
                                shared == null ? null : shared.queue(),
                                null),
                        ibv_qp_cap.max_recv_sge(room));
        // An ibv_qp_ex begins with an ibv_qp.
        super(context, extended ? ibv_qp_ex.layout() : ibv_qp.layout());
        this.port = context.port();
        this.kind = kind;
        this.extendedDomain = null;
        this.core = core;
        this.queuePair = core.queuePair();
        this.extendedSends =
                extended ? new ExtendedSends(this, structure(), room, context.functions()) : null;
        this.sends =
                new SendRequests(
                        queuePair.sends(),
                        kind.transport(),
                        domain,
                        room,
                        ibv_qp_init_attr.sq_sig_all(wanted) != 0);
        this.receives =
                shared != null || receiveCompletions == null
                        ? null
                        : new ReceiveRequests(queuePair.receives(), ibv_qp_cap.max_recv_sge(room));
        ibv_qp.pd(structure(), domain.structure());
        ibv_qp.send_cq(structure(), sendCompletions.structure());
        ibv_qp.recv_cq(structure(), ibv_qp_init_attr.recv_cq(wanted));
        ibv_qp.srq(structure(), ibv_qp_init_attr.srq(wanted));
        this.needed = new ArrayList<>(List.of(domain.users(), sendCompletions.users()));
        if (receiveCompletions != null) {
            needed.add(receiveCompletions.users());
        }
        if (shared != null) {
            needed.add(shared.users());
        }
        begin(ibv_qp_init_attr.qp_context(wanted));
    }

    /**
     * One that receives over an extended connection, into queues that its peer names.
     *
     * @param wanted an {@code ibv_qp_init_attr}, which is told what it got
     */
    static QueuePairObject receiving(XrcDomainObject domain, MemorySegment wanted) {
        ibv_qp_init_attr.cap(wanted).fill((byte) 0);
        var core =
                new QueuePairCore(
                        domain.context().port(),
                        QueuePairKind.EXTENDED_RECEIVER,
                        wanted,
                        new QueuePairCore.Dependencies(
                                new ProtectionDomain(), // of nobody
                                NOWHERE,
                                NOWHERE,
                                null,
                                domain.domain().domain()),
                        DeviceLimits.MAX_ELEMENTS);
        return new QueuePairObject(domain, core, ibv_qp_init_attr.qp_context(wanted));
    }

    /** Opens one that receives over an extended connection, for one more. */
    QueuePairObject(XrcDomainObject domain, QueuePairCore core, MemorySegment userContext) {
        super(domain.context(), ibv_qp.layout());
        this.port = context().port();
        this.kind = QueuePairKind.EXTENDED_RECEIVER;
        this.extendedDomain = domain;
        this.core = core;
        this.queuePair = core.queuePair();
        this.extendedSends = null;
        this.sends = null;
        this.receives = null;
        this.needed = List.of(domain.users());
        begin(userContext);
        domain.domain().receivers().put(queuePair.number(), core);
    }

    private void begin(MemorySegment userContext) {
        core.open(eventListener);
        ibv_qp.context(structure(), context().address());
        ibv_qp.qp_context(structure(), userContext);
        ibv_qp.qp_num(structure(), queuePair.number());
        ibv_qp.qp_type(structure(), kind.code());
        needed.forEach(ReferenceCount::add);
        context().own(this);
    }

    private static @Nullable SharedReceiveQueueObject sharedReceives(long address) {
        if (address == 0) {
            return null;
        }
        var found = SharedReceiveQueueObject.of(address);
        if (found.isExtended()) {
            throw new ErrnoException(Errno.EINVAL); // senders name such a queue themselves
        }
        return found;
    }

    private static void refuseUnlessPossible(MemorySegment room) {
        refuseBeyond(DeviceLimits.MAX_REQUESTS, ibv_qp_cap.max_send_wr(room));
        refuseBeyond(DeviceLimits.MAX_REQUESTS, ibv_qp_cap.max_recv_wr(room));
        refuseBeyond(DeviceLimits.MAX_ELEMENTS, ibv_qp_cap.max_send_sge(room));
        refuseBeyond(DeviceLimits.MAX_ELEMENTS, ibv_qp_cap.max_recv_sge(room));
        refuseBeyond(DeviceLimits.MAX_INLINE_BYTES, ibv_qp_cap.max_inline_data(room));
    }

    private static void refuseBeyond(int most, int wanted) {
        ErrnoException.throwIf(wanted < 0 || wanted > most, Errno.EINVAL);
    }

    static QueuePairObject of(long address) {
        return Structures.object(address, QueuePairObject.class);
    }

    // ---- requests

    /**
     * Returns the errno; 0 if all were taken. The address of the first that was not is left in
     * {@code failed}.
     */
    int postSend(long request, long failed) {
        if (sends == null || !takesSends()) {
            AddressSpace.setLong(failed, request);
            return Errno.EINVAL;
        }
        try {
            return sends.post(request, failed);
        } finally {
            port.ring(queuePair);
        }
    }

    /** Returns the errno; 0 if all of a chain were taken, or none was. */
    int postAllSends(long first, int count) {
        if (sends == null || !takesSends()) {
            return Errno.EINVAL;
        }
        try {
            return sends.postAll(first, count);
        } finally {
            port.ring(queuePair);
        }
    }

    private boolean takesSends() {
        return switch (core.state()) {
            case RESET, INITIALIZED, READY_TO_RECEIVE -> false;
            case READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> true;
        };
    }

    /**
     * The posts of an extended one.
     *
     * @throws ErrnoException if it is not extended
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
     * Posts a bind of a window of the first type. Returns the errno.
     *
     * @param wanted an {@code ibv_mw_bind}
     */
    int bind(MemoryWindowObject window, MemorySegment wanted) {
        if (sends == null || !takesSends()) {
            return Errno.EINVAL;
        }
        try {
            return sends.bind(window, wanted);
        } finally {
            port.ring(queuePair);
        }
    }

    /**
     * Returns the errno; 0 if all were taken. The address of the first that was not is left in
     * {@code failed}.
     */
    int postReceive(long request, long failed) {
        if (receives == null || core.state() == QueuePairState.RESET) {
            AddressSpace.setLong(failed, request);
            return Errno.EINVAL;
        }
        var errno = receives.post(request, failed);
        // Either the engine, which says so before it flushes, sees the receive, or this sees that.
        VarHandle.fullFence();
        if (queuePair.state() == QueuePairState.ERROR) {
            port.ring(queuePair);
        }
        return errno;
    }

    // ---- states

    /** Changes what an {@code ibv_qp_attr} and its mask say. */
    void modify(MemorySegment wanted, int mask) {
        core.modify(wanted, mask);
        if (sends != null) {
            sends.pathMtu(core.pathMtu());
        }
        ibv_qp.state(structure(), core.state().code());
    }

    /** Fills an {@code ibv_qp_attr} and an {@code ibv_qp_init_attr}. */
    void query(MemorySegment target, MemorySegment initialTarget) {
        core.query(target, initialTarget);
        ibv_qp.state(structure(), ibv_qp_attr.qp_state(target));
    }

    // ---- groups

    /** Lets datagrams to a group reach it. */
    void join(Address group) {
        ErrnoException.throwIf(
                kind != QueuePairKind.DATAGRAM || !group.isMulticast(), Errno.EINVAL);
        synchronized (groups) {
            if (groups.contains(group)) {
                return; // as the kernel does: a member is a member once
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

    /** Takes back {@link #join}. */
    void leave(Address group) {
        synchronized (groups) {
            ErrnoException.throwIf(!groups.remove(group), Errno.EINVAL);
            port.run(engine -> engine.leaveGroup(queuePair, group));
            port.leave(group);
        }
    }

    // ---- events, and the end

    /** Something happened to it. May be called while the port is driven. */
    private void raised(int type) {
        context().raise(new AsyncEvent(type, structure().address(), asyncEvents()));
    }

    /** Refuses to be destroyed while it is a member of groups. */
    void refuseIfMember() {
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
        needed.forEach(ReferenceCount::remove);
    }
}
