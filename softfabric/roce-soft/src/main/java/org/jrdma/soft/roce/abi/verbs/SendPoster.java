package org.jrdma.soft.roce.abi.verbs;

import static org.jrdma.ffi.linkage.UncheckedMemory.getInt;
import static org.jrdma.ffi.linkage.UncheckedMemory.getLong;

import java.lang.foreign.MemorySegment;
import org.jrdma.abi.rdma.ibv_mw_bind;
import org.jrdma.abi.rdma.ibv_mw_bind_info;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_send_wr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.UncheckedMemory;
import org.jrdma.soft.roce.abi.CallerMemory;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.engine.MessageLimits;
import org.jrdma.soft.roce.engine.SendOperationKind;
import org.jrdma.soft.roce.engine.SendQueue;
import org.jrdma.soft.roce.engine.SendWork;
import org.jrdma.soft.roce.memory.MemoryWindow;
import org.jrdma.soft.roce.packet.BigEndian;
import org.jrdma.soft.roce.packet.Transport;
import org.jspecify.annotations.Nullable;

/** Posts chains of {@code ibv_send_wr} to a send queue. Safe for use by multiple threads. */
final class SendPoster {

    private static final long NUMBER = ibv_send_wr.wr_id$offset();
    private static final long NEXT = ibv_send_wr.next$offset();
    private static final long LIST = ibv_send_wr.sg_list$offset();
    private static final long COUNT = ibv_send_wr.num_sge$offset();
    private static final long OPCODE = ibv_send_wr.opcode$offset();
    private static final long FLAGS = ibv_send_wr.send_flags$offset();
    private static final long IMMEDIATE = ibv_send_wr.imm_data$offset();
    private static final long REMOTE = ibv_send_wr.wr$offset();
    private static final long REMOTE_ADDRESS = REMOTE + ibv_send_wr.wr.rdma.remote_addr$offset();
    private static final long REMOTE_KEY = REMOTE + ibv_send_wr.wr.rdma.rkey$offset();
    private static final long ATOMIC_ADDRESS = REMOTE + ibv_send_wr.wr.atomic.remote_addr$offset();
    private static final long ATOMIC_KEY = REMOTE + ibv_send_wr.wr.atomic.rkey$offset();
    private static final long COMPARE_OR_ADD = REMOTE + ibv_send_wr.wr.atomic.compare_add$offset();
    private static final long SWAP = REMOTE + ibv_send_wr.wr.atomic.swap$offset();
    private static final long HANDLE = REMOTE + ibv_send_wr.wr.ud.ah$offset();
    private static final long REMOTE_NUMBER = REMOTE + ibv_send_wr.wr.ud.remote_qpn$offset();
    private static final long REMOTE_QUEUE_KEY = REMOTE + ibv_send_wr.wr.ud.remote_qkey$offset();

    private static final long RECEIVE_QUEUE =
            ibv_send_wr.qp_type$offset() + ibv_send_wr.qp_type.xrc.remote_srqn$offset();
    private static final long INVALIDATED_KEY = ibv_send_wr.invalidate_rkey$offset();
    private static final long WINDOW =
            ibv_send_wr.bind_mw$offset() + ibv_send_wr.bind_mw.mw$offset();
    private static final long NEW_KEY =
            ibv_send_wr.bind_mw$offset() + ibv_send_wr.bind_mw.rkey$offset();
    private static final long BINDING =
            ibv_send_wr.bind_mw$offset() + ibv_send_wr.bind_mw.bind_info$offset();

    private static final long BOUND_REGION = BINDING + ibv_mw_bind_info.mr$offset();

    private static final int WRITE = rdma_h.IBV_WR_RDMA_WRITE();
    private static final int WRITE_IMMEDIATE = rdma_h.IBV_WR_RDMA_WRITE_WITH_IMM();
    private static final int SEND = rdma_h.IBV_WR_SEND();
    private static final int SEND_IMMEDIATE = rdma_h.IBV_WR_SEND_WITH_IMM();
    private static final int READ = rdma_h.IBV_WR_RDMA_READ();
    private static final int COMPARE_AND_SWAP = rdma_h.IBV_WR_ATOMIC_CMP_AND_SWP();
    private static final int FETCH_AND_ADD = rdma_h.IBV_WR_ATOMIC_FETCH_AND_ADD();

