package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Set;
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
 * Behind an {@code rdma_cm_id}: a connection, or what may become one, or listens for them.
 *
 * <p>Steps are taken under the connection manager's lock, within which a port's may be taken.
 * Whoever drives a port makes those that peers ask for, and takes no lock but that of the events.
 */
final class IdentifierObject {

    private enum State {
        IDLE,
        BOUND,
        ADDRESS_RESOLVED,
        ROUTE_RESOLVED,
        LISTENING,
        /** Something is under way with a peer, was, or a peer has asked. */
        CONNECTING
    }

    /** What the port space of InfiniBand has. */
    private static final Set<Integer> TYPES =
            Set.of(
                    rdma_h.IBV_QPT_RC(),
                    rdma_h.IBV_QPT_UC(),
                    rdma_h.IBV_QPT_UD(),
                    rdma_h.IBV_QPT_XRC_SEND(),
                    rdma_h.IBV_QPT_XRC_RECV());

    private final ConnectionDevices devices;
    private final PortNumbers ports;
    private final int portSpace;
    private final int queuePairType;
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
    private @Nullable PeerExchange dialogue;
    private boolean lookingUp;
    private @Nullable MemorySegment addressInfo;

    /** Of the path, in C's code. */
    private int mtu;

    private IdentifierObject(
            ConnectionDevices devices,
            PortNumbers ports,
            EventChannelObject channel,
            int portSpace,
            int queuePairType,
            State state) {
        this.devices = devices;
        this.ports = ports;
        this.portSpace = portSpace;
        this.queuePairType = queuePairType;
        this.state = state;
        this.events = new IdentifierEvents(this, channel);
    }

    /** One that C asks for, of the type of queue pair that its port space has. */
    IdentifierObject(
            ConnectionDevices devices,
            PortNumbers ports,
            EventChannelObject channel,
            long context,
            int portSpace) {
        this(devices, ports, channel, portSpace, typeIn(portSpace), State.IDLE);
        show().context(context);
    }

    /**
     * One that C asks for, of a type of queue pair, with a channel of its own until it migrates.
     *
     * @throws ErrnoException if the port space has none of that type
     */
    static IdentifierObject ofType(
            ConnectionDevices devices, PortNumbers ports, int portSpace, int type) {
        if (type != typeIn(portSpace)
                && (portSpace != rdma_h.RDMA_PS_IB() || !TYPES.contains(type))) {
            throw new ErrnoException(Errno.EINVAL);
        }
        var channel = new EventChannelObject();
        var made = new IdentifierObject(devices, ports, channel, portSpace, type, State.IDLE);
        made.ownChannel = channel;
        made.show();
        return made;
    }

    private static int typeIn(int portSpace) {
        if (portSpace == rdma_h.RDMA_PS_TCP() || portSpace == rdma_h.RDMA_PS_IB()) {
            return rdma_h.IBV_QPT_RC();
        }
        if (portSpace == rdma_h.RDMA_PS_UDP() || portSpace == rdma_h.RDMA_PS_IPOIB()) {
            return rdma_h.IBV_QPT_UD();
        }
        throw new ErrnoException(Errno.EPROTONOSUPPORT);
    }

    /** One that a peer asks for, of this one that listens. On the thread that drives the port. */
    IdentifierObject asked(ConnectionDevice on, PrivateDataHeader header, int pathMtu) {
        var made =
                new IdentifierObject(
                        devices,
                        ports,
                        events.channel(),
                        portSpace,
                        queuePairType,
                        State.CONNECTING);
        made.device = on;
        made.name = on.name(name().port());
        made.peer = on.peer(header.source(), header.sourcePort());
        made.mtu = pathMtu;
        return made;
    }

    void dialogue(PeerExchange begun) {
        dialogue = begun;
    }

    static IdentifierObject of(long address) {
        return Structures.object(address, IdentifierObject.class);
    }

