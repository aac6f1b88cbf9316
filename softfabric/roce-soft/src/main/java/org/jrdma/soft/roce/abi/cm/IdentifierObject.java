package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jrdma.abi.rdma.rdma_cm_event;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.DeviceLimits;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.abi.Structures;
import org.jrdma.soft.roce.connection.ConnectOptions;
import org.jrdma.soft.roce.connection.ConnectRequest;
import org.jrdma.soft.roce.connection.Connection;
import org.jrdma.soft.roce.connection.EceOptions;
import org.jrdma.soft.roce.connection.PrivateDataHeader;
import org.jrdma.soft.roce.connection.SidrRequest;
import org.jrdma.soft.roce.engine.Address;
import org.jspecify.annotations.Nullable;

/**
 * The object behind an {@code rdma_cm_id}: a connection, a listener, or what may become either.
 *
 * <p>Methods that C calls hold the connection manager's lock, within which the lock of a port may
 * be taken. The thread that drives a port creates the identifiers of incoming requests, and takes
 * no lock but that of the events.
 */
final class IdentifierObject {

    private enum State {
        IDLE,
        BOUND,
        ADDRESS_RESOLVED,
        ROUTE_RESOLVED,
        LISTENING,
        /** An exchange with a peer has begun, by either side. */
        CONNECTING
    }

    private final ConnectionDevices devices;
    private final PortNumbers ports;
    private final IdentifierType type;
    private final IdentifierEvents events;
    private final IdentifierOptions options = new IdentifierOptions();
    private final MulticastMemberships groups = new MulticastMemberships();
    private @Nullable EventChannelObject ownChannel;
    private @Nullable IdentifierStructure structure;
    private State state;
    private @Nullable SocketName name;
    private @Nullable SocketName peer;
    private @Nullable ConnectionDevice device;
    private @Nullable Listener listening;
    private @Nullable PeerExchange exchange;
    private final AddressInfoResult addressInfo;

    /** The path MTU, as C numbers it. */
    private int mtu;

    private IdentifierObject(
            ConnectionDevices devices,
            PortNumbers ports,
            EventChannelObject channel,
            IdentifierType type,
            State state) {
        this.devices = devices;
        this.ports = ports;
        this.type = type;
        this.state = state;
        this.events = new IdentifierEvents(this, channel);
        this.addressInfo = new AddressInfoResult(events);
    }

    /** Creates an identifier for C, of the default type of its port space. */
    IdentifierObject(
            ConnectionDevices devices,
            PortNumbers ports,
            EventChannelObject channel,
            long context,
            int portSpace) {
        this(devices, ports, channel, IdentifierType.of(portSpace), State.IDLE);
        show().context(context);
    }

    /** Creates an identifier for C, with a channel of its own until it migrates. */
    static IdentifierObject ofType(
            ConnectionDevices devices, PortNumbers ports, IdentifierType type) {
        var channel = new EventChannelObject();
        var made = new IdentifierObject(devices, ports, channel, type, State.IDLE);
        made.ownChannel = channel;
        made.show();
        return made;
    }

    /** Creates the identifier of an incoming request. Called by the thread that drives the port. */
    IdentifierObject incoming(ConnectionDevice on, PrivateDataHeader header, int pathMtu) {
        var made = new IdentifierObject(devices, ports, events.channel(), type, State.CONNECTING);
        made.device = on;
        made.name = on.name(name().port());
        made.peer = on.peer(header.source(), header.sourcePort());
        made.mtu = pathMtu;
        return made;
    }

    void exchange(PeerExchange begun) {
        exchange = begun;
    }

    static IdentifierObject of(long address) {
        return Structures.object(address, IdentifierObject.class);
    }

    /** The structure that C sees. Only for identifiers that were shown to C. */
    MemorySegment structure() {
        if (structure == null) {
            throw new IllegalStateException("The identifier has no structure yet");
        }
        return structure.memory();
    }

    /** Creates the structure that C sees. */
    private IdentifierStructure show() {
        var made = new IdentifierStructure(this, type);
        made.channel(events.channel());
        structure = made;
        return made;
    }

    /** Creates the structure of the identifier of an incoming request. */
    void showRequested() {
        if (structure != null || device == null || name == null || peer == null) {
            return;
        }
        device = devices.again(device);
        var made = show();
        made.name(name);
        made.peer(peer);
        made.device(device);
        made.route(device, peer.address(), mtu, options.trafficClass);
    }

    IdentifierType type() {
        return type;
    }

    AddressInfoResult addressInfo() {
        return addressInfo;
    }

    IdentifierEvents events() {
        return events;
    }

    IdentifierOptions options() {
        return options;
    }

    /** The local address. Only for bound identifiers. */
    SocketName name() {
        return present(name);
    }

    private ConnectionDevice device() {
        return present(device);
    }

    private PeerExchange exchange() {
        return present(exchange);
    }

