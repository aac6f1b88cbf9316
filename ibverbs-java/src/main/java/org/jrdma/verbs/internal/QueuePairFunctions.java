package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.call;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.Set;
import org.jrdma.abi.rdma.ibv_ece;
import org.jrdma.abi.rdma.ibv_qp;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.ibv_qp_cap;
import org.jrdma.abi.rdma.ibv_qp_ex;
import org.jrdma.abi.rdma.ibv_qp_init_attr;
import org.jrdma.abi.rdma.ibv_qp_init_attr_ex;
import org.jrdma.abi.rdma.ibv_qp_open_attr;
import org.jrdma.abi.rdma.ibv_qp_rate_limit_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.abi.rdma.verbs_context;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.DataOrder;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.RateLimit;
import org.jrdma.verbs.model.VerbsException;

/**
 * Calls the C functions of queue pairs: creation, state transitions, queries and destruction. The
 * functions that post are in {@link PostAndPollFunctions}.
 */
public final class QueuePairFunctions {

    private static final MethodHandle CREATE_QP = capturingErrno(rdma_h.ibv_create_qp$descriptor());
    private static final MethodHandle CREATE_QP_EX =
            capturingErrno(verbs_context.create_qp_ex.descriptor());
    private static final MethodHandle OPEN_QP = capturingErrno(verbs_context.open_qp.descriptor());
    private static final MethodHandle QP_TO_QP_EX =
            capturingErrno(rdma_h.ibv_qp_to_qp_ex$descriptor());
    private static final MethodHandle MODIFY_QP = capturingErrno(rdma_h.ibv_modify_qp$descriptor());
    private static final MethodHandle QUERY_QP = capturingErrno(rdma_h.ibv_query_qp$descriptor());
    private static final MethodHandle MODIFY_QP_RATE_LIMIT =
            capturingErrno(verbs_context.modify_qp_rate_limit.descriptor());
    private static final MethodHandle QUERY_QP_DATA_IN_ORDER =
            capturingErrno(rdma_h.ibv_query_qp_data_in_order$descriptor());
    private static final MethodHandle QUERY_ECE = capturingErrno(rdma_h.ibv_query_ece$descriptor());
    private static final MethodHandle SET_ECE = capturingErrno(rdma_h.ibv_set_ece$descriptor());
    private static final MethodHandle DESTROY_QP =
            capturingErrno(rdma_h.ibv_destroy_qp$descriptor());

    private final MemorySegment createQp;
    private final Optional<MemorySegment> qpToQpEx;
    private final MemorySegment modifyQp;
    private final MemorySegment queryQp;
    private final Optional<MemorySegment> queryQpDataInOrder;
    private final Optional<MemorySegment> queryEce;
    private final Optional<MemorySegment> setEce;
    private final MemorySegment destroyQp;

    public QueuePairFunctions(NativeLibrary library) throws LibraryNotFoundException {
        createQp = library.require("ibv_create_qp");
        qpToQpEx = library.find("ibv_qp_to_qp_ex");
        modifyQp = library.require("ibv_modify_qp");
        queryQp = library.require("ibv_query_qp");
        queryQpDataInOrder = library.find("ibv_query_qp_data_in_order");
        queryEce = library.find("ibv_query_ece");
        setEce = library.find("ibv_set_ece");
        destroyQp = library.require("ibv_destroy_qp");
    }

    public record Capacities(
            int sends, int receives, int sendElements, int receiveElements, int inlineBytes) {

        void write(MemorySegment capacities) {
            ibv_qp_cap.max_send_wr(capacities, sends);
            ibv_qp_cap.max_recv_wr(capacities, receives);
            ibv_qp_cap.max_send_sge(capacities, sendElements);
            ibv_qp_cap.max_recv_sge(capacities, receiveElements);
            ibv_qp_cap.max_inline_data(capacities, inlineBytes);
        }

        static Capacities read(MemorySegment capacities) {
            return new Capacities(
                    ibv_qp_cap.max_send_wr(capacities),
                    ibv_qp_cap.max_recv_wr(capacities),
                    ibv_qp_cap.max_send_sge(capacities),
                    ibv_qp_cap.max_recv_sge(capacities),
                    ibv_qp_cap.max_inline_data(capacities));
        }
    }

