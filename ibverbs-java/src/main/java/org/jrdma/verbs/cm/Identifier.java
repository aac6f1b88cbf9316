package org.jrdma.verbs.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.cm.handle.IdentifierCalls;
import org.jrdma.verbs.cm.handle.NativeIdentifier;
import org.jrdma.verbs.cm.handle.PrivateDataField;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.cm.model.PathRecord;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.DurationCodes;
import org.jrdma.verbs.internal.IdentifierFunctions;
import org.jrdma.verbs.internal.IdentifierReader;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.EnhancedOptions;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A communication identifier: the connection manager's counterpart of a socket, which connects or
 * listens.
 *
 * <p>A step that needs an answer from elsewhere only starts here; its outcome is an event of the
 * {@link EventChannel}. The queue pair belongs to the program: {@link #queuePairChange} returns how
 * to bring it to a state, and {@link ConnectionParameters} carry its number.
 *
 * <p>Owned by its event channel. Safe for use by multiple threads. In C: {@code struct rdma_cm_id};
 * {@link #close()} is {@code rdma_destroy_id}. Closing does not wait for the peer: on iWARP, where
 * the kernel does, the native identifier is destroyed some seconds later.
 */
public final class Identifier extends NativeObject {

    private final EventChannel channel;
    private final PortSpace portSpace;
    private final NativeIdentifier identifier;
    private final IdentifierFunctions functions;
    private final IdentifierCalls calls;
    private final EventQueue events;

    Identifier(EventChannel channel, PortSpace portSpace, NativeIdentifier identifier) {
        super(identifier.address(), lifetime(channel, identifier));
        this.channel = channel;
        this.portSpace = portSpace;
        this.identifier = identifier;
        this.functions = channel.library().identifiers();
        this.calls = new IdentifierCalls(lifetime(), identifier);
        this.events = new EventQueue(toString());
        lifetime().onClose(events::close);
    }

    private static Lifetime lifetime(EventChannel channel, NativeIdentifier identifier) {
        var forget = channel.forgetting(identifier.address());
        return new Lifetime(
                "identifier %x".formatted(identifier.address().address()),
                List.of(channel.ownLifetime()),
                () -> {
                    forget.run();
                    identifier.close();
                });
    }

    /** The space of its port number. */
    public PortSpace portSpace() {
        return portSpace;
    }

    /** The type of its queue pair. */
    public QueuePairType queuePairType() {
        return calls.read(IdentifierReader::type);
    }

    /**
     * Binds this identifier to a local address. The wildcard address stands for all addresses, port
     * 0 for a free port. In C: {@code rdma_bind_addr}.
     *
     * @throws VerbsException if no RDMA device has the address, or the port is in use
     */
    public void bind(InetSocketAddress address) throws VerbsException {
        calls.run(
                new Attempt(
                        "rdma_bind_addr",
                        () -> "for " + address,
                        errno ->
                                channel.library()
                                        .explained(AddressErrors.adviceOnBinding(errno, address))),
                (id, attempt) -> functions.bind(id, address, attempt));
    }

    /**
     * Starts to look for a device that leads to an address, and binds this identifier to it. The
     * answer is {@link ConnectionEvent.AddressResolved} or {@link ConnectionEvent.AddressError}. In
     * C: {@code rdma_resolve_addr}.
     */
    public void resolveAddress(InetSocketAddress to, Duration timeout) throws VerbsException {
        resolveAddress(null, to, timeout);
    }

    /** Starts to resolve an address from a local address, or from any if {@code from} is null. */
    public void resolveAddress(
            @Nullable InetSocketAddress from, InetSocketAddress to, Duration timeout)
            throws VerbsException {
        calls.run(
                new Attempt(
                        "rdma_resolve_addr",
                        () -> "for %s%s".formatted(to, from == null ? "" : " from " + from),
                        errno ->
                                channel.library()
                                        .explained(AddressErrors.adviceOnResolving(errno))),
                (id, attempt) -> functions.resolveAddress(id, from, to, timeout, attempt));
    }

    /**
     * Starts to look up the address of a service. The answer is {@link
     * ConnectionEvent.AddressInfoResolved}, after which {@link #addressInfo} has the address, or
     * {@link ConnectionEvent.AddressInfoError}. In C: {@code rdma_resolve_addrinfo}.
     *
     * <p>A thread of its own waits for the name service, and cannot be interrupted; close() does
     * not wait for it. The result of a look-up must be taken before the next one starts.
     *
     * @throws VerbsException if a look-up is in progress; with EOPNOTSUPP if the library is older
     *     than rdma-core 60
     */
    public void resolveAddressInfo(AddressQuery wanted) throws VerbsException {
        var addresses = channel.library().addresses();
        var attempt =
                new Attempt(
                        "rdma_resolve_addrinfo",
                        () -> "for %s and %s".formatted(wanted, this),
                        AddressErrors::adviceOnLookUp);
        addresses.needResolve(attempt);
        calls.begin("rdma_resolve_addrinfo", NativeIdentifier.Call.LOOK_UP, false);
        PlatformCalls.start(() -> {
            try {
                calls.finish(attempt, (id, tried) -> addresses.resolve(id, wanted, tried));
            } catch (VerbsException e) {
                channel.add(new ConnectionEvent.AddressInfoError(this, e.code()));
            }
        });
    }

    /**
     * Takes the result of a look-up. In C: {@code rdma_query_addrinfo}.
     *
     * @throws VerbsException with ENOENT if there is none, or it was taken; with EOPNOTSUPP if the
     *     library is older than rdma-core 60
     */
    public List<AddressInfo> addressInfo() throws VerbsException {
        return calls.query(
                calls.attempt("rdma_query_addrinfo"), channel.library().addresses()::resolved);
    }

    /**
     * Starts to look for a path through the fabric. The answer is {@link
     * ConnectionEvent.RouteResolved} or {@link ConnectionEvent.RouteError}. In C: {@code
     * rdma_resolve_route}.
     */
    public void resolveRoute(Duration timeout) throws VerbsException {
        calls.runOnDevice(
                "rdma_resolve_route",
                (id, attempt) -> functions.resolveRoute(id, timeout, attempt));
    }

    /**
     * Starts to listen. Each request is a {@link ConnectionEvent.ConnectRequest} or {@link
     * ConnectionEvent.DatagramRequest}. In C: {@code rdma_listen}.
     *
     * @param backlog the number of requests that may wait for an answer
     */
    public void listen(int backlog) throws VerbsException {
        calls.run("rdma_listen", (id, attempt) -> functions.listen(id, backlog, attempt));
    }

    /**
     * Asks the peer for a connection. The answer is {@link ConnectionEvent.ConnectResponse}, on
     * iWARP {@link ConnectionEvent.Established}, or a {@link ConnectionEvent.Failure}; {@link
     * ConnectionEvent.DatagramEstablished} for datagrams. In C: {@code rdma_connect}.
     *
     * <p>On an iWARP device this method blocks until TCP has connected, and cannot be interrupted:
     * call it from a thread of its own. close() does not wait for it.
     *
     * @param privateData for the peer: at most 56 bytes for a connection, 180 for datagrams, 248 on
     *     iWARP
     * @throws IllegalArgumentException if the private data is longer
     */
    public void connect(ConnectionParameters parameters, byte... privateData)
            throws VerbsException {
        check(PrivateDataField.REQUEST, privateData);
        calls.runOnDevice("rdma_connect", (_, _) -> {});
        calls.begin("rdma_connect", NativeIdentifier.Call.CONNECT, isWarp());
        PlatformCalls.call(() -> {
            calls.finish(
                    calls.attempt("rdma_connect"),
                    (id, attempt) -> functions.connect(id, parameters, privateData, attempt));
            return this;
        });
    }

    /** Checks the length of private data. */
    void check(PrivateDataField field, byte[] data) {
        field.check(this, data.length, field.bytes(portSpace.isOfDatagrams(), isWarp()));
    }

    /**
     * Accepts a request. A queue pair must be ready to send. The answer is {@link
     * ConnectionEvent.Established}. In C: {@code rdma_accept}.
     *
     * @param privateData for the peer: at most 196 bytes for a connection, 136 for datagrams, 248
     *     on iWARP
     * @throws IllegalArgumentException if the private data is longer
     */
    public void accept(ConnectionParameters parameters, byte... privateData) throws VerbsException {
        check(PrivateDataField.REPLY, privateData);
        calls.runOnDevice(
                "rdma_accept",
                (id, attempt) -> functions.accept(id, parameters, privateData, attempt));
    }

    /**
     * Rejects a request. In C: {@code rdma_reject}.
     *
     * @param privateData for the peer: at most 148 bytes for a connection, 136 for datagrams, 248
     *     on iWARP
     * @throws IllegalArgumentException if the private data is longer
     */
    public void reject(byte... privateData) throws VerbsException {
        check(PrivateDataField.REJECTION, privateData);
        calls.run("rdma_reject", (id, attempt) -> functions.reject(id, privateData, attempt));
    }

    /**
     * Rejects a request because this side does not support the {@link #peerEnhancedOptions}. The
     * peer sees {@link RejectReason#VENDOR_OPTION_NOT_SUPPORTED}, but not on iWARP, whose
     * rejections have no reason. In C: {@code rdma_reject_ece}.
     *
     * @param privateData for the peer: at most 148 bytes for a connection, 136 for datagrams, 248
     *     on iWARP
     * @throws IllegalArgumentException if the private data is longer
     * @throws VerbsException with EOPNOTSUPP if the library is older than rdma-core 31
     */
    public void rejectEnhancedOptions(byte... privateData) throws VerbsException {
        check(PrivateDataField.REJECTION, privateData);
        calls.run(
                "rdma_reject_ece",
                (id, attempt) -> functions.rejectEnhanced(id, privateData, attempt));
    }

    /**
     * Confirms the peer's {@link ConnectionEvent.ConnectResponse}: the queue pair is ready. In C:
     * {@code rdma_establish}.
     */
    public void establish() throws VerbsException {
        calls.run("rdma_establish", functions::establish);
    }

    /**
     * Ends the connection, or answers a peer that has ended it and that would otherwise wait for
     * minutes. The queue pair keeps its state. In C: {@code rdma_disconnect}.
     */
    public void disconnect() throws VerbsException {
        calls.runOnDevice("rdma_disconnect", functions::disconnect);
    }

    /**
     * Reports an event of the queue pair to the connection manager. {@link
     * AsyncEventType#COMMUNICATION_ESTABLISHED}, which occurs if a message arrives before the
     * peer's confirmation, replaces that confirmation. In C: {@code rdma_notify}.
     */
    public void notify(AsyncEventType event) throws VerbsException {
        calls.run("rdma_notify", (id, attempt) -> functions.notify(id, event, attempt));
    }

    /**
     * Adds an application-defined event to the event channel, as {@link ConnectionEvent.Written},
     * which wakes up a thread that waits there. The program defines the status and the argument. In
     * C: {@code rdma_write_cm_event}.
     *
     * @throws VerbsException with EOPNOTSUPP if the library is older than rdma-core 60, with EINVAL
     *     if the kernel is too old
     * @throws IllegalStateException if this is the identifier of a {@link Connection}, which takes
     *     its events
     */
    public void writeEvent(int status, long argument) throws VerbsException {
        if (channel.isDispatching()) {
            throw new IllegalStateException(
                    "A connection takes the events of %s, and would drop this one".formatted(this));
        }
        calls.run(
                "rdma_write_cm_event",
                (id, attempt) -> functions.writeEvent(id, status, argument, attempt));
    }

    /**
     * Returns the change that brings the queue pair to a state: INIT once the identifier has a
     * device; READY_TO_RECEIVE and READY_TO_SEND once there is a request or a response. In C:
     * {@code rdma_init_qp_attr}.
     */
    public QueuePairChange queuePairChange(QueuePairState state) throws VerbsException {
        return calls.query(
                Attempt.to("rdma_init_qp_attr", () -> "for %s to %s".formatted(this, state)),
                (id, attempt) -> functions.queuePairChange(id, state, attempt));
    }

    /**
     * Starts to join a multicast group, to send and to receive. The answer is {@link
     * ConnectionEvent.MulticastJoined} or {@link ConnectionEvent.MulticastError}. In C: {@code
     * rdma_join_multicast}.
     *
     * <p>The identifier must have a device and a port space of datagrams. Joining brings the
     * group's packets to the device; {@link org.jrdma.verbs.DatagramQueuePair#attachMulticast}
     * brings them to a queue pair.
     */
    public void joinMulticast(InetAddress group) throws VerbsException {
        joinMulticast(group, MulticastRole.FULL_MEMBER);
    }

    /** Starts to join a multicast group in a role. In C: {@code rdma_join_multicast_ex}. */
    public void joinMulticast(InetAddress group, MulticastRole role) throws VerbsException {
        identifier.groups().join(calls, group, role);
    }

    /**
     * Leaves a group, as {@link #close()} does. In C: {@code rdma_leave_multicast}.
     *
     * @throws VerbsException if the identifier is not a member of that group
     */
    public void leaveMulticast(InetAddress group) throws VerbsException {
        identifier.groups().leave(calls, group);
    }

    NativeIdentifier nativeIdentifier() {
        return identifier;
    }

    /**
     * Moves the native identifier to another event channel, which then owns it and gets its events.
     * This object is closed; the returned one replaces it. In C: {@code rdma_migrate_id}.
     *
     * @throws IllegalStateException while another thread connects it, or looks up an address for it
     */
    public Identifier migrateTo(EventChannel other) throws VerbsException {
        if (other == channel) {
            return this;
        }
        Identifier moved;
        lifetime().hold();
        try {
            if (!calls.tryBegin(NativeIdentifier.Call.MIGRATE, false)) {
                throw new IllegalStateException(
                        this
                                + " is being connected or looked up for: it can migrate before that, or after");
            }
            try {
                moved = other.takeOver(identifier, portSpace, calls.attempt("rdma_migrate_id"));
                identifier.handOver();
            } finally {
                calls.end();
            }
        } finally {
            lifetime().release();
        }
        close();
        return moved;
    }

    /**
     * Sets the priority of its packets, as in IP: 0 to 255. Before the address is resolved. In C:
     * {@code rdma_set_option} with {@code RDMA_OPTION_ID_TOS}.
     */
    public void typeOfService(int value) throws VerbsException {
        ConnectionOptions.checkTypeOfService(value);
        setByte(rdma_h.RDMA_OPTION_ID_TOS(), value);
    }

    /**
     * Shares its port with other identifiers that have this option. Before it is bound. In C:
     * {@code rdma_set_option} with {@code RDMA_OPTION_ID_REUSEADDR}.
     */
    public void reuseAddress(boolean wanted) throws VerbsException {
        setFlag(rdma_h.RDMA_OPTION_ID_REUSEADDR(), wanted);
    }

    /**
     * Limits an identifier that is bound to the wildcard address of IPv6 to IPv6. Before it is
     * bound. In C: {@code rdma_set_option} with {@code RDMA_OPTION_ID_AFONLY}.
     */
    public void addressFamilyOnly(boolean wanted) throws VerbsException {
        setFlag(rdma_h.RDMA_OPTION_ID_AFONLY(), wanted);
    }

    /**
     * Sets the time after which the queue pair retransmits what the peer has not acknowledged,
     * rounded up as in {@link ConnectionOptions#acknowledgeTimeout}. In C: {@code rdma_set_option}
     * with {@code RDMA_OPTION_ID_ACK_TIMEOUT}.
     *
     * @throws IllegalArgumentException if the duration is zero or negative
     */
    public void acknowledgeTimeout(Duration timeout) throws VerbsException {
        setByte(rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT(), DurationCodes.acknowledgeTimeout(timeout));
    }

    private void setByte(int option, int value) throws VerbsException {
        calls.run(
                optionAttempt(option, value),
                (id, attempt) -> functions.setByte(id, option, value, attempt));
    }

    private void setFlag(int option, boolean value) throws VerbsException {
        calls.run(
                optionAttempt(option, value),
                (id, attempt) -> functions.setFlag(id, option, value, attempt));
    }

    private Attempt optionAttempt(int option, Object value) {
        return Attempt.to(
                "rdma_set_option",
                () -> "for option %d of %s to %s".formatted(option, this, value));
    }

    /**
     * Sets the options that the drivers of both sides negotiate. Before it connects or accepts. In
     * C: {@code rdma_set_local_ece}.
     */
    public void enhancedOptions(EnhancedOptions options) throws VerbsException {
        calls.run(
                "rdma_set_local_ece", (id, attempt) -> functions.setEnhanced(id, options, attempt));
    }

    /** The options that the peer's driver offers or accepts. In C: {@code rdma_get_remote_ece}. */
    public EnhancedOptions peerEnhancedOptions() throws VerbsException {
        return calls.query(calls.attempt("rdma_get_remote_ece"), functions::enhanced);
    }

    /**
     * Its own address; empty before it is bound. In C: {@code rdma_get_local_addr}, and {@code
     * rdma_get_src_port}.
     */
    public Optional<InetSocketAddress> localAddress() {
        return calls.read(IdentifierReader::local);
    }

    /**
     * The peer's address; empty before it is known. In C: {@code rdma_get_peer_addr}, and {@code
     * rdma_get_dst_port}.
     */
    public Optional<InetSocketAddress> peerAddress() {
        return calls.read(IdentifierReader::peer);
    }

    /** The name of the device that it is bound to, for {@link org.jrdma.verbs.Verbs#open}. */
    public Optional<String> deviceName() {
        return calls.device().map(IdentifierReader.BoundDevice::name);
    }

    /** The port of the device that it is bound to, from 1. */
    public OptionalInt devicePort() {
        return calls.device().stream().mapToInt(IdentifierReader.BoundDevice::port).findFirst();
    }

    /** The paths through the fabric; empty before they are known, and on iWARP. */
    public List<PathRecord> paths() {
        return calls.read(IdentifierReader::paths);
    }

    EventChannel channel() {
        return channel;
    }

    /** Its events, if the channel dispatches them. */
    EventQueue events() {
        return events;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }

    boolean isWarp() {
        return calls.isWarp();
    }
}