    private static final int SEND_INVALIDATE = rdma_h.IBV_WR_SEND_WITH_INV();
    private static final int BIND = rdma_h.IBV_WR_BIND_MW();
    private static final int INVALIDATE = rdma_h.IBV_WR_LOCAL_INV();

    private static final int ATOMIC_WRITE = rdma_h.IBV_WR_ATOMIC_WRITE();
    private static final int FLUSH = rdma_h.IBV_WR_FLUSH();

    private static final int SIGNALED = rdma_h.IBV_SEND_SIGNALED();
    private static final int SOLICITED = rdma_h.IBV_SEND_SOLICITED();
    private static final int FENCE = rdma_h.IBV_SEND_FENCE();
    private static final int INLINE = rdma_h.IBV_SEND_INLINE();

    /** The mask of the 24 bits that the number of an XRC receive queue has. */
    private static final int NUMBER_BITS = 0xff_ffff;

    private final SendQueue queue;
    private final Transport transport;
    private final ProtectionDomainObject domain;
    private final int maxElements;
    private final int maxInline;
    private final boolean allSignaled;

    private volatile int pathMtu;

    /**
     * Creates an object that posts to a send queue.
     *
     * @param domain the protection domain of the queue pair
     * @param capacities an {@code ibv_qp_cap} with the capacities of the queue pair
     * @param allSignaled true if all requests are signaled, regardless of their flags
     */
    SendPoster(
            SendQueue queue,
            Transport transport,
            ProtectionDomainObject domain,
            MemorySegment capacities,
            boolean allSignaled) {
        this.queue = queue;
        this.transport = transport;
        this.domain = domain;
        this.maxElements = ibv_qp_cap.max_send_sge(capacities);
        this.maxInline = ibv_qp_cap.max_inline_data(capacities);
        this.allSignaled = allSignaled;
    }

    /** Sets the path MTU in bytes, which is the maximum length of a datagram. */
    void pathMtu(int bytes) {
        pathMtu = bytes;
    }

    /**
     * Posts a chain of {@code ibv_send_wr}. Returns 0, or the errno of the first request that
     * failed. The requests before it are posted.
     *
     * @param first the address of the first request
     * @param failed the address where this method stores the address of the request that failed
     */
    synchronized int post(long first, long failed) {
        for (var request = first; request != 0; request = getLong(request + NEXT)) {
            int errno;
            try {
                errno = isExtendedOnly(getInt(request + OPCODE)) ? Errno.EINVAL : postOne(request);
            } catch (ErrnoException | IllegalArgumentException | IndexOutOfBoundsException e) {
                errno = Errno.EINVAL;
            }
            if (errno != 0) {
                UncheckedMemory.setLong(failed, request);
                return errno;
            }
        }
        return 0;
    }

    /**
     * Posts a chain of {@code ibv_send_wr}, either completely or not at all. Returns 0 or an errno.
     *
     * @param first the address of the first request
     * @param count the number of requests in the chain
     */
    synchronized int postAll(long first, int count) {
        for (var request = first; request != 0; request = getLong(request + NEXT)) {
            if (!isValid(request)) {
                return Errno.EINVAL;
            }
        }
        if (!queue.hasFreeSlots(count)) {
            return Errno.ENOMEM;
        }
        for (var request = first; request != 0; request = getLong(request + NEXT)) {
            postOne(request);
        }
        return 0;
    }

    /** Returns true if requests with an opcode can be posted only to an {@code ibv_qp_ex}. */
    private static boolean isExtendedOnly(int opcode) {
        return opcode == ATOMIC_WRITE || opcode == FLUSH;
    }

    /**
     * Encodes the placement and the selectivity of a FLUSH as the swap operand of an atomic
     * operation. {@link ExtendedSends} stores the length of the FLUSH in the compare operand.
     */
    static long flushOperand(int placement, int selectivity) {
        return (long) placement << Integer.SIZE | selectivity;
    }

