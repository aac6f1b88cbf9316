package org.jrdma.soft.roce.abi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_ex;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.AddressSpace;
import org.jrdma.soft.roce.engine.Address;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.QueuePairEvent;
import org.jrdma.soft.roce.engine.QueuePairOptions;
import org.jrdma.soft.roce.engine.QueuePairState;
import org.jrdma.soft.roce.engine.ReceiveParameters;
import org.jrdma.soft.roce.engine.SendParameters;
import org.jrdma.soft.roce.engine.WorkQueues;
import org.jrdma.soft.roce.network.Port;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/** Behind an {@code ibv_qp}. */
final class QueuePairObject implements Owned, EventSubject {

    private static final int SEQUENCE_MASK = 0xff_ffff;

    /** What a requester may be told anew once it is drained. */
    private static final int OF_SENDING =
            rdma_h.IBV_QP_TIMEOUT()
                    | rdma_h.IBV_QP_RETRY_CNT()
                    | rdma_h.IBV_QP_RNR_RETRY()
                    | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC();

    private final DomainObject domain;
    private final Port port;
    private final Transport transport;
    private final CompletionQueueObject sendCompletions;
    private final CompletionQueueObject receiveCompletions;
    private final @Nullable SharedReceiveQueueObject sharedReceives;
    private final MemorySegment structure;

    /** An {@code ibv_qp_attr}: what was set so far. */
    private final MemorySegment attributes = ibv_qp_attr.allocate(Arena.ofAuto());

    /** An {@code ibv_qp_init_attr}: what it was made with. */
    private final MemorySegment initial = ibv_qp_init_attr.allocate(Arena.ofAuto());

    private final QueuePair queuePair;
    private final SendRequests sends;

    /** Null for one that {@code ibv_create_qp} made. */
    private final @Nullable ExtendedSends extendedSends;

    private final ReceiveRequests receives;
    private final Set<Address> groups = new HashSet<>();
    private final EventCount asyncEvents = new EventCount();

    /** As far as changes of state by its owner go; the engine may have put it in error since. */
    private volatile QueuePairState state = QueuePairState.RESET;

    private volatile boolean tellsWhenDrained;
    private boolean stopped;

    /**
     * @param wanted an {@code ibv_qp_init_attr}, which is told what it got
     * @param extended whether it is an {@code ibv_qp_ex}
     */
    QueuePairObject(DomainObject domain, MemorySegment wanted, boolean extended) {
        this.domain = domain;
        this.port = domain.context().port();
        this.transport = transport(ibv_qp_init_attr.qp_type(wanted));
        this.sendCompletions = CompletionQueueObject.of(ibv_qp_init_attr.send_cq(wanted).address());
        this.receiveCompletions =
                CompletionQueueObject.of(ibv_qp_init_attr.recv_cq(wanted).address());
        var shared = ibv_qp_init_attr.srq(wanted).address();
        this.sharedReceives = shared == 0 ? null : SharedReceiveQueueObject.of(shared);
        if (sendCompletions.context() != domain.context()
                || receiveCompletions.context() != domain.context()
                || (sharedReceives != null && sharedReceives.context() != domain.context())) {
            throw new Refusal(Errno.EINVAL);
        }
        var room = ibv_qp_init_attr.cap(wanted);
        if (sharedReceives != null) {
            ibv_qp_cap.max_recv_wr(room, 0); // whatever was asked for
            ibv_qp_cap.max_recv_sge(room, 0);
        }
        refuseUnlessPossible(room);
        initial.copyFrom(wanted);
        ibv_qp_attr.cap(attributes, room);
        var options =
                new QueuePairOptions(
                        transport,
                        domain.domain(),
                        sendCompletions,
                        receiveCompletions,
                        this::raised,
                        ibv_qp_cap.max_send_wr(room),
                        ibv_qp_cap.max_recv_wr(room),
                        ibv_qp_cap.max_send_sge(room),
                        ibv_qp_cap.max_recv_sge(room),
                        ibv_qp_cap.max_inline_data(room),
                        sharedReceives == null ? null : sharedReceives.queue());
        this.queuePair = newQueuePair(port, options);
        // The one begins as the other.
        this.structure = Structures.allocate(extended ? ibv_qp_ex.layout() : ibv_qp.layout(), this);
        this.extendedSends = extended ? new ExtendedSends(this, structure, room) : null;
        this.sends =
                new SendRequests(
                        queuePair.sends(),
                        transport,
                        domain,
                        room,
                        ibv_qp_init_attr.sq_sig_all(wanted) != 0);
        this.receives = new ReceiveRequests(queuePair.receives(), ibv_qp_cap.max_recv_sge(room));
        ibv_qp.context(structure, domain.context().address());
        ibv_qp.qp_context(structure, ibv_qp_init_attr.qp_context(wanted));
        ibv_qp.pd(structure, domain.structure());
        ibv_qp.send_cq(structure, sendCompletions.structure());
        ibv_qp.recv_cq(structure, receiveCompletions.structure());
        ibv_qp.srq(structure, ibv_qp_init_attr.srq(wanted));
        ibv_qp.qp_num(structure, queuePair.number());
        ibv_qp.qp_type(structure, ibv_qp_init_attr.qp_type(wanted));
        domain.users().add();
        sendCompletions.users().add();
        receiveCompletions.users().add();
        if (sharedReceives != null) {
            sharedReceives.users().add();
        }
        domain.context().own(this);
    }

