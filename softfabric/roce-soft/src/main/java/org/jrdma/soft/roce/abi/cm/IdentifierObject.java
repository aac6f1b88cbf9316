package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.StructureRegistry;
import org.jrdma.soft.roce.connection.ConnectOptions;
import org.jrdma.soft.roce.connection.ConnectRequest;
import org.jrdma.soft.roce.connection.Connection;
import org.jrdma.soft.roce.connection.EceOptions;
import org.jrdma.soft.roce.connection.PrivateDataHeader;
import org.jrdma.soft.roce.connection.SidrRequest;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/**
 * The implementation of an {@code rdma_cm_id}: a connection, a listener, or an object that can
 * still become either.
 *
 * <p>Functions that C calls hold the lock of {@link ConnectionExports}, and may then acquire the
 * lock of a port. An incoming request is handled by a thread that already holds the lock of a port.
 * To avoid a deadlock, this thread acquires only the locks of {@link IdentifierEvents} and of the
 * event channel.
 */
final class IdentifierObject {

    private enum State {
        IDLE,
        BOUND,
        ADDRESS_RESOLVED,
        ROUTE_RESOLVED,
        LISTENING,
        /** This side or the peer has started a connection handshake or a SIDR exchange. */
        CONNECTING
    }

    private final ConnectionDevices devices;
    private final PortReservations ports;
    private final PortSpaceAndQueueType type;
    private final IdentifierEvents events;
    private final IdentifierOptions options = new IdentifierOptions();
    private final MulticastMemberships groups = new MulticastMemberships();

    /** The event channel that is destroyed with this {@code rdma_cm_id}; null if there is none. */
    private @Nullable EventChannelObject ownChannel;

    private @Nullable IdentifierStructure structure;
    private State state;
    private @Nullable SocketName name;
    private @Nullable SocketName peer;
    private @Nullable ConnectionDevice device;
    private @Nullable Listener listening;
    private @Nullable IdentifierExchange exchange;
    private final AsyncAddressInfoLookup addressInfo;

    /** The path MTU as an {@code enum ibv_mtu} code. */
    private int mtu;

    private IdentifierObject(
            ConnectionDevices devices,
            PortReservations ports,
            EventChannelObject channel,
            PortSpaceAndQueueType type,
            State state) {
        this.devices = devices;
        this.ports = ports;
        this.type = type;
        this.state = state;
        this.events = new IdentifierEvents(this, channel);
        this.addressInfo = new AsyncAddressInfoLookup(events);
    }

    IdentifierObject(
            ConnectionDevices devices,
            PortReservations ports,
            EventChannelObject channel,
            long context,
            int portSpace) {
        this(devices, ports, channel, PortSpaceAndQueueType.of(portSpace), State.IDLE);
        structure = new IdentifierStructure(this, type, channel);
        structure.context(context);
    }

    /**
     * Creates an {@code rdma_cm_id} with an event channel of its own, which is used until {@code
     * rdma_migrate_id} sets another one.
     */
    static IdentifierObject ofType(
            ConnectionDevices devices, PortReservations ports, PortSpaceAndQueueType type) {
        var channel = new EventChannelObject();
        try {
            var created = new IdentifierObject(devices, ports, channel, type, State.IDLE);
            created.ownChannel = channel;
            created.structure = new IdentifierStructure(created, type, channel);
            return created;
        } catch (Throwable e) {
            channel.destroy();
            throw e;
        }
    }

    /**
     * Creates the {@code rdma_cm_id} for a connect request that arrived at this listener. The
     * caller holds the lock of the port. {@link #createRequestStructure} creates the native
     * structure later.
     *
     * @param pathMtu the path MTU as an {@code enum ibv_mtu} code
     */
    IdentifierObject incoming(ConnectionDevice listening, PrivateDataHeader header, int pathMtu) {
        var created =
                new IdentifierObject(devices, ports, events.channel(), type, State.CONNECTING);
        created.device = listening;
        created.name = listening.name(name().port());
        created.peer = listening.peer(header.source(), header.sourcePort());
        created.mtu = pathMtu;
        return created;
    }

    void exchange(IdentifierExchange newExchange) {
        exchange = newExchange;
    }

    static IdentifierObject of(long address) {
        return StructureRegistry.object(address, IdentifierObject.class);
    }

    /**
     * The native structure, an {@code rdma_cm_id}. The structure for a connect request exists only
     * after {@link #createRequestStructure}.
     */
    MemorySegment structure() {
        if (structure == null) {
            throw new IllegalStateException("The identifier has no structure yet.");
        }
        return structure.memory();
    }