    /** What C sees. Only for those that were shown. */
    MemorySegment structure() {
        if (structure == null) {
            throw new IllegalStateException("C has not seen it");
        }
        return structure.memory();
    }

    /** Lets C see it. */
    private IdentifierStructure show() {
        var made = new IdentifierStructure(this, portSpace, queuePairType);
        made.channel(events.channel());
        structure = made;
        return made;
    }

    /** Lets C see one that a peer's request has made, with all that is known. */
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

    boolean isOfDatagrams() {
        return queuePairType == rdma_h.IBV_QPT_UD();
    }

    /** The kind of its connections, as in a request. */
    int transport() {
        if (queuePairType == rdma_h.IBV_QPT_UC()) {
            return ConnectRequest.UNRELIABLE;
        }
        return queuePairType == rdma_h.IBV_QPT_XRC_SEND()
                        || queuePairType == rdma_h.IBV_QPT_XRC_RECV()
                ? ConnectRequest.EXTENDED
                : ConnectRequest.RELIABLE;
    }

    /** Whether peers can connect to it: of XRC, to what receives. */
    boolean canBeAsked() {
        return queuePairType != rdma_h.IBV_QPT_XRC_SEND();
    }

    int portSpace() {
        return portSpace;
    }

    IdentifierEvents events() {
        return events;
    }

    IdentifierOptions options() {
        return options;
    }

    /** Its own address; only for those that have one. */
    SocketName name() {
        return there(name);
    }

    private ConnectionDevice device() {
        return there(device);
    }

    private PeerExchange dialogue() {
        return there(dialogue);
    }

    private static <T> T there(@Nullable T thing) {
        if (thing == null) {
            throw new ErrnoException(Errno.EINVAL);
        }
        return thing;
    }

    boolean isListening() {
        return state == State.LISTENING;
    }

    private void need(State... states) {
        if (!List.of(states).contains(state)) {
            throw new ErrnoException(Errno.EINVAL);
        }
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
        if (queuePairType != rdma_h.IBV_QPT_RC() && queuePairType != rdma_h.IBV_QPT_XRC_SEND()) {
            throw new ErrnoException(
                    Errno.EINVAL, "It does not wait for acknowledgements: that is for who sends.");
        }
        options.acknowledgeTimeout = exponent;
    }

    void enhancement(EceOptions added) {
        options.enhancement = added;
    }

    // ---- addresses by name

    /**
     * Somebody begins to look an address up.
     *
     * @throws ErrnoException if what was looked up before is not taken yet
     */
    void lookingUp() {
        if (lookingUp) {
            throw new ErrnoException(Errno.EBUSY);
        }
        lookingUp = true;
    }

    /** It is not known. */
    void notFound() {
        lookingUp = false;
        events.report(rdma_h.RDMA_CM_EVENT_ADDRINFO_ERROR(), -Errno.ENOENT);
    }

    /** It is here, and belongs to this until it is taken, unless this was stopped meanwhile. */
    void found(MemorySegment info) {
        if (events.isStopped()) {
            AddressExports.free(info.address());
            return;
        }
        addressInfo = info;
        events.report(rdma_h.RDMA_CM_EVENT_ADDRINFO_RESOLVED());
    }

    /** Takes what was looked up. */
    MemorySegment takeAddressInfo() {
        if (addressInfo == null) {
            throw new ErrnoException(Errno.ENOENT);
        }
        var taken = addressInfo;
        addressInfo = null;
        lookingUp = false;
        return taken;
    }