    private static <T> T present(@Nullable T value) {
        if (value == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return value;
    }

    boolean isListening() {
        return state == State.LISTENING;
    }

    private void need(State... states) {
        ErrnoException.throwIf(!List.of(states).contains(state), Errno.EINVAL);
    }

    // ---- options

    void typeOfService(int value) {
        options.trafficClass = value;
    }

    void reuseAddress(boolean wanted) {
        need(State.IDLE);
        options.reusesAddress = wanted;
    }

    void familyOnly(boolean wanted) {
        need(State.IDLE, State.BOUND);
        options.familyOnly = wanted;
    }

    void acknowledgeTimeout(int exponent) {
        if (!type.hasAcknowledgeTimeout()) {
            throw new ErrnoException(
                    Errno.EINVAL,
                    "An acknowledge timeout can be set only for a queue pair that sends reliably.");
        }
        options.acknowledgeTimeout = exponent;
    }

    void enhancement(EceOptions added) {
        options.enhancement = added;
    }

    /** Reports an event that the program has written. */
    void written(int status, long argument) {
        events.report(
                rdma_h.RDMA_CM_EVENT_USER(),
                status,
                parameters -> rdma_cm_event.param.arg(parameters, argument),
                MemorySegment.NULL);
    }

    // ---- the steps to a connection

    void bind(SocketName wanted) {
        need(State.IDLE);
        var found = wanted.isAnywhere() ? null : devices.at(wanted.address());
        try {
            take(ports.take(this, wanted));
        } catch (ErrnoException e) {
            if (found != null) {
                devices.release(found);
            }
            throw e;
        }
        state = State.BOUND;
        if (found != null) {
            take(found);
        }
    }

    private void take(SocketName given) {
        name = given;
        if (structure != null) {
            structure.name(given);
        }
    }

    private void take(ConnectionDevice found) {
        device = found;
        mtu = found.mtu();
        if (structure != null) {
            structure.device(found);
        }
    }

    void resolveAddress(@Nullable SocketName from, SocketName to) {
        need(State.IDLE, State.BOUND);
        if (state == State.IDLE) {
            bind(from == null ? SocketName.anyAs(to) : from);
        }
        ErrnoException.throwIf(name().address().isIpv4() != to.address().isIpv4(), Errno.EINVAL);
        if (device == null) {
            take(devices.leadingTo(to));
            var own = name().withAddressOf(device());
            ports.giveBack(this, name());
            take(ports.take(this, own));
        }
        peer = to;
        if (structure != null) {
            structure.peer(to);
        }
        state = State.ADDRESS_RESOLVED;
        events.report(rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED());
    }

    void resolveRoute() {
        need(State.ADDRESS_RESOLVED);
        state = State.ROUTE_RESOLVED;
        if (structure != null) {
            structure.route(device(), present(peer).address(), mtu, options.trafficClass);
        }
        events.report(rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED());
    }

    void listen(int backlog) {
        if (state == State.IDLE) {
            bind(SocketName.ANYWHERE);
        }
        need(State.BOUND);
        ports.refuseUnlessAlone(this);
        var ipv4 = name().address().isIpv4();
        var on =
                device == null
                        ? devices.all(ipv4 || !options.familyOnly, !ipv4)
                        : List.of(devices.again(device));
        state = State.LISTENING;
        listening = new Listener(this, type.serviceId(name().port()), backlog, on);
    }

    /** The program has taken a request. */
    void requestTaken() {
        present(listening).requestTaken();
    }

    void connect(long wanted) {
        need(State.ROUTE_RESOLVED);
        ErrnoException.throwIf(!type.canConnect(), Errno.EINVAL);
        var parameters = ConnectionParameterCodec.at(wanted);
        var to = present(peer);
        var room =
                (type.isDatagram() ? SidrRequest.PRIVATE_BYTES : ConnectRequest.PRIVATE_BYTES)
                        - PrivateDataHeader.BYTES;
        var data =
                new PrivateDataHeader(name().port(), name().address(), to.address())
                        .followedBy(ConnectionParameterCodec.privateData(parameters, room));
        exchange =
                type.isDatagram()
                        ? new SidrClientExchange(
                                device(),
                                to.address(),
                                type.serviceId(to.port()),
                                data,
                                events,
                                options)
                        : ask(to, parameters, data);
        state = State.CONNECTING;
    }

    private PeerExchange ask(SocketName to, MemorySegment parameters, MemorySegment data) {
        var wanted =
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
        var begun =
                device().control(manager ->
                        manager.connect(to.address(), wanted, ConnectionExchange.telling(events)));
        return new ConnectionExchange(device(), begun, options);
    }

    void accept(long parameters) {
        need(State.CONNECTING);
        exchange().accept(parameters);
    }

    void reject(int reason, long privateData, byte length) {
        need(State.CONNECTING);
        exchange().reject(reason, privateData, length);
    }

    /** The ECE options of the peer, if they are known. */
    EceOptions peersEnhancement() {
        return exchange == null ? EceOptions.NONE : exchange.peersEnhancement();
    }

    void disconnect() {
        exchange().disconnect();
    }

    /** Handles an event of the queue pair that the program has received. */
    void notifyEvent(int event) {
        var established = exchange();
        ErrnoException.throwIf(event != rdma_h.IBV_EVENT_COMM_EST(), Errno.EINVAL);
        established.establish();
    }

    /** Fills in the attributes that move the queue pair to a state. Returns the mask. */
    int initialize(MemorySegment attributes, int next) {
        device();
        if (exchange != null) {
            return exchange.initialize(attributes, next);
        }
        return type.isDatagram()
                ? QueuePairInitialization.ofDatagrams(attributes, next)
                : QueuePairInitialization.beforeConnection(attributes, next);
    }

    // ---- groups

    /** Joins a multicast group. The event returns the context. */
    void join(Address group, boolean receives, long context) {
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

    void leave(Address group) {
        groups.leave(device(), group);
    }

    // ---- the end

    /** Moves the events, including those not taken, to another channel. */
    void migrate(EventChannelObject other) {
        events.migrate(other);
        endOwnChannel();
        if (structure != null) {
            structure.channel(other);
        }
    }

    /**
     * Ends all activity and drops the events that were not taken; requests among them are rejected.
     * Events that were taken may still be acknowledged.
     *
     * @throws ErrnoException if this was stopped before
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
            ports.giveBack(this, name);
        }
    }

    /** Releases the devices and the structure, after {@link #stop}. */
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
        endOwnChannel();
    }

    private void endOwnChannel() {
        if (ownChannel != null) {
            ownChannel.destroy();
            ownChannel = null;
        }
    }
}
