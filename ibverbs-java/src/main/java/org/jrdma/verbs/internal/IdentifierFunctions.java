package org.jrdma.verbs.internal;

import static org.jrdma.ffi.linkage.CapturedErrno.segment;
import static org.jrdma.ffi.linkage.Downcalls.capturingErrno;
import static org.jrdma.ffi.linkage.Downcalls.memoryAt;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jrdma.abi.rdma.ibv_ece;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_cm_id;
import org.jrdma.abi.rdma.rdma_conn_param;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.LibraryNotFoundException;
import org.jrdma.ffi.linkage.NativeLibrary;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * Calls the C functions of an {@code rdma_cm_id}: creation, connection establishment and
 * destruction. Each C function returns -1 and sets errno on failure.
 */
public final class IdentifierFunctions {

    private static final MethodHandle CREATE_ID =
            capturingErrno(rdma_h.rdma_create_id$descriptor());
    private static final MethodHandle DESTROY_ID =
            capturingErrno(rdma_h.rdma_destroy_id$descriptor());
    private static final MethodHandle BIND_ADDR =
            capturingErrno(rdma_h.rdma_bind_addr$descriptor());
    private static final MethodHandle RESOLVE_ADDR =
            capturingErrno(rdma_h.rdma_resolve_addr$descriptor());
    private static final MethodHandle RESOLVE_ROUTE =
            capturingErrno(rdma_h.rdma_resolve_route$descriptor());
    private static final MethodHandle LISTEN = capturingErrno(rdma_h.rdma_listen$descriptor());
    // Also used for rdma_accept, which has the same signature.
    private static final MethodHandle CONNECT = capturingErrno(rdma_h.rdma_connect$descriptor());
    // Also used for rdma_reject_ece, which has the same signature.
    private static final MethodHandle REJECT = capturingErrno(rdma_h.rdma_reject$descriptor());
    private static final MethodHandle DISCONNECT =
            capturingErrno(rdma_h.rdma_disconnect$descriptor());
    private static final MethodHandle NOTIFY = capturingErrno(rdma_h.rdma_notify$descriptor());
    private static final MethodHandle SET_OPTION =
            capturingErrno(rdma_h.rdma_set_option$descriptor());
    private static final MethodHandle MIGRATE_ID =
            capturingErrno(rdma_h.rdma_migrate_id$descriptor());
    private static final MethodHandle INIT_QP_ATTR =
            capturingErrno(rdma_h.rdma_init_qp_attr$descriptor());
    private static final MethodHandle ESTABLISH =
            capturingErrno(rdma_h.rdma_establish$descriptor());
    private static final MethodHandle SET_LOCAL_ECE =
            capturingErrno(rdma_h.rdma_set_local_ece$descriptor());
    private static final MethodHandle GET_REMOTE_ECE =
            capturingErrno(rdma_h.rdma_get_remote_ece$descriptor());
    private static final MethodHandle WRITE_CM_EVENT =
            capturingErrno(rdma_h.rdma_write_cm_event$descriptor());

    // The releases of rdma-core that introduced the optional functions.
    private static final int WITH_ESTABLISH = 23;
    private static final int WITH_ECE = 31;
    private static final int WITH_WRITE_CM_EVENT = 60;

    private final MemorySegment createId;
    private final MemorySegment destroyId;
    private final MemorySegment bindAddr;
    private final MemorySegment resolveAddr;
    private final MemorySegment resolveRoute;
    private final MemorySegment listen;
    private final MemorySegment connect;
    private final MemorySegment accept;
    private final MemorySegment reject;
    private final MemorySegment disconnect;
    private final MemorySegment notify;
    private final MemorySegment setOption;
    private final MemorySegment migrateId;
    private final MemorySegment initQpAttr;
    private final Optional<MemorySegment> establish;
    private final Optional<MemorySegment> setLocalEce;
    private final Optional<MemorySegment> getRemoteEce;
    private final Optional<MemorySegment> rejectEce;
    private final Optional<MemorySegment> writeCmEvent;