    private boolean isValid(long request) {
        var operation = operation(getInt(request + OPCODE));
        var count = getInt(request + COUNT);
        return operation != null
                && count >= 0
                && count <= maxElements
                && isValid(
                        request,
                        operation,
                        getInt(request + FLAGS),
                        getLong(request + LIST),
                        count);
    }

    /**
     * Posts a request to bind a type 1 memory window ({@code ibv_bind_mw}). Returns 0 or an errno.
     *
     * @param requested an {@code ibv_mw_bind}
     */
    synchronized int bind(MemoryWindowObject window, MemorySegment requested) {
        if (transport == Transport.DATAGRAM || window.type() != MemoryWindow.Type.ONE) {
            return Errno.EINVAL;
        }
        var work = queue.claim();
        if (work == null) {
            return Errno.ENOMEM;
        }
        begin(
                work,
                ibv_mw_bind.wr_id(requested),
                SendOperationKind.BIND,
                ibv_mw_bind.send_flags(requested));
        var key = window.nextKey();
        work.bind(window.binding(ibv_mw_bind.bind_info(requested), key));
        queue.post();
        window.key(key);
        return 0;
    }

    private void begin(SendWork work, long number, SendOperationKind operation, int flags) {
        work.begin(number, operation);
        if (allSignaled || (flags & SIGNALED) != 0) {
            work.signaled();
        }
        if ((flags & SOLICITED) != 0) {
            work.solicited();
        }
        if ((flags & FENCE) != 0) {
            work.fence();
        }
    }

    private int postOne(long request) {
        if (!isValid(request)) {
            return Errno.EINVAL;
        }
        var opcode = getInt(request + OPCODE);
        var operation = operation(opcode);
        var flags = getInt(request + FLAGS);
        var work = queue.claim();
        if (work == null) {
            return Errno.ENOMEM;
        }
        begin(work, getLong(request + NUMBER), operation, flags);
        if (opcode == SEND_IMMEDIATE || opcode == WRITE_IMMEDIATE) {
            work.immediate(BigEndian.swap(getInt(request + IMMEDIATE)));
        }
        switch (operation) {
            case ATOMIC_WRITE ->
                    work.remote(getLong(request + ATOMIC_ADDRESS), getInt(request + ATOMIC_KEY))
                            .inline(CallerMemory.at(request + COMPARE_OR_ADD, Long.BYTES));
            case FLUSH -> {
                var operand = getLong(request + SWAP);
                work.remote(getLong(request + ATOMIC_ADDRESS), getInt(request + ATOMIC_KEY))
                        .flush(
                                (int) (operand >>> Integer.SIZE),
                                (int) operand,
                                (int) getLong(request + COMPARE_OR_ADD));
            }
            case SEND -> {
                if (opcode == SEND_INVALIDATE) {
                    work.invalidating(getInt(request + INVALIDATED_KEY));
                }
            }
            case INVALIDATE -> work.invalidate(getInt(request + INVALIDATED_KEY));
            case BIND ->
                    work.bind(
                            MemoryWindowObject.of(getLong(request + WINDOW))
                                    .binding(
                                            CallerMemory.at(
                                                    request + BINDING, ibv_mw_bind_info.layout()),
                                            getInt(request + NEW_KEY)));
            case WRITE, READ ->
                    work.remote(getLong(request + REMOTE_ADDRESS), getInt(request + REMOTE_KEY));
            case COMPARE_AND_SWAP ->
                    work.remote(getLong(request + ATOMIC_ADDRESS), getInt(request + ATOMIC_KEY))
                            .atomic(getLong(request + SWAP), getLong(request + COMPARE_OR_ADD));
            case FETCH_AND_ADD ->
                    work.remote(getLong(request + ATOMIC_ADDRESS), getInt(request + ATOMIC_KEY))
                            .atomic(getLong(request + COMPARE_OR_ADD), 0);
        }
        if (transport == Transport.DATAGRAM) {
            addressDatagram(work, request);
        } else if (transport == Transport.EXTENDED) {
            work.receiveQueue(getInt(request + RECEIVE_QUEUE));
        }
        addElements(work, getLong(request + LIST), getInt(request + COUNT), (flags & INLINE) != 0);
        queue.post();
        return 0;
    }