    /** Tells what the program itself has to say. */
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
        if (name().address().isIpv4() != to.address().isIpv4()) {
            throw new ErrnoException(Errno.EINVAL);
        }
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
            structure.route(device(), there(peer).address(), mtu, options.trafficClass);
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
        listening = new Listener(this, serviceId(name().port()), backlog, on);
    }

    private long serviceId(int port) {
        return (long) portSpace << 16 | port;
    }

    /** The program has taken a request. */
    void requestTaken() {
        there(listening).requestTaken();
    }

    void connect(long wanted) {
        need(State.ROUTE_RESOLVED);
        if (queuePairType == rdma_h.IBV_QPT_XRC_RECV()) {
            throw new ErrnoException(Errno.EINVAL); // which has nothing to send
        }
        var parameters = ConnectionParameterCodec.at(wanted);
        var to = there(peer);
        var room =
                (isOfDatagrams() ? SidrRequest.PRIVATE_BYTES : ConnectRequest.PRIVATE_BYTES)
                        - PrivateDataHeader.BYTES;
        var data =
                new PrivateDataHeader(name().port(), name().address(), to.address())
                        .followedBy(ConnectionParameterCodec.privateData(parameters, room));
        dialogue =
                isOfDatagrams()
                        ? new SidrClientExchange(
                                device(), to.address(), serviceId(to.port()), data, events, options)
                        : ask(to, parameters, data);
        state = State.CONNECTING;
    }

    private PeerExchange ask(SocketName to, MemorySegment parameters, MemorySegment data) {
        var wanted =
                new ConnectOptions(
                        serviceId(to.port()),
                        transport(),
                        ConnectionParameterCodec.offer(parameters).with(options.enhancement),
                        ConnectionParameterCodec.retries(parameters),
                        DeviceLimits.DEFAULT_PARTITION_KEY,
                        options.trafficClass,
                        options.acknowledgeTimeout < 0
                                ? Connection.PACKET_LIFETIME + 1
                                : options.acknowledgeTimeout,
                        data);
        var begun =
                device().control(engine ->
                        engine.connect(to.address(), wanted, ConnectionExchange.telling(events)));
        return new ConnectionExchange(device(), begun, options);
    }

    void accept(long parameters) {
        need(State.CONNECTING);
        dialogue().accept(parameters);
    }

    void reject(int reason, long privateData, byte length) {
        need(State.CONNECTING);
        dialogue().reject(reason, privateData, length);
    }

    /** What the peer's driver would add; nothing as long as it has not said so. */
    EceOptions peersEnhancement() {
        return dialogue == null ? EceOptions.NONE : dialogue.peersEnhancement();
    }

    void disconnect() {
        dialogue().disconnect();
    }

    /** Tells of an event of the queue pair. */
    void heardOf(int event) {
        var established = dialogue();
        if (event != rdma_h.IBV_EVENT_COMM_EST()) {
            throw new ErrnoException(Errno.EINVAL);
        }
        established.establish();
    }

    /** Fills in how a queue pair gets to a state. Returns the mask. */
    int initialize(MemorySegment attributes, int next) {
        device();
        if (dialogue != null) {
            return dialogue.initialize(attributes, next);
        }
        return isOfDatagrams()
                ? QueuePairInitialization.ofDatagrams(attributes, next)
                : QueuePairInitialization.beforeConversation(attributes, next);
    }

    // ---- groups

    /** Joins a multicast group. What C gives as the context comes back with the event. */
    void join(Address group, boolean receives, long context) {
        if (!isOfDatagrams()) {
            throw new ErrnoException(Errno.EINVAL);
        }
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

    /** Has its events come to another channel, with those that nobody has taken. */
    void migrate(EventChannelObject other) {
        events.migrate(other);
        endOwnChannel();
        if (structure != null) {
            structure.channel(other);
        }
    }

    /**
     * Ends what it does, and drops its events that nobody has taken; the requests among them are
     * refused. Those given out may still be acknowledged.
     *
     * @throws ErrnoException if that was done before
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
        if (dialogue != null) {
            dialogue.close();
        }
        if (device != null) {
            groups.leaveAll(device);
        }
        if (name != null) {
            ports.giveBack(this, name);
        }
    }

    /** Takes back what C sees, after {@link #stop}. */
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
        if (addressInfo != null) {
            AddressExports.free(addressInfo.address());
        }
        endOwnChannel();
    }

    private void endOwnChannel() {
        if (ownChannel != null) {
            ownChannel.destroy();
            ownChannel = null;
        }
    }
}