    /**
     * The parameters for the creation of a queue pair.
     *
     * @param sharedReceives the shared receive queue; NULL if the queue pair has its own receive
     *     queue
     * @param newer the required operations that only some devices support: atomic write and flush
     */
    public record Specification(
            QueuePairType type,
            MemorySegment domain,
            MemorySegment sendCompletions,
            MemorySegment receiveCompletions,
            MemorySegment sharedReceives,
            Capacities capacities,
            Set<Operation> newer) {

        /** Returns true if only {@code ibv_create_qp_ex} can create the queue pair. */
        private boolean isExtended() {
            return type == QueuePairType.XRC_SEND;
        }

        /**
         * Fills an {@code ibv_qp_init_attr} or the beginning of an {@code ibv_qp_init_attr_ex},
         * which has the same layout. Returns its argument.
         */
        private MemorySegment write(MemorySegment attributes) {
            ibv_qp_init_attr.send_cq(attributes, sendCompletions);
            ibv_qp_init_attr.recv_cq(attributes, receiveCompletions);
            ibv_qp_init_attr.srq(attributes, sharedReceives);
            ibv_qp_init_attr.qp_type(attributes, VerbsEnumCodes.QUEUE_PAIR_TYPE.code(type));
            capacities.write(ibv_qp_init_attr.cap(attributes));
            return attributes;
        }

        /**
         * Returns the operations that the SDK uses with this type of queue pair, as C's {@code
         * IBV_QP_EX_WITH_} bits.
         */
        private long operations(boolean withWindows) {
            var operations = commonOperations(withWindows);
            if (newer.contains(Operation.ATOMIC_WRITE)) {
                operations |= rdma_h.IBV_QP_EX_WITH_ATOMIC_WRITE();
            }
            if (newer.contains(Operation.FLUSH)) {
                operations |= rdma_h.IBV_QP_EX_WITH_FLUSH();
            }
            return operations;
        }

        private long commonOperations(boolean withWindows) {
            var messages = rdma_h.IBV_QP_EX_WITH_SEND() | rdma_h.IBV_QP_EX_WITH_SEND_WITH_IMM();
            var writes =
                    rdma_h.IBV_QP_EX_WITH_RDMA_WRITE()
                            | rdma_h.IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM();
            var windows =
                    withWindows
                            ? rdma_h.IBV_QP_EX_WITH_SEND_WITH_INV()
                                    | rdma_h.IBV_QP_EX_WITH_BIND_MW()
                            : 0;
            return switch (type) {
                case UNRELIABLE_DATAGRAM -> messages;
                case RAW_PACKET -> rdma_h.IBV_QP_EX_WITH_SEND();
                case UNRELIABLE_CONNECTION -> messages | writes | windows;
                case XRC_RECEIVE -> 0;
                case RELIABLE_CONNECTION, XRC_SEND ->
                        messages
                                | writes
                                | windows
                                | (withWindows ? rdma_h.IBV_QP_EX_WITH_LOCAL_INV() : 0)
                                | rdma_h.IBV_QP_EX_WITH_RDMA_READ()
                                | rdma_h.IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP()
                                | rdma_h.IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD();
            };
        }
    }

    /** A new queue pair and its actual capacities. */
    public record Created(MemorySegment queuePair, Capacities granted) {}

    /** Creates a queue pair. The C function returns NULL and sets errno on failure. */
    public Created create(VerbsContext context, Specification specification, CheckedCall attempt)
            throws VerbsException {
        if (specification.isExtended()) {
            return createExtended(context, specification, 0, attempt);
        }
        try (var arena = Arena.ofConfined()) {
            var attributes = specification.write(ibv_qp_init_attr.allocate(arena));
            return created(
                    attempt.pointer(() ->
                            (MemorySegment)
                                    CREATE_QP.invokeExact(
                                            createQp, segment(), specification.domain, attributes)),
                    attributes);
        }
    }

    /**
     * Creates a queue pair for extended posts. If the device rejects operations on memory windows
     * with EOPNOTSUPP, the queue pair is created without them. The C function returns NULL and sets
     * errno on failure.
     */
    public Created createExtended(
            VerbsContext context, Specification specification, CheckedCall attempt)
            throws VerbsException {
        try {
            return createExtended(context, specification, specification.operations(true), attempt);
        } catch (VerbsException e) {
            if (e.code() != Errno.EOPNOTSUPP) {
                throw e;
            }
            return createExtended(context, specification, specification.operations(false), attempt);
        }
    }

