package org.jrdma.soft.roce.abi.verbs;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.IntConsumer;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.GidCodec;
import org.jrdma.soft.roce.abi.PathMtu;
import org.jrdma.soft.roce.engine.CompletionSink;
import org.jrdma.soft.roce.engine.QueuePair;
import org.jrdma.soft.roce.engine.QueuePairEvent;
import org.jrdma.soft.roce.engine.QueuePairOptions;
import org.jrdma.soft.roce.engine.QueuePairState;
import org.jrdma.soft.roce.engine.ReceiveParameters;
import org.jrdma.soft.roce.engine.ReceiveQueue;
import org.jrdma.soft.roce.engine.SendParameters;
import org.jrdma.soft.roce.engine.WorkQueues;
import org.jrdma.soft.roce.engine.XrcDomainIdentity;
import org.jrdma.soft.roce.memory.ProtectionDomain;
import org.jrdma.soft.roce.network.Port;
import org.jspecify.annotations.Nullable;

/**
 * A queue pair of the engine, with the attributes and the state that the program has set. An XRC
 * receive queue pair may be open several times. It then has several {@code ibv_qp} structures,
 * which share one instance of this class.
 */
final class QueuePairStateAndAttributes {

    private static final int SEQUENCE_MASK = 0xff_ffff;

    /**
     * The attributes of the send queue that may be changed in the SQD state, after the send queue
     * is drained.
     */
    private static final int SEND_ATTRIBUTES =
            rdma_h.IBV_QP_TIMEOUT()
                    | rdma_h.IBV_QP_RETRY_CNT()
                    | rdma_h.IBV_QP_RNR_RETRY()
                    | rdma_h.IBV_QP_MAX_QP_RD_ATOMIC();

    private final Port port;
    private final QueuePairKind kind;

    /** An {@code ibv_qp_attr} with the values that the program has set so far. */
    private final MemorySegment attributes = ibv_qp_attr.allocate(Arena.ofAuto());

    /** A copy of the {@code ibv_qp_init_attr} that the queue pair was created with. */
    private final MemorySegment initial = ibv_qp_init_attr.allocate(Arena.ofAuto());

    private final QueuePair queuePair;

    /**
     * The listeners for asynchronous events, one for each {@code ibv_qp} structure of this queue
     * pair. They receive the {@code IBV_EVENT_} code.
     */
    private final List<IntConsumer> listeners = new CopyOnWriteArrayList<>();

    /**
     * True after the last {@code ibv_qp} structure of this queue pair was destroyed. Guarded by the
     * port's lock.
     */
    private boolean destroyed;

    /**
     * The state that the program has requested last. The engine may have moved the queue pair to an
     * error state since then.
     */
    private volatile QueuePairState state = QueuePairState.RESET;

    /** True if the program has requested an event when the send queue is drained. */
    private volatile boolean reportsDrained;

    /** The path MTU in bytes, which is set when the queue pair becomes ready to receive. */
    private volatile int pathMtu;

    /**
     * The objects that a queue pair needs to execute its work requests and the requests of its
     * peer.
     *
     * @param sharedReceives the shared receive queue; null if the queue pair has its own receive
     *     queue or none
     * @param extendedDomain the XRC domain of an XRC receive queue pair; null for other types
     */
    record Dependencies(
            ProtectionDomain domain,
            CompletionSink sendCompletions,
            CompletionSink receiveCompletions,
            @Nullable ReceiveQueue sharedReceives,
            @Nullable XrcDomainIdentity extendedDomain) {}

    /**
     * Creates a queue pair in the RESET state.
     *
     * @param requested an {@code ibv_qp_init_attr}
     * @param maxReceiveElements the maximum number of buffers of a receive request, including
     *     requests on the XRC receive queues that a peer may select
     * @throws ErrnoException with {@code ENOMEM} if the device has the maximum number of queue
     *     pairs
     */
    QueuePairStateAndAttributes(
            Port port,
            QueuePairKind kind,
            MemorySegment requested,
            Dependencies dependencies,
            int maxReceiveElements) {
        this.port = port;
        this.kind = kind;
        var capacities = ibv_qp_init_attr.cap(requested);
        initial.copyFrom(requested);
        ibv_qp_attr.cap(attributes, capacities);
        this.queuePair =
                newQueuePair(
                        new QueuePairOptions(
                                kind.transport(),
                                dependencies.domain(),
                                dependencies.sendCompletions(),
                                dependencies.receiveCompletions(),
                                this::raised,
                                ibv_qp_cap.max_send_wr(capacities),
                                ibv_qp_cap.max_recv_wr(capacities),
                                ibv_qp_cap.max_send_sge(capacities),
                                maxReceiveElements,
                                ibv_qp_cap.max_inline_data(capacities),
                                dependencies.sharedReceives(),
                                dependencies.extendedDomain()));
    }

    private QueuePair newQueuePair(QueuePairOptions options) {
        var queues = WorkQueues.of(options);
        var created =
                port.control(engine -> Optional.ofNullable(engine.newQueuePair(options, queues)));
        return created.orElseThrow(() ->
                new ErrnoException(
                        Errno.ENOMEM,
                        String.format(
                                Locale.ROOT,
                                "The device has reached its maximum of %,d queue pairs. Destroy unused ones.",
                                DeviceLimits.MAX_QUEUE_PAIRS)));
    }

    QueuePair queuePair() {
        return queuePair;
    }

    QueuePairState state() {
        return state;
    }