    /**
     * Returns the operation for an {@code IBV_WR_} opcode, or null if the transport does not
     * support it.
     */
    private @Nullable SendOperationKind operation(int opcode) {
        if (opcode == SEND || opcode == SEND_IMMEDIATE) {
            return SendOperationKind.SEND;
        }
        if (transport == Transport.DATAGRAM) {
            return null;
        }
        if (opcode == WRITE || opcode == WRITE_IMMEDIATE) {
            return SendOperationKind.WRITE;
        }
        if (opcode == BIND) {
            return SendOperationKind.BIND;
        }
        if (transport == Transport.UNRELIABLE) {
            return null;
        }
        if (opcode == SEND_INVALIDATE) {
            return SendOperationKind.SEND;
        }
        if (opcode == INVALIDATE) {
            return SendOperationKind.INVALIDATE;
        }
        if (opcode == READ) {
            return SendOperationKind.READ;
        }
        if (opcode == COMPARE_AND_SWAP) {
            return SendOperationKind.COMPARE_AND_SWAP;
        }
        if (opcode == FETCH_AND_ADD) {
            return SendOperationKind.FETCH_AND_ADD;
        }
        if (transport == Transport.EXTENDED) {
            return null;
        }
        if (opcode == ATOMIC_WRITE) {
            return SendOperationKind.ATOMIC_WRITE;
        }
        return opcode == FLUSH ? SendOperationKind.FLUSH : null;
    }

    private boolean isValid(
            long request, SendOperationKind operation, int flags, long list, int count) {
        var bytes = ScatterGatherListReader.totalLength(list, count);
        if (bytes > MessageLimits.MAX_BYTES
                || (transport == Transport.EXTENDED
                        && (getInt(request + RECEIVE_QUEUE) & ~NUMBER_BITS) != 0)) {
            return false;
        }
        if ((flags & INLINE) != 0) {
            if (bytes > maxInline || operation.returnsData()) {
                return false;
            }
        }
        return switch (operation) {
            case SEND ->
                    transport != Transport.DATAGRAM
                            || (bytes <= pathMtu
                                    && StructureRegistry.find(getLong(request + HANDLE))
                                            instanceof AddressHandleObject handle
                                    && handle.domain().domain() == domain.domain());
            case WRITE, READ -> true;
            case ATOMIC_WRITE, FLUSH, INVALIDATE -> count == 0;
            case BIND ->
                    count == 0
                            && isType2(getLong(request + WINDOW))
                            && StructureRegistry.find(getLong(request + BOUND_REGION))
                                    instanceof MemoryRegionObject;
            case COMPARE_AND_SWAP, FETCH_AND_ADD ->
                    bytes == Long.BYTES && (getLong(request + ATOMIC_ADDRESS) & 7) == 0;
        };
    }

    /**
     * Returns true if the address is that of an {@code ibv_mw} of type 2. A type 1 window is bound
     * by {@code ibv_bind_mw} and not by a posted request.
     */
    private static boolean isType2(long window) {
        return StructureRegistry.find(window) instanceof MemoryWindowObject found
                && found.type() == MemoryWindow.Type.TWO;
    }

    private static void addressDatagram(SendWork work, long request) {
        var handle = AddressHandleObject.of(getLong(request + HANDLE));
        work.datagram(
                handle.destination(),
                getInt(request + REMOTE_NUMBER),
                getInt(request + REMOTE_QUEUE_KEY));
    }

    private static void addElements(SendWork work, long list, int count, boolean inline) {
        for (var i = 0; i < count; i++) {
            var address = ScatterGatherListReader.address(list, i);
            var length = ScatterGatherListReader.length(list, i);
            if (!inline) {
                work.buffer(address, length, ScatterGatherListReader.key(list, i));
            } else if (length > 0) {
                work.inline(CallerMemory.at(address, length));
            }
        }
    }
}