    private static QueuePair newQueuePair(Port port, QueuePairOptions options) {
        var queues = WorkQueues.of(options);
        var made =
                port.control(engine -> Optional.ofNullable(engine.newQueuePair(options, queues)));
        return made.orElseThrow(() ->
                new Refusal(
                        Errno.ENOMEM,
                        "The device has %,d queue pairs, and no more."
                                .formatted(DeviceFacts.MAX_QUEUE_PAIRS)));
    }

    private static Transport transport(int type) {
        if (type == rdma_h.IBV_QPT_RC()) {
            return Transport.RELIABLE;
        }
        if (type == rdma_h.IBV_QPT_UC()) {
            return Transport.UNRELIABLE;
        }
        if (type == rdma_h.IBV_QPT_UD()) {
            return Transport.DATAGRAM;
        }
        throw new Refusal(Errno.EOPNOTSUPP);
    }

    private static void refuseUnlessPossible(MemorySegment room) {
        refuseBeyond(DeviceFacts.MAX_REQUESTS, ibv_qp_cap.max_send_wr(room));
        refuseBeyond(DeviceFacts.MAX_REQUESTS, ibv_qp_cap.max_recv_wr(room));
        refuseBeyond(DeviceFacts.MAX_ELEMENTS, ibv_qp_cap.max_send_sge(room));
        refuseBeyond(DeviceFacts.MAX_ELEMENTS, ibv_qp_cap.max_recv_sge(room));
        refuseBeyond(DeviceFacts.MAX_INLINE_BYTES, ibv_qp_cap.max_inline_data(room));
    }

    private static void refuseBeyond(int most, int wanted) {
        if (wanted < 0 || wanted > most) {
            throw new Refusal(Errno.EINVAL);
        }
    }

    static QueuePairObject of(long address) {
        return Structures.object(address, QueuePairObject.class);
    }

    MemorySegment structure() {
        return structure;
    }

    @Override
    public EventCount asyncEvents() {
        return asyncEvents;
    }

    // ---- requests