    /**
     * Creates the native structure of an incoming connect request when the program receives the
     * request, unless it exists already.
     */
    void createRequestStructure() {
        if (structure != null || device == null || name == null || peer == null) {
            return;
        }
        var retained = devices.retain(device);
        try {
            var created = new IdentifierStructure(this, type, events.channel());
            created.name(name);
            created.peer(peer);
            created.device(retained);
            created.route(retained, peer.address(), mtu, options.trafficClass);
            device = retained;
            structure = created; // Set last, because this method is repeated after a failure.
        } catch (Throwable e) {
            devices.release(retained);
            throw e;
        }
    }

    PortSpaceAndQueueType type() {
        return type;
    }

    AsyncAddressInfoLookup addressInfo() {
        return addressInfo;
    }

    IdentifierEvents events() {
        return events;
    }

    IdentifierOptions options() {
        return options;
    }

    /** The local address and port. The {@code rdma_cm_id} must be bound. */
    SocketName name() {
        return required(name);
    }

    private ConnectionDevice device() {
        return required(device);
    }

    private IdentifierExchange exchange() {
        return required(exchange);
    }

    private static <T> T required(@Nullable T value) {
        if (value == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return value;
    }

    boolean isListening() {
        return state == State.LISTENING;
    }

    private void requireState(State... states) {
        ErrnoException.throwIf(!List.of(states).contains(state), Errno.EINVAL);
    }

    // ---- functions that set options

    void typeOfService(int value) {
        options.trafficClass = value;
    }

    void reuseAddress(boolean reuses) {
        requireState(State.IDLE);
        options.reusesAddress = reuses;
    }

    void familyOnly(boolean only) {
        requireState(State.IDLE, State.BOUND);
        options.familyOnly = only;
    }

    void acknowledgeTimeout(int exponent) {
        if (!type.hasAcknowledgeTimeout()) {
            throw new ErrnoException(
                    Errno.EINVAL,
                    "An acknowledge timeout can be set only for queue pairs of a reliable transport that send.");
        }
        options.acknowledgeTimeout = exponent;
    }

    void enhancement(EceOptions added) {
        options.enhancement = added;
    }

    /** Reports an event that the program has created with {@code rdma_write_cm_event}. */
    void written(int status, long argument) {
        events.report(
                rdma_h.RDMA_CM_EVENT_USER(),
                status,
                parameters -> rdma_cm_event.param.arg(parameters, argument),
                MemorySegment.NULL);
    }

    // ---- establishing a connection

    void bind(SocketName requested) {
        requireState(State.IDLE);
        var found = requested.isWildcard() ? null : devices.at(requested.address());
        try {
            assign(ports.reserve(this, requested));
        } catch (Throwable e) {
            if (found != null) {
                devices.release(found);
            }
            throw e;
        }
        state = State.BOUND;
        if (found != null) {
            assign(found);
        }
    }

    private void assign(SocketName newName) {
        name = newName;
        if (structure != null) {
            structure.name(newName);
        }
    }

    private void assign(ConnectionDevice found) {
        device = found;
        mtu = found.mtu();
        if (structure != null) {
            structure.device(found);
        }
    }

    void resolveAddress(@Nullable SocketName from, SocketName to) {
        requireState(State.IDLE, State.BOUND);
        if (state == State.IDLE) {
            bind(from == null ? SocketName.wildcardFor(to) : from);
        }
        ErrnoException.throwIf(name().address().isIpv4() != to.address().isIpv4(), Errno.EINVAL);
        if (device == null) {
            assign(devices.routeTo(to));
            var own = name().withAddressOf(device());
            ports.release(this, name());
            assign(ports.reserve(this, own));
        }
        peer = to;
        if (structure != null) {
            structure.peer(to);
        }
        state = State.ADDRESS_RESOLVED;
        events.report(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED());
    }

    void resolveRoute() {
        requireState(State.ADDRESS_RESOLVED);
        state = State.ROUTE_RESOLVED;
        if (structure != null) {
            structure.route(device(), required(peer).address(), mtu, options.trafficClass);
        }
        events.report(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED());
    }

    void listen(int backlog) {
        if (state == State.IDLE) {
            bind(SocketName.WILDCARD);
        }
        requireState(State.BOUND);
        ports.requireExclusive(this);
        var ipv4 = name().address().isIpv4();
        var listeningDevices =
                device == null
                        ? devices.all(ipv4 || !options.familyOnly, !ipv4)
                        : List.of(devices.retain(device));
        state = State.LISTENING;
        listening = new Listener(this, type.serviceId(name().port()), backlog, listeningDevices);
    }

    void requestTaken() {
        required(listening).requestTaken();
    }

    void connect(long requested) {
        requireState(State.ROUTE_RESOLVED);
        ErrnoException.throwIf(!type.canConnect(), Errno.EINVAL);
        var parameters = ConnectionParameterCodec.at(requested);
        var to = required(peer);
        var maxBytes =
                (type.isDatagram() ? SidrRequest.PRIVATE_BYTES : ConnectRequest.PRIVATE_BYTES)
                        - PrivateDataHeader.BYTES;
        var data =
                new PrivateDataHeader(name().port(), name().address(), to.address())
                        .followedBy(ConnectionParameterCodec.privateData(parameters, maxBytes));
        exchange =
                type.isDatagram()
                        ? new SidrClientExchange(
                                device(),
                                to.address(),
                                type.serviceId(to.port()),
                                data,
                                events,
                                options)
                        : connectTo(to, parameters, data);
        state = State.CONNECTING;
    }

    private IdentifierExchange connectTo(
            SocketName to, MemorySegment parameters, MemorySegment data) {
        var requested =
                new ConnectOptions(
                        type.serviceId(to.port()),
                        type.transport(),
                        ConnectionParameterCodec.offer(parameters).with(options.enhancement),
                        ConnectionParameterCodec.retries(parameters),
                        DeviceLimits.DEFAULT_PARTITION_KEY,
                        options.trafficClass,
                        options.acknowledgeTimeout < 0
                                ? Connection.PACKET_LIFETIME + 1
                                : options.acknowledgeTimeout,
                        data);
        var connection =
                device().control(manager ->
                        manager.connect(
                                to.address(), requested, ConnectionExchange.reportingTo(events)));
        return new ConnectionExchange(device(), connection, options);
    }

    void accept(long parameters) {
        requireState(State.CONNECTING);
        exchange().accept(parameters);
    }

    void reject(int reason, long privateData, byte length) {
        requireState(State.CONNECTING);
        exchange().reject(reason, privateData, length);
    }

    EceOptions peersEnhancement() {
        return exchange == null ? EceOptions.NONE : exchange.peersEnhancement();
    }

    void disconnect() {
        exchange().disconnect();
    }

    /** Handles an event of the queue pair that the program passes by {@code rdma_notify}. */
    void notifyEvent(int event) {
        var established = exchange();
        ErrnoException.throwIf(event != rdma_h.IBV_EVENT_COMM_EST(), Errno.EINVAL);
        established.establish();
    }

    /**
     * Fills an {@code ibv_qp_attr} with the attributes for a transition of the queue pair to a
     * state ({@code rdma_init_qp_attr}). Returns the mask of the attributes.
     */
    int initialize(MemorySegment attributes, int next) {
        device();
        if (exchange != null) {
            return exchange.initialize(attributes, next);
        }
        return type.isDatagram()
                ? QueuePairTransitionAttributes.ofDatagrams(attributes, next)
                : QueuePairTransitionAttributes.beforeConnection(attributes, next);
    }

    /**
     * Joins a multicast group and reports {@code RDMA_CM_EVENT_MULTICAST_JOIN}.
     *
     * @param receives true to receive datagrams sent to the group; false only to send to the group
     * @param context the pointer that the event passes to the program
     */
    void join(RoceGid group, boolean receives, long context) {
        ErrnoException.throwIf(!type.isDatagram(), Errno.EINVAL);
        groups.join(device(), group, receives);
        events.report(
                rdma_h.RDMA_CM_EVENT_MULTICAST_JOIN(),
                0,
                parameters ->
                        ConnectionParameterCodec.writeGroup(
                                group, options.trafficClass, context, parameters),
                MemorySegment.NULL);
    }

    void leave(RoceGid group) {
        groups.leave(device(), group);
    }

    // ---- functions that migrate or destroy the rdma_cm_id

    /**
     * Moves this {@code rdma_cm_id} to another event channel, together with the events that the
     * program has not received.
     */
    void migrate(EventChannelObject other) {
        events.migrate(other);
        destroyOwnChannel();
        if (structure != null) {
            structure.channel(other);
        }
    }

    /**
     * Closes the connection or listener of this {@code rdma_cm_id} and removes the events that the
     * program has not received. A connect request among these events is rejected. The program may
     * still acknowledge events that it has received.
     *
     * @throws ErrnoException with {@code EINVAL} if this method was called before
     */
    void stop() {
        for (var event : events.stop()) {
            if (event.identifier() != this) {
                event.identifier().stop();
            }
        }
        if (listening != null) {
            listening.stop();
        }
        if (exchange != null) {
            exchange.close();
        }
        if (device != null) {
            groups.leaveAll(device);
        }
        if (name != null) {
            ports.release(this, name);
        }
    }

    /**
     * Releases the devices and the native structure. {@link #stop} must have been called before.
     */
    void destroy() {
        if (device != null) {
            devices.release(device);
        }
        if (listening != null) {
            listening.devices().forEach(devices::release);
        }
        if (structure != null) {
            structure.release();
        }
        addressInfo.free();
        destroyOwnChannel();
    }

    private void destroyOwnChannel() {
        if (ownChannel != null) {
            ownChannel.destroy();
            ownChannel = null;
        }
    }
}