    /**
     * Creates a queue pair by {@code ibv_create_qp_ex}.
     *
     * @param operations the operations for extended posts; 0 if the queue pair does not use
     *     extended posts
     */
    private Created createExtended(
            VerbsContext context, Specification specification, long operations, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = specification.write(ibv_qp_init_attr_ex.allocate(arena));
            ibv_qp_init_attr_ex.pd(attributes, specification.domain);
            ibv_qp_init_attr_ex.send_ops_flags(attributes, operations);
            ibv_qp_init_attr_ex.comp_mask(
                    attributes,
                    rdma_h.IBV_QP_INIT_ATTR_PD()
                            | (operations == 0 ? 0 : rdma_h.IBV_QP_INIT_ATTR_SEND_OPS_FLAGS()));
            return createExtended(context, attributes, attempt);
        }
    }

    private static Created createExtended(
            VerbsContext context, MemorySegment attributes, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.create_qp_ex$offset(), attempt);
        return created(
                attempt.pointer(() ->
                        (MemorySegment)
                                CREATE_QP_EX.invokeExact(
                                        function, segment(), context.address(), attributes)),
                attributes);
    }

    /**
     * Creates a queue pair that delivers messages to the shared receive queues of an XRC domain.
     * The C function returns NULL and sets errno on failure.
     */
    public Created createReceiving(
            VerbsContext context, MemorySegment xrcDomain, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_init_attr_ex.allocate(arena);
            ibv_qp_init_attr.qp_type(attributes, rdma_h.IBV_QPT_XRC_RECV());
            ibv_qp_init_attr_ex.xrcd(attributes, xrcDomain);
            ibv_qp_init_attr_ex.comp_mask(attributes, rdma_h.IBV_QP_INIT_ATTR_XRCD());
            return createExtended(context, attributes, attempt);
        }
    }

    /**
     * Opens an existing receiving queue pair of an XRC domain by its number. The C function returns
     * NULL and sets errno on failure.
     */
    public Created openReceiving(
            VerbsContext context, MemorySegment xrcDomain, int number, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.open_qp$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_open_attr.allocate(arena);
            ibv_qp_open_attr.qp_num(attributes, number);
            ibv_qp_open_attr.xrcd(attributes, xrcDomain);
            ibv_qp_open_attr.qp_type(attributes, rdma_h.IBV_QPT_XRC_RECV());
            ibv_qp_open_attr.comp_mask(
                    attributes,
                    rdma_h.IBV_QP_OPEN_ATTR_NUM()
                            | rdma_h.IBV_QP_OPEN_ATTR_XRCD()
                            | rdma_h.IBV_QP_OPEN_ATTR_TYPE());
            return created(
                    attempt.pointer(() ->
                            (MemorySegment)
                                    OPEN_QP.invokeExact(
                                            function, segment(), context.address(), attributes)),
                    ibv_qp_init_attr.allocate(arena)); // All capacities are 0.
        }
    }

    private static Created created(MemorySegment queuePair, MemorySegment attributes) {
        return new Created(
                memoryAt(queuePair, ibv_qp.layout().byteSize()),
                Capacities.read(ibv_qp_init_attr.cap(attributes)));
    }

    /**
     * Returns the {@code ibv_qp_ex} of a queue pair. The C function returns NULL if the queue pair
     * was not created for extended posts.
     */
    public MemorySegment extended(MemorySegment queuePair, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(qpToQpEx);
        var extended =
                call(() -> (MemorySegment) QP_TO_QP_EX.invokeExact(function, segment(), queuePair));
        if (extended.address() == 0) {
            throw attempt.failed(Errno.EOPNOTSUPP);
        }
        return memoryAt(extended, ibv_qp_ex.layout().byteSize());
    }

    /** Returns the number by which peers address the queue pair. */
    public static int number(MemorySegment queuePair) {
        return ibv_qp.qp_num(queuePair);
    }

    /** Changes attributes of a queue pair. The C function returns 0 or an errno. */
    public void modify(MemorySegment queuePair, QueuePairChange change, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_attr.allocate(arena);
            var mask = QueuePairAttributeCodec.write(attributes, change);
            attempt.errno(() ->
                    (int) MODIFY_QP.invokeExact(modifyQp, segment(), queuePair, attributes, mask));
        }
    }

    /**
     * Queries the attributes of a queue pair. Providers fill in all values that they know,
     * regardless of the mask. The kernel may leave the other values uninitialized. The C function
     * returns 0 or an errno.
     *
     * @param hasPaths false for iWARP, which has no InfiniBand paths
     * @param hasReceives true if the queue pair has its own receive queue
     */
    public QueuePairAttributes query(
            MemorySegment queuePair, boolean hasPaths, boolean hasReceives, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_attr.allocate(arena);
            var initial = ibv_qp_init_attr.allocate(arena);
            var mask = rdma_h.IBV_QP_STATE() | rdma_h.IBV_QP_CAP();
            attempt.errno(() ->
                    (int)
                            QUERY_QP.invokeExact(
                                    queryQp, segment(), queuePair, attributes, mask, initial));
            if (!hasPaths) {
                ibv_qp_attr.ah_attr(attributes).fill((byte) 0);
                ibv_qp_attr.alt_port_num(attributes, (byte) 0);
            }
            if (!hasReceives) {
                ibv_qp_cap.max_recv_wr(ibv_qp_attr.cap(attributes), 0);
                ibv_qp_cap.max_recv_sge(ibv_qp_attr.cap(attributes), 0);
            }
            return QueuePairAttributeCodec.read(attributes);
        }
    }

    /** Limits the send rate of a queue pair. The C function returns 0 or an errno. */
    public void limitRate(
            VerbsContext context, MemorySegment queuePair, RateLimit limit, CheckedCall attempt)
            throws VerbsException {
        var function = context.require(verbs_context.modify_qp_rate_limit$offset(), attempt);
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_rate_limit_attr.allocate(arena);
            ibv_qp_rate_limit_attr.rate_limit(attributes, (int) limit.kilobits());
            ibv_qp_rate_limit_attr.max_burst_sz(attributes, (int) limit.maxBurstBytes());
            ibv_qp_rate_limit_attr.typical_pkt_sz(attributes, (short) limit.typicalPacketBytes());
            attempt.errno(() ->
                    (int)
                            MODIFY_QP_RATE_LIMIT.invokeExact(
                                    function, segment(), queuePair, attributes));
        }
    }

    /**
     * Returns the data orders that the device guarantees for an operation. The result is empty if
     * the library lacks the query. The C function cannot fail.
     */
    public Set<DataOrder> dataOrder(MemorySegment queuePair, CompletionKind operation) {
        var opcode =
                switch (operation) {
                    case SEND -> rdma_h.IBV_WR_SEND();
                    case WRITE -> rdma_h.IBV_WR_RDMA_WRITE();
                    case READ -> rdma_h.IBV_WR_RDMA_READ();
                    case COMPARE_AND_SWAP -> rdma_h.IBV_WR_ATOMIC_CMP_AND_SWP();
                    case FETCH_AND_ADD -> rdma_h.IBV_WR_ATOMIC_FETCH_AND_ADD();
                    case ATOMIC_WRITE -> rdma_h.IBV_WR_ATOMIC_WRITE();
                    case FLUSH, BIND, INVALIDATE, RECEIVE, RECEIVE_WRITE_WITH_IMMEDIATE, OTHER ->
                            throw new IllegalArgumentException(
                                    operation + " does not transfer data");
                };
        if (queryQpDataInOrder.isEmpty()) {
            return Set.of();
        }
        return VerbsEnumCodes.DATA_ORDER.ofBits(
                call(() ->
                        (int)
                                QUERY_QP_DATA_IN_ORDER.invokeExact(
                                        queryQpDataInOrder.get(),
                                        segment(),
                                        queuePair,
                                        opcode,
                                        rdma_h.IBV_QUERY_QP_DATA_IN_ORDER_RETURN_CAPS())));
    }

    /**
     * Queries the vendor options of a queue pair ({@code ibv_query_ece}). The C function returns 0
     * or an errno.
     */
    public ConnectionVendorOptions queryEnhanced(MemorySegment queuePair, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(queryEce);
        try (var arena = Arena.ofConfined()) {
            var ece = ibv_ece.allocate(arena);
            attempt.errno(() -> (int) QUERY_ECE.invokeExact(function, segment(), queuePair, ece));
            return new ConnectionVendorOptions(ibv_ece.vendor_id(ece), ibv_ece.options(ece));
        }
    }

    /**
     * Sets the vendor options of a queue pair ({@code ibv_set_ece}). The C function returns 0 or an
     * errno.
     */
    public void setEnhanced(
            MemorySegment queuePair, ConnectionVendorOptions options, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(setEce);
        try (var arena = Arena.ofConfined()) {
            var ece = ibv_ece.allocate(arena);
            ibv_ece.vendor_id(ece, options.vendor());
            ibv_ece.options(ece, options.options());
            attempt.errno(() -> (int) SET_ECE.invokeExact(function, segment(), queuePair, ece));
        }
    }

    /**
     * Destroys a queue pair. Blocks until all asynchronous events of the queue pair are
     * acknowledged. The C function returns 0 or an errno.
     */
    public void destroy(MemorySegment queuePair, CheckedCall attempt) throws VerbsException {
        attempt.errno(() -> (int) DESTROY_QP.invokeExact(destroyQp, segment(), queuePair));
    }
}