    /** Looks up the functions. A library may lack functions that later releases introduced. */
    public IdentifierFunctions(NativeLibrary library) throws LibraryNotFoundException {
        createId = library.require("rdma_create_id");
        destroyId = library.require("rdma_destroy_id");
        bindAddr = library.require("rdma_bind_addr");
        resolveAddr = library.require("rdma_resolve_addr");
        resolveRoute = library.require("rdma_resolve_route");
        listen = library.require("rdma_listen");
        connect = library.require("rdma_connect");
        accept = library.require("rdma_accept");
        reject = library.require("rdma_reject");
        disconnect = library.require("rdma_disconnect");
        notify = library.require("rdma_notify");
        setOption = library.require("rdma_set_option");
        migrateId = library.require("rdma_migrate_id");
        initQpAttr = library.require("rdma_init_qp_attr");
        establish = library.find("rdma_establish");
        setLocalEce = library.find("rdma_set_local_ece");
        getRemoteEce = library.find("rdma_get_remote_ece");
        rejectEce = library.find("rdma_reject_ece");
        writeCmEvent = library.find("rdma_write_cm_event");
    }

    /** Creates an {@code rdma_cm_id} that reports its events to an event channel. */
    public MemorySegment create(MemorySegment channel, PortSpace portSpace, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var pointer = arena.allocate(ValueLayout.ADDRESS);
            attempt.minusOne(() ->
                    (int)
                            CREATE_ID.invokeExact(
                                    createId,
                                    segment(),
                                    channel,
                                    pointer,
                                    MemorySegment.NULL,
                                    VerbsEnumCodes.PORT_SPACE.code(portSpace)));
            return memoryAt(pointer.get(ValueLayout.ADDRESS, 0), rdma_cm_id.layout().byteSize());
        }
    }

    /** Destroys an {@code rdma_cm_id}. Blocks until all of its events are acknowledged. */
    public void destroy(MemorySegment identifier, CheckedCall attempt) throws VerbsException {
        attempt.minusOne(() -> (int) DESTROY_ID.invokeExact(destroyId, segment(), identifier));
    }

    public void bind(MemorySegment identifier, InetSocketAddress address, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var local = SocketAddresses.write(address, arena);
            attempt.minusOne(
                    () -> (int) BIND_ADDR.invokeExact(bindAddr, segment(), identifier, local));
        }
    }

    /**
     * Starts to resolve an address, which binds the {@code rdma_cm_id} to a local device that
     * reaches the address. An event reports the result.
     *
     * @param from the local address to use; null if the kernel is to choose one
     */
    public void resolveAddress(
            MemorySegment identifier,
            @Nullable InetSocketAddress from,
            InetSocketAddress to,
            Duration timeout,
            CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var milliseconds = milliseconds(timeout);
            var source = SocketAddresses.write(from, arena);
            var destination = SocketAddresses.write(to, arena);
            attempt.minusOne(() ->
                    (int)
                            RESOLVE_ADDR.invokeExact(
                                    resolveAddr,
                                    segment(),
                                    identifier,
                                    source,
                                    destination,
                                    milliseconds));
        }
    }

    /**
     * Starts to resolve the route to the peer. An event reports the result. The {@code rdma_cm_id}
     * must be bound to a device.
     */
    public void resolveRoute(MemorySegment identifier, Duration timeout, CheckedCall attempt)
            throws VerbsException {
        var milliseconds = milliseconds(timeout);
        attempt.minusOne(() ->
                (int) RESOLVE_ROUTE.invokeExact(resolveRoute, segment(), identifier, milliseconds));
    }

    /**
     * Converts a timeout to milliseconds, at least 1. Long timeouts are shortened, because the
     * kernel treats a value that overflows as one second.
     */
    private static int milliseconds(Duration timeout) {
        return Math.clamp(TimeUnit.MILLISECONDS.convert(timeout), 1, Integer.MAX_VALUE / 2);
    }

    public void listen(MemorySegment identifier, int backlog, CheckedCall attempt)
            throws VerbsException {
        attempt.minusOne(() -> (int) LISTEN.invokeExact(listen, segment(), identifier, backlog));
    }

    /**
     * Sends a connect request. The {@code rdma_cm_id} must be bound to a device. On iWARP, this
     * method blocks until TCP has connected.
     */
    public void connect(
            MemorySegment identifier,
            ConnectionParameters parameters,
            byte[] privateData,
            CheckedCall attempt)
            throws VerbsException {
        connect(connect, identifier, parameters, privateData, attempt);
    }

    /** Accepts a connect request. The {@code rdma_cm_id} must be bound to a device. */
    public void accept(
            MemorySegment identifier,
            ConnectionParameters parameters,
            byte[] privateData,
            CheckedCall attempt)
            throws VerbsException {
        connect(accept, identifier, parameters, privateData, attempt);
    }

    private static void connect(
            MemorySegment function,
            MemorySegment identifier,
            ConnectionParameters parameters,
            byte[] privateData,
            CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var param = write(parameters, privateData, arena);
            attempt.minusOne(
                    () -> (int) CONNECT.invokeExact(function, segment(), identifier, param));
        }
    }

    private static MemorySegment write(
            ConnectionParameters parameters, byte[] privateData, Arena arena) {
        var param = rdma_conn_param.allocate(arena);
        if (privateData.length > 0) {
            rdma_conn_param.private_data(
                    param, arena.allocateFrom(ValueLayout.JAVA_BYTE, privateData));
            rdma_conn_param.private_data_len(param, (byte) privateData.length);
        }
        rdma_conn_param.qp_num(param, parameters.queuePairNumber());
        rdma_conn_param.srq(param, (byte) (parameters.sharedReceives() ? 1 : 0));
        rdma_conn_param.responder_resources(param, (byte) parameters.maxDestinationReads());
        rdma_conn_param.initiator_depth(param, (byte) parameters.maxReads());
        rdma_conn_param.flow_control(param, (byte) 1);
        rdma_conn_param.retry_count(param, (byte) parameters.retries());
        rdma_conn_param.rnr_retry_count(param, (byte) parameters.receiverNotReadyRetries());
        return param;
    }

    public void reject(MemorySegment identifier, byte[] privateData, CheckedCall attempt)
            throws VerbsException {
        reject(reject, identifier, privateData, attempt);
    }

    /**
     * Rejects a connect request because this side does not support its ECE options ({@code
     * rdma_reject_ece}).
     */
    public void rejectEnhanced(MemorySegment identifier, byte[] privateData, CheckedCall attempt)
            throws VerbsException {
        reject(attempt.require(rejectEce, WITH_ECE), identifier, privateData, attempt);
    }

    private static void reject(
            MemorySegment function, MemorySegment identifier, byte[] data, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var copy = arena.allocateFrom(ValueLayout.JAVA_BYTE, data);
            var length = (byte) data.length;
            attempt.minusOne(
                    () -> (int) REJECT.invokeExact(function, segment(), identifier, copy, length));
        }
    }

    /**
     * Sends a disconnect request, or the reply to the peer's disconnect request. The {@code
     * rdma_cm_id} must be bound to a device.
     */
    public void disconnect(MemorySegment identifier, CheckedCall attempt) throws VerbsException {
        attempt.minusOne(() -> (int) DISCONNECT.invokeExact(disconnect, segment(), identifier));
    }

    /**
     * Confirms to the peer that its reply to the connect request has arrived ({@code
     * rdma_establish}). Needed if librdmacm does not manage the queue pair.
     */
    public void establish(MemorySegment identifier, CheckedCall attempt) throws VerbsException {
        var function = attempt.require(establish, WITH_ESTABLISH);
        attempt.minusOne(() -> (int) ESTABLISH.invokeExact(function, segment(), identifier));
    }

    /** Reports an asynchronous event of the queue pair to the connection manager. */
    public void notify(MemorySegment identifier, AsyncEventType event, CheckedCall attempt)
            throws VerbsException {
        attempt.minusOne(() ->
                (int)
                        NOTIFY.invokeExact(
                                notify,
                                segment(),
                                identifier,
                                VerbsEnumCodes.ASYNC_EVENT_TYPE.code(event)));
    }

    /** Sets an option. The value of a flag is 0 or 1. */
    public void setOption(
            MemorySegment identifier, IdentifierOption option, int value, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var data =
                    option.isByte()
                            ? arena.allocateFrom(ValueLayout.JAVA_BYTE, (byte) value)
                            : arena.allocateFrom(ValueLayout.JAVA_INT, value);
            attempt.minusOne(() ->
                    (int)
                            SET_OPTION.invokeExact(
                                    setOption,
                                    segment(),
                                    identifier,
                                    rdma_h.RDMA_OPTION_ID(),
                                    option.number(),
                                    data,
                                    data.byteSize()));
        }
    }

    /**
     * Moves the {@code rdma_cm_id} to another event channel. Blocks until all of its earlier events
     * are acknowledged.
     */
    public void migrate(MemorySegment identifier, MemorySegment channel, CheckedCall attempt)
            throws VerbsException {
        attempt.minusOne(
                () -> (int) MIGRATE_ID.invokeExact(migrateId, segment(), identifier, channel));
    }

    /**
     * Returns the attributes that a queue pair needs to change to a state ({@code
     * rdma_init_qp_attr}).
     */
    public QueuePairChange queuePairChange(
            MemorySegment identifier, QueuePairState state, CheckedCall attempt)
            throws VerbsException {
        try (var arena = Arena.ofConfined()) {
            var attributes = ibv_qp_attr.allocate(arena);
            var mask = arena.allocate(ValueLayout.JAVA_INT);
            ibv_qp_attr.qp_state(attributes, VerbsEnumCodes.QUEUE_PAIR_STATE.code(state));
            attempt.minusOne(() ->
                    (int)
                            INIT_QP_ATTR.invokeExact(
                                    initQpAttr, segment(), identifier, attributes, mask));
            return QueuePairAttributeCodec.readChange(
                    attributes, mask.get(ValueLayout.JAVA_INT, 0));
        }
    }

    /** Sets the ECE options that the {@code rdma_cm_id} sends with its connection parameters. */
    public void setEnhanced(
            MemorySegment identifier, ConnectionVendorOptions options, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(setLocalEce, WITH_ECE);
        try (var arena = Arena.ofConfined()) {
            var ece = ibv_ece.allocate(arena);
            ibv_ece.vendor_id(ece, options.vendor());
            ibv_ece.options(ece, options.options());
            attempt.minusOne(
                    () -> (int) SET_LOCAL_ECE.invokeExact(function, segment(), identifier, ece));
        }
    }

    /** Returns the ECE options that the peer sent with its connection parameters. */
    public ConnectionVendorOptions enhanced(MemorySegment identifier, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(getRemoteEce, WITH_ECE);
        try (var arena = Arena.ofConfined()) {
            var ece = ibv_ece.allocate(arena);
            attempt.minusOne(
                    () -> (int) GET_REMOTE_ECE.invokeExact(function, segment(), identifier, ece));
            return new ConnectionVendorOptions(ibv_ece.vendor_id(ece), ibv_ece.options(ece));
        }
    }

    /**
     * Adds an event of type {@code RDMA_CM_EVENT_USER} to the event channel of the {@code
     * rdma_cm_id} ({@code rdma_write_cm_event}).
     */
    public void writeEvent(MemorySegment identifier, int status, long argument, CheckedCall attempt)
            throws VerbsException {
        var function = attempt.require(writeCmEvent, WITH_WRITE_CM_EVENT);
        attempt.minusOne(() ->
                (int)
                        WRITE_CM_EVENT.invokeExact(
                                function,
                                segment(),
                                identifier,
                                rdma_h.RDMA_CM_EVENT_USER(),
                                status,
                                argument));
    }
}
