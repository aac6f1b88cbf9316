package org.jrdma.verbs.cm;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.jrdma.ffi.AddressText;
import org.jrdma.ffi.BlockingCalls;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.cm.handle.IdentifierCalls;
import org.jrdma.verbs.cm.handle.NativeIdentifier;
import org.jrdma.verbs.cm.handle.PrivateDataSizes;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.cm.model.PathRecord;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.internal.DurationCodes;
import org.jrdma.verbs.internal.IdentifierFunctions;
import org.jrdma.verbs.internal.IdentifierOption;
import org.jrdma.verbs.internal.IdentifierReader;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A communication identifier ({@code rdma_cm_id}): the object of librdmacm that corresponds to a
 * socket.
 *
 * <p>A method that involves a peer or a name service only starts a step. The {@link EventChannel}
 * reports the outcome of the step as an event. The program creates the queue pair itself: {@link
 * #queuePairChange} returns the attributes for each state transition, and {@link
 * ConnectionParameters} contain the queue pair number.
 *
 * <p>Owned by its event channel. Safe for use by multiple threads. In C: {@code struct rdma_cm_id};
 * {@link #close()} is {@code rdma_destroy_id}. Closing does not wait for the peer. On iWARP, where
 * {@code rdma_destroy_id} waits some seconds for the peer, a background thread calls it.
 */
public final class Identifier extends NativeObject {

    private final EventChannel channel;
    private final PortSpace portSpace;
    private final NativeIdentifier identifier;
    private final IdentifierFunctions functions;
    private final IdentifierCalls calls;
    private final IdentifierEventQueue events;

    Identifier(EventChannel channel, PortSpace portSpace, NativeIdentifier identifier) {
        super(identifier.address(), lifetime(channel, identifier));
        this.channel = channel;
        this.portSpace = portSpace;
        this.identifier = identifier;
        this.functions = channel.library().identifiers();
        this.calls = new IdentifierCalls(lifetime(), identifier);
        this.events = new IdentifierEventQueue(toString());
        lifetime().onClose(events::close);
    }

    private static Lifetime lifetime(EventChannel channel, NativeIdentifier identifier) {
        var removal = channel.removalTask(identifier.address());
        return new Lifetime(
                "identifier %x".formatted(identifier.address().address()),
                List.of(channel.ownLifetime()),
                () -> {
                    removal.run();
                    identifier.close();
                });
    }

    /** The space of port numbers that the addresses of this identifier belong to. */
    public PortSpace portSpace() {
        return portSpace;
    }

    /** The type of queue pair that this identifier connects. */
    public QueuePairType queuePairType() {
        return calls.read(IdentifierReader::type);
    }

    /**
     * Binds this identifier to a local address. The wildcard address selects all addresses, and
     * port 0 selects a free port. In C: {@code rdma_bind_addr}.
     *
     * @throws VerbsException if no RDMA device has the address, or the port is in use
     */
    public void bind(InetSocketAddress address) throws VerbsException {
        calls.run(
                new CheckedCall(
                        "rdma_bind_addr",
                        () -> "for " + AddressText.of(address),
                        errno ->
                                channel.library()
                                        .explained(
                                                AddressErrorMessages.adviceOnBinding(
                                                        errno, address))),
                (id, attempt) -> functions.bind(id, address, attempt));
    }

    /**
     * Starts to resolve the address of a peer. Resolution binds this identifier to the device
     * through which the peer is reachable. The outcome is {@link ConnectionEvent.AddressResolved}
     * or {@link ConnectionEvent.AddressError}. In C: {@code rdma_resolve_addr}.
     */
    public void resolveAddress(InetSocketAddress to, Duration timeout) throws VerbsException {
        resolveAddress(null, to, timeout);
    }

    /** Starts to resolve the address of a peer from a local address; null for any address. */
    public void resolveAddress(
            @Nullable InetSocketAddress from, InetSocketAddress to, Duration timeout)
            throws VerbsException {
        calls.run(
                new CheckedCall(
                        "rdma_resolve_addr",
                        () ->
                                "for %s%s"
                                        .formatted(
                                                AddressText.of(to),
                                                from == null
                                                        ? ""
                                                        : " from " + AddressText.of(from)),
                        errno ->
                                channel.library()
                                        .explained(AddressErrorMessages.adviceOnResolving(errno))),
                (id, attempt) -> functions.resolveAddress(id, from, to, timeout, attempt));
    }

    /**
     * Starts to look up the address of a service. The outcome is {@link
     * ConnectionEvent.AddressInfoResolved}, after which {@link #addressInfo} returns the address,
     * or {@link ConnectionEvent.AddressInfoError}. In C: {@code rdma_resolve_addrinfo}.
     *
     * <p>A background thread waits for the name service, even after {@link #close()}. The program
     * must take the result of a lookup before it starts the next lookup.
     *
     * @throws VerbsException if a lookup is in progress; with EOPNOTSUPP if the library is older
     *     than rdma-core 60
     */
    public void resolveAddressInfo(AddressQuery query) throws VerbsException {
        Objects.requireNonNull(query, "query");
        var addresses = channel.library().addresses();
        var attempt =
                new CheckedCall(
                        "rdma_resolve_addrinfo",
                        () -> "for %s and %s".formatted(query, this),
                        AddressErrorMessages::adviceOnLookUp);
        addresses.requireResolve(attempt);
        calls.begin("rdma_resolve_addrinfo", NativeIdentifier.Call.LOOK_UP, false);
        BlockingCalls.start(() -> {
            try {
                calls.finish(attempt, (id, described) -> addresses.resolve(id, query, described));
            } catch (VerbsException e) {
                channel.add(new ConnectionEvent.AddressInfoError(this, e.code()));
            }
        });
    }

    /**
     * Takes the result of a lookup. In C: {@code rdma_query_addrinfo}.
     *
     * @throws VerbsException with ENOENT if there is no result or the result was already taken;
     *     with EOPNOTSUPP if the library is older than rdma-core 60
     */
    public List<AddressInfo> addressInfo() throws VerbsException {
        return calls.query(
                calls.attempt("rdma_query_addrinfo"), channel.library().addresses()::resolved);
    }

    /**
     * Starts to resolve the path through the fabric. The outcome is {@link
     * ConnectionEvent.RouteResolved} or {@link ConnectionEvent.RouteError}. In C: {@code
     * rdma_resolve_route}.
     */
    public void resolveRoute(Duration timeout) throws VerbsException {
        calls.runOnDevice(
                "rdma_resolve_route",
                (id, attempt) -> functions.resolveRoute(id, timeout, attempt));
    }

    /**
     * Starts to listen. Each request is reported as a {@link ConnectionEvent.ConnectRequest} or
     * {@link ConnectionEvent.DatagramRequest}. In C: {@code rdma_listen}.
     *
     * @param backlog the maximum number of requests that the program has not yet answered
     */
    public void listen(int backlog) throws VerbsException {
        calls.run("rdma_listen", (id, attempt) -> functions.listen(id, backlog, attempt));
    }

    /**
     * Sends a connect request to the peer. If the peer accepts the request, the outcome is {@link
     * ConnectionEvent.ConnectResponse}, on iWARP {@link ConnectionEvent.Established}, and for
     * datagrams {@link ConnectionEvent.DatagramEstablished}. Otherwise the outcome is a {@link
     * ConnectionEvent.Failure}. In C: {@code rdma_connect}.
     *
     * <p>On an iWARP device, this method blocks until TCP has connected, and cannot be interrupted.
     * Call it on a dedicated thread. {@link #close()} does not wait for it.
     *
     * @param privateData the private data for the peer: at most 56 bytes for a connection, 180
     *     bytes for datagrams, 248 bytes on iWARP
     * @throws IllegalArgumentException if the private data is longer than this limit
     */
    public void connect(ConnectionParameters parameters, byte... privateData)
            throws VerbsException {
        check(PrivateDataSizes.REQUEST, privateData);
        calls.runOnDevice("rdma_connect", (_, _) -> {});
        calls.begin("rdma_connect", NativeIdentifier.Call.CONNECT, isIwarp());
        BlockingCalls.call(() -> {
            calls.finish(
                    calls.attempt("rdma_connect"),
                    (id, attempt) -> functions.connect(id, parameters, privateData, attempt));
            return this;
        });
    }

    /** Checks the length of private data against the limit of the message field. */
    void check(PrivateDataSizes field, byte[] data) {
        field.check(this, data.length, field.bytes(portSpace.isDatagram(), isIwarp()));
    }

    /**
     * Accepts a request. The queue pair of a connection must be in the state READY_TO_SEND. The
     * outcome is {@link ConnectionEvent.Established}. In C: {@code rdma_accept}.
     *
     * @param privateData the private data for the peer: at most 196 bytes for a connection, 136
     *     bytes for datagrams, 248 bytes on iWARP
     * @throws IllegalArgumentException if the private data is longer than this limit
     */
    public void accept(ConnectionParameters parameters, byte... privateData) throws VerbsException {
        check(PrivateDataSizes.REPLY, privateData);
        calls.runOnDevice(
                "rdma_accept",
                (id, attempt) -> functions.accept(id, parameters, privateData, attempt));
    }

    /**
     * Rejects a request. In C: {@code rdma_reject}.
     *
     * @param privateData the private data for the peer: at most 148 bytes for a connection, 136
     *     bytes for datagrams, 248 bytes on iWARP
     * @throws IllegalArgumentException if the private data is longer than this limit
     */
    public void reject(byte... privateData) throws VerbsException {
        check(PrivateDataSizes.REJECTION, privateData);
        calls.run("rdma_reject", (id, attempt) -> functions.reject(id, privateData, attempt));
    }

    /**
     * Rejects a request because this side does not support the {@link #peerVendorOptions}. The peer
     * gets {@link RejectReason#VENDOR_OPTION_NOT_SUPPORTED}, except on iWARP, where rejections do
     * not contain a reason. In C: {@code rdma_reject_ece}.
     *
     * @param privateData the private data for the peer: at most 148 bytes for a connection, 136
     *     bytes for datagrams, 248 bytes on iWARP
     * @throws IllegalArgumentException if the private data is longer than this limit
     * @throws VerbsException with EOPNOTSUPP if the library is older than rdma-core 31
     */
    public void rejectVendorOptions(byte... privateData) throws VerbsException {
        check(PrivateDataSizes.REJECTION, privateData);
        calls.run(
                "rdma_reject_ece",
                (id, attempt) -> functions.rejectEnhanced(id, privateData, attempt));
    }

    /**
     * Confirms the peer's {@link ConnectionEvent.ConnectResponse} after the queue pair has reached
     * the state READY_TO_SEND. In C: {@code rdma_establish}.
     */
    public void establish() throws VerbsException {
        calls.run("rdma_establish", functions::establish);
    }

    /**
     * Disconnects, or confirms a disconnect, which the peer retransmits until it is confirmed. Does
     * not change the state of the queue pair. In C: {@code rdma_disconnect}.
     */
    public void disconnect() throws VerbsException {
        calls.runOnDevice("rdma_disconnect", functions::disconnect);
    }

    /**
     * Reports an event of the queue pair to the connection manager. If a message arrives before the
     * peer's confirmation, reporting {@link AsyncEventType#COMMUNICATION_ESTABLISHED} replaces the
     * confirmation. In C: {@code rdma_notify}.
     */
    public void notify(AsyncEventType event) throws VerbsException {
        calls.run("rdma_notify", (id, attempt) -> functions.notify(id, event, attempt));
    }

    /**
     * Adds a {@link ConnectionEvent.UserDefined} event with a program-defined status and argument,
     * and wakes up a thread that waits at the event channel. In C: {@code rdma_write_cm_event}.
     *
     * @throws VerbsException with EOPNOTSUPP if the library is older than rdma-core 60; with EINVAL
     *     if the kernel does not support user-defined events
     * @throws IllegalStateException if this identifier belongs to a {@link Connection}, which would
     *     ignore the event
     */
    public void writeEvent(int status, long argument) throws VerbsException {
        if (channel.isDispatching()) {
            throw new IllegalStateException(
                    "Cannot add an event to %s: its events are handled by a connection, which would ignore it"
                            .formatted(this));
        }
        calls.run(
                "rdma_write_cm_event",
                (id, attempt) -> functions.writeEvent(id, status, argument, attempt));
    }

    /**
     * Returns the attributes for a state transition of the queue pair. The state INIT requires that
     * the identifier is bound to a device. READY_TO_RECEIVE and READY_TO_SEND require that the
     * peer's request or response has arrived. In C: {@code rdma_init_qp_attr}.
     */
    public QueuePairChange queuePairChange(QueuePairState state) throws VerbsException {
        return calls.query(
                CheckedCall.to("rdma_init_qp_attr", () -> "for %s to %s".formatted(this, state)),
                (id, attempt) -> functions.queuePairChange(id, state, attempt));
    }

    /**
     * Starts to join a multicast group as a sender and receiver. The outcome is {@link
     * ConnectionEvent.MulticastJoined} or {@link ConnectionEvent.MulticastError}. In C: {@code
     * rdma_join_multicast}.
     *
     * <p>The identifier must be bound to a device and have a datagram port space. After joining,
     * the device receives the packets of the group. A queue pair receives them after {@link
     * org.jrdma.verbs.DatagramQueuePair#attachMulticast}.
     */
    public void joinMulticast(InetAddress group) throws VerbsException {
        joinMulticast(group, MulticastRole.FULL_MEMBER);
    }

    /** Starts to join a multicast group in a given role. In C: {@code rdma_join_multicast_ex}. */
    public void joinMulticast(InetAddress group, MulticastRole role) throws VerbsException {
        identifier.groups().join(calls, group, role);
    }

    /**
     * Leaves a multicast group. {@link #close()} leaves all groups that were joined. In C: {@code
     * rdma_leave_multicast}.
     *
     * @throws VerbsException if the identifier is not a member of the group
     */
    public void leaveMulticast(InetAddress group) throws VerbsException {
        identifier.groups().leave(calls, group);
    }

    NativeIdentifier nativeIdentifier() {
        return identifier;
    }

    /**
     * Moves the native identifier to another event channel, which then owns it. Closes this object
     * and returns the object that replaces it. In C: {@code rdma_migrate_id}.
     *
     * @throws IllegalStateException if a connect or lookup call on this identifier is in progress
     */
    public Identifier migrateTo(EventChannel other) throws VerbsException {
        if (other == channel) {
            return this;
        }
        Identifier moved;
        try (var _ = lifetime().held()) {
            if (!calls.tryBegin(NativeIdentifier.Call.MIGRATE, false)) {
                throw new IllegalStateException(
                        "Cannot migrate %s while a connect or lookup call is in progress"
                                .formatted(this));
            }
            try {
                moved = other.takeOver(identifier, portSpace, calls.attempt("rdma_migrate_id"));
                identifier.handOver();
            } finally {
                calls.end();
            }
        }
        close();
        return moved;
    }

    /**
     * Sets the IP type of service of the packets: 0 to 255. Must be called before the address is
     * resolved. In C: {@code rdma_set_option} with {@code RDMA_OPTION_ID_TOS}.
     */
    public void typeOfService(int value) throws VerbsException {
        ConnectionOptions.checkTypeOfService(value);
        set(IdentifierOption.TYPE_OF_SERVICE, value);
    }

    /**
     * Selects whether this identifier can share its port with other identifiers that have also
     * enabled this option. Must be called before the identifier is bound. In C: {@code
     * rdma_set_option} with {@code RDMA_OPTION_ID_REUSEADDR}.
     */
    public void reuseAddress(boolean enabled) throws VerbsException {
        set(IdentifierOption.REUSE_ADDRESS, enabled ? 1 : 0);
    }

    /**
     * Selects whether an identifier that is bound to the IPv6 wildcard address uses only IPv6;
     * otherwise it also uses IPv4. Must be called before the identifier is bound. In C: {@code
     * rdma_set_option} with {@code RDMA_OPTION_ID_AFONLY}.
     */
    public void addressFamilyOnly(boolean enabled) throws VerbsException {
        set(IdentifierOption.ADDRESS_FAMILY_ONLY, enabled ? 1 : 0);
    }

    /**
     * Sets the time after which the queue pair retransmits an unacknowledged request. The time is
     * rounded up as described for {@link ConnectionOptions#acknowledgeTimeout}. In C: {@code
     * rdma_set_option} with {@code RDMA_OPTION_ID_ACK_TIMEOUT}.
     *
     * @throws IllegalArgumentException if the duration is zero or negative
     */
    public void acknowledgeTimeout(Duration timeout) throws VerbsException {
        set(IdentifierOption.ACKNOWLEDGE_TIMEOUT, DurationCodes.acknowledgeTimeout(timeout));
    }

    private void set(IdentifierOption option, int value) throws VerbsException {
        calls.run(
                CheckedCall.to(
                        "rdma_set_option",
                        () -> "for %s = %d of %s".formatted(option, value, this)),
                (id, attempt) -> functions.setOption(id, option, value, attempt));
    }

    /**
     * Sets the vendor-specific options that the drivers of both sides negotiate. Must be called
     * before this identifier connects or accepts. In C: {@code rdma_set_local_ece}.
     */
    public void vendorOptions(ConnectionVendorOptions options) throws VerbsException {
        calls.run(
                "rdma_set_local_ece", (id, attempt) -> functions.setEnhanced(id, options, attempt));
    }

    /** The options that the peer's driver offers or accepts. In C: {@code rdma_get_remote_ece}. */
    public ConnectionVendorOptions peerVendorOptions() throws VerbsException {
        return calls.query(calls.attempt("rdma_get_remote_ece"), functions::enhanced);
    }

    /**
     * The local address; empty before the identifier is bound. In C: {@code rdma_get_local_addr},
     * and {@code rdma_get_src_port}.
     */
    public Optional<InetSocketAddress> localAddress() {
        return calls.read(IdentifierReader::local);
    }

    /**
     * The peer's address; empty if it is not known yet. In C: {@code rdma_get_peer_addr}, and
     * {@code rdma_get_dst_port}.
     */
    public Optional<InetSocketAddress> peerAddress() {
        return calls.read(IdentifierReader::peer);
    }

    /** The name of the device to which this identifier is bound; empty if it is not bound. */
    public Optional<String> deviceName() {
        return calls.device().map(IdentifierReader.BoundDevice::name);
    }

    /** The device port to which this identifier is bound, from 1; empty if it is not bound. */
    public OptionalInt devicePort() {
        return calls.device().stream().mapToInt(IdentifierReader.BoundDevice::port).findFirst();
    }

    /** The paths through the fabric; empty before the route is resolved, and always on iWARP. */
    public List<PathRecord> paths() {
        return calls.read(IdentifierReader::paths);
    }

    EventChannel channel() {
        return channel;
    }

    /** The event queue of this identifier, which is used only if the channel dispatches events. */
    IdentifierEventQueue events() {
        return events;
    }

    Lifetime ownLifetime() {
        return lifetime();
    }

    boolean isIwarp() {
        return calls.isIwarp();
    }
}