    /**
     * Returns the errno; 0 if all were taken. The address of the first that was not is left in
     * {@code failed}.
     */
    int postSend(long request, long failed) {
        if (!takesSends()) {
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
        if (!takesSends()) {
            return Errno.EINVAL;
        }
        try {
            return sends.postAll(first, count);
        } finally {
            port.ring(queuePair);
        }
    }

    private boolean takesSends() {
        return switch (state) {
            case RESET, INITIALIZED, READY_TO_RECEIVE -> false;
            case READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> true;
        };
    }

    /**
     * The posts of an extended one.
     *
     * @throws Refusal if it is not extended
     */
    ExtendedSends extendedSends() {
        if (extendedSends == null) {
            throw new Refusal(Errno.EINVAL);
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
    int bind(WindowObject window, MemorySegment wanted) {
        if (!takesSends()) {
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
        if (state == QueuePairState.RESET || sharedReceives != null) {
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
        port.control(engine -> {
            change(wanted, mask);
            return true;
        });
    }

    private void change(MemorySegment wanted, int mask) {
        var present = queuePair.state();
        var next =
                (mask & rdma_h.IBV_QP_STATE()) == 0 ? present : state(ibv_qp_attr.qp_state(wanted));
        if ((mask & rdma_h.IBV_QP_CUR_STATE()) != 0
                && state(ibv_qp_attr.cur_qp_state(wanted)) != present) {
            throw new Refusal(Errno.EINVAL);
        }
        if (!QueuePairStep.permits(transport, present, next, mask)) {
            throw new Refusal(Errno.EINVAL);
        }
        if (queuePair.isDraining()
                && (next == QueuePairState.READY_TO_SEND
                        || (mask & (rdma_h.IBV_QP_AV() | OF_SENDING)) != 0)) {
            throw new Refusal(
                    Errno.EINVAL,
                    "Its send queue is still draining: wait for the event IBV_EVENT_SQ_DRAINED, or until ibv_query_qp says so.");
        }
        QueuePairAttributes.refuseUnlessPossible(wanted, mask, port.pathMtu());
        QueuePairAttributes.copy(wanted, mask, attributes);
        if (present == next) {
            adjust(mask);
            if ((mask & rdma_h.IBV_QP_AV()) != 0) {
                queuePair.remote(Gids.destination(ibv_qp_attr.ah_attr(attributes)));
            }
            if ((mask & OF_SENDING) != 0) {
                queuePair.change(sendParameters());
            }
            return;
        }
        state = next;
        ibv_qp.state(structure, next.code());
        switch (next) {
            case RESET -> {
                queuePair.reset();
                QueuePairAttributes.clear(attributes);
            }
            case INITIALIZED -> initialize();
            case READY_TO_RECEIVE -> {
                adjust(mask);
                queuePair.readyToReceive(receiveParameters());
            }
            case READY_TO_SEND -> {
                adjust(mask);
                if (present == QueuePairState.READY_TO_RECEIVE) {
                    queuePair.readyToSend(sendParameters());
                } else {
                    queuePair.resumeSending();
                }
            }
            case SEND_QUEUE_DRAINED -> {
                tellsWhenDrained =
                        (mask & rdma_h.IBV_QP_EN_SQD_ASYNC_NOTIFY()) != 0
                                && ibv_qp_attr.en_sqd_async_notify(wanted) != 0;
                queuePair.drain();
            }
            case ERROR -> queuePair.fail();
            case SEND_QUEUE_ERROR -> throw new AssertionError("no step leads to it");
        }
    }

    private static QueuePairState state(int code) {
        for (var state : QueuePairState.values()) {
            if (state.code() == code) {
                return state;
            }
        }
        throw new Refusal(Errno.EINVAL);
    }

    private void initialize() {
        queuePair.initialize(
                ibv_qp_attr.qp_access_flags(attributes),
                DeviceFacts.DEFAULT_PARTITION_KEY,
                ibv_qp_attr.qkey(attributes));
    }

    /** What may change in a state that stays. */
    private void adjust(int mask) {
        if ((mask & rdma_h.IBV_QP_ACCESS_FLAGS()) != 0) {
            queuePair.access(ibv_qp_attr.qp_access_flags(attributes));
        }
        if ((mask & rdma_h.IBV_QP_MIN_RNR_TIMER()) != 0) {
            queuePair.notReadyTimer(Byte.toUnsignedInt(ibv_qp_attr.min_rnr_timer(attributes)));
        }
        if ((mask & rdma_h.IBV_QP_QKEY()) != 0) {
            queuePair.queueKey(ibv_qp_attr.qkey(attributes));
        }
    }

    private ReceiveParameters receiveParameters() {
        var connected = transport != Transport.DATAGRAM;
        var mtu = connected ? PathMtu.bytes(ibv_qp_attr.path_mtu(attributes)) : port.pathMtu();
        sends.pathMtu(mtu);
        return new ReceiveParameters(
                port.address(),
                connected ? Gids.destination(ibv_qp_attr.ah_attr(attributes)) : port.address(),
                ibv_qp_attr.dest_qp_num(attributes),
                mtu,
                ibv_qp_attr.rq_psn(attributes) & SEQUENCE_MASK,
                Byte.toUnsignedInt(ibv_qp_attr.max_dest_rd_atomic(attributes)),
                Byte.toUnsignedInt(ibv_qp_attr.min_rnr_timer(attributes)));
    }

    private SendParameters sendParameters() {
        return new SendParameters(
                ibv_qp_attr.sq_psn(attributes) & SEQUENCE_MASK,
                Byte.toUnsignedInt(ibv_qp_attr.timeout(attributes)),
                Byte.toUnsignedInt(ibv_qp_attr.retry_cnt(attributes)),
                Byte.toUnsignedInt(ibv_qp_attr.rnr_retry(attributes)),
                Byte.toUnsignedInt(ibv_qp_attr.max_rd_atomic(attributes)));
    }

    /** Fills an {@code ibv_qp_attr} and an {@code ibv_qp_init_attr}. */
    void query(MemorySegment target, MemorySegment initialTarget) {
        port.control(engine -> {
            target.copyFrom(attributes);
            var present = queuePair.state().code();
            ibv_qp_attr.qp_state(target, present);
            ibv_qp_attr.cur_qp_state(target, present);
            ibv_qp_attr.sq_draining(target, (byte) (queuePair.isDraining() ? 1 : 0));
            ibv_qp.state(structure, present);
            return true;
        });
        initialTarget.copyFrom(initial);
    }

    // ---- groups

    /** Lets datagrams to a group reach it. */
    void join(Address group) {
        if (transport != Transport.DATAGRAM || !group.isMulticast()) {
            throw new Refusal(Errno.EINVAL);
        }
        synchronized (groups) {
            if (groups.contains(group)) {
                return; // as the kernel does: a member is a member once
            }
            try {
                port.join(group);
            } catch (FabricException e) {
                throw new Refusal(e.code());
            }
            port.control(engine -> {
                engine.joinGroup(queuePair, group);
                return true;
            });
            groups.add(group);
        }
    }

    /** Takes back {@link #join}. */
    void leave(Address group) {
        synchronized (groups) {
            if (!groups.remove(group)) {
                throw new Refusal(Errno.EINVAL);
            }
            port.control(engine -> {
                engine.leaveGroup(queuePair, group);
                return true;
            });
            port.leave(group);
        }
    }

    // ---- events, and the end

    private void raised(QueuePairEvent event) {
        if (event == QueuePairEvent.SEND_QUEUE_DRAINED && !tellsWhenDrained) {
            return;
        }
        var type =
                switch (event) {
                    case COMMUNICATION_ESTABLISHED -> rdma_h.IBV_EVENT_COMM_EST();
                    case REQUEST_ERROR -> rdma_h.IBV_EVENT_QP_REQ_ERR();
                    case ACCESS_ERROR -> rdma_h.IBV_EVENT_QP_ACCESS_ERR();
                    case LAST_RECEIVE_REACHED -> rdma_h.IBV_EVENT_QP_LAST_WQE_REACHED();
                    case SEND_QUEUE_DRAINED -> rdma_h.IBV_EVENT_SQ_DRAINED();
                };
        domain.context().raise(new AsyncEvent(type, structure.address(), asyncEvents));
    }

    /** Refuses to be destroyed while it is a member of groups. */
    void refuseIfMember() {
        synchronized (groups) {
            if (!groups.isEmpty()) {
                throw new Refusal(Errno.EBUSY);
            }
        }
    }

    @Override
    public void stop() {
        if (stopped) {
            return;
        }
        stopped = true;
        synchronized (groups) {
            List.copyOf(groups).forEach(this::leave);
        }
        port.control(engine -> {
            engine.destroy(queuePair);
            return true;
        });
        domain.context().forgetEvents(asyncEvents);
    }

    @Override
    public void destroy() {
        stop();
        domain.users().remove();
        sendCompletions.users().remove();
        receiveCompletions.users().remove();
        if (sharedReceives != null) {
            sharedReceives.users().remove();
        }
        domain.context().disown(this);
        Structures.release(structure);
    }
}