    /**
     * The path MTU in bytes, which is also the maximum length of a datagram. It is set when the
     * queue pair becomes ready to receive.
     */
    int pathMtu() {
        return pathMtu;
    }

    /**
     * Adds an {@code ibv_qp} structure for this queue pair. The listener receives its events.
     *
     * @throws ErrnoException with {@code EINVAL} if the queue pair was destroyed
     * @throws ErrnoException with {@code EINVAL} if the queue pair was destroyed
     */
    void open(IntConsumer listener) {
        port.control(_ -> {
            ErrnoException.throwIf(destroyed, Errno.EINVAL);
            return listeners.add(listener);
        });
    }

    /**
     * Removes the {@code ibv_qp} structure that {@link #open} added with the listener. If it was
     * the last structure, destroys the queue pair and returns true.
     */
    boolean close(IntConsumer listener) {
        return port.control(engine -> {
            listeners.remove(listener);
            destroyed = listeners.isEmpty();
            if (destroyed) {
                engine.destroy(queuePair);
            }
            return destroyed;
        });
    }

    private void raised(QueuePairEvent event) {
        if (event == QueuePairEvent.SEND_QUEUE_DRAINED && !reportsDrained) {
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
        listeners.forEach(listener -> listener.accept(type));
    }

    /**
     * Changes the attributes and the state of the queue pair ({@code ibv_modify_qp}).
     *
     * @param requested an {@code ibv_qp_attr} with the new values
     * @param mask the {@code IBV_QP_} flags of the members to change
     * @throws ErrnoException with {@code EINVAL} if the change is not permitted
     */
    void modify(MemorySegment requested, int mask) {
        port.run(engine -> change(requested, mask));
    }

    private void change(MemorySegment requested, int mask) {
        var present = queuePair.state();
        var next =
                (mask & rdma_h.IBV_QP_STATE()) == 0
                        ? present
                        : state(ibv_qp_attr.qp_state(requested));
        ErrnoException.throwIf(
                (mask & rdma_h.IBV_QP_CUR_STATE()) != 0
                        && state(ibv_qp_attr.cur_qp_state(requested)) != present,
                Errno.EINVAL);
        ErrnoException.throwIf(
                !QueuePairTransition.permits(kind, present, next, mask), Errno.EINVAL);
        if (queuePair.isDraining()
                && (next == QueuePairState.READY_TO_SEND
                        || (mask & (rdma_h.IBV_QP_AV() | SEND_ATTRIBUTES)) != 0)) {
            throw new ErrnoException(
                    Errno.EINVAL,
                    "The send queue is still draining. Wait for IBV_EVENT_SQ_DRAINED, or until ibv_query_qp reports sq_draining 0.");
        }
        QueuePairAttributeMember.requireValid(requested, mask, port.pathMtu());
        QueuePairAttributeMember.copy(requested, mask, attributes);
        if (present == next) {
            adjust(mask);
            if ((mask & rdma_h.IBV_QP_AV()) != 0) {
                var path = ibv_qp_attr.ah_attr(attributes);
                queuePair.remote(GidCodec.destination(path), GidCodec.flow(path));
            }
            if ((mask & SEND_ATTRIBUTES) != 0) {
                queuePair.change(sendParameters());
            }
            return;
        }
        state = next;
        switch (next) {
            case RESET -> {
                queuePair.reset();
                QueuePairAttributeMember.clear(attributes);
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
                reportsDrained =
                        (mask & rdma_h.IBV_QP_EN_SQD_ASYNC_NOTIFY()) != 0
                                && ibv_qp_attr.en_sqd_async_notify(requested) != 0;
                queuePair.drain();
            }
            case ERROR -> queuePair.fail();
            case SEND_QUEUE_ERROR ->
                    throw new AssertionError("not a target state of ibv_modify_qp");
        }
    }

    private static QueuePairState state(int code) {
        for (var state : QueuePairState.values()) {
            if (state.code() == code) {
                return state;
            }
        }
        throw new ErrnoException(Errno.EINVAL);
    }

    private void initialize() {
        queuePair.initialize(
                ibv_qp_attr.qp_access_flags(attributes),
                DeviceLimits.DEFAULT_PARTITION_KEY,
                ibv_qp_attr.qkey(attributes));
    }

    /**
     * Passes changed attributes that are permitted in several states to the engine: the access
     * rights, the RNR timer and the queue key.
     */
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
        var connected = kind != QueuePairKind.DATAGRAM;
        var mtu = connected ? PathMtu.bytes(ibv_qp_attr.path_mtu(attributes)) : port.pathMtu();
        pathMtu = mtu;
        return new ReceiveParameters(
                port.address(),
                connected ? GidCodec.destination(ibv_qp_attr.ah_attr(attributes)) : port.address(),
                connected ? GidCodec.flow(ibv_qp_attr.ah_attr(attributes)) : 0,
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

    /**
     * Stores the current attributes in an {@code ibv_qp_attr} and the initial attributes in an
     * {@code ibv_qp_init_attr} ({@code ibv_query_qp}).
     */
    void query(MemorySegment target, MemorySegment initialTarget) {
        port.run(engine -> {
            target.copyFrom(attributes);
            var present = queuePair.state().code();
            ibv_qp_attr.qp_state(target, present);
            ibv_qp_attr.cur_qp_state(target, present);
            ibv_qp_attr.sq_draining(target, (byte) (queuePair.isDraining() ? 1 : 0));
        });
        initialTarget.copyFrom(initial);
    }
}
