package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrdma.abi.rdma.ibv_qp_attr;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.connection.ConnectOptions;
import org.jrdma.soft.roce.connection.ConnectReply;
import org.jrdma.soft.roce.connection.ConnectRequest;
import org.jrdma.soft.roce.connection.Conversation;
import org.jrdma.soft.roce.connection.ConversationEvent;
import org.jrdma.soft.roce.connection.Inquiry;
import org.jrdma.soft.roce.connection.PeerHeader;
import org.jrdma.soft.roce.connection.Question;
import org.jrdma.soft.roce.connection.Rejection;
import org.jrdma.soft.roce.connection.Service;
import org.jrdma.soft.roce.connection.ServiceReply;
import org.jrdma.soft.roce.connection.ServiceRequest;
import org.jspecify.annotations.Nullable;

/**
 * Behind an {@code rdma_cm_id}: a connection, or what may become one, or listens for them.
 *
 * <p>Steps are taken under the connection manager's lock, within which a port's may be taken.
 * Whoever drives a port tells events here, and takes no lock but that of the events.
 */
final class IdentifierObject {

    /** The key of the datagrams of the UDP port space. */
    private static final int QUEUE_KEY = 0x0123_4567;

    private static final int MOST_BACKLOG = 1_024;
    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);

    private enum State {
        IDLE,
        BOUND,
        ADDRESS_RESOLVED,
        ROUTE_RESOLVED,
        LISTENING,
        /** Something is under way with a peer, was, or a peer has asked. */
        CONNECTING
    }

    private final ConnectionDevices devices;
    private final PortNumbers ports;
    private final int portSpace;
    private final EventCount events = new EventCount();

    /** Guards the two that follow. Nothing else is locked within but a channel. */
    private final Object reporting = new Object();

    private EventChannelObject channel;
    private boolean destroyed;

    /** Requests that may still come before the program takes one. */
    private final AtomicInteger backlog = new AtomicInteger();

    private @Nullable IdentifierStructure structure;
    private State state;
    private @Nullable SocketName name;
    private @Nullable SocketName peer;
    private @Nullable ConnectionDevice device;
    private List<ConnectionDevice> listensOn = List.of();
    private @Nullable Conversation conversation;
    private @Nullable Question question;
    private @Nullable Inquiry inquiry;
    private int trafficClass;
    private int acknowledgeTimeout = -1;
    private boolean reusesAddress;
    private boolean familyOnly;

    private IdentifierObject(
            ConnectionDevices devices,
            PortNumbers ports,
            EventChannelObject channel,
            int portSpace,
            State state) {
        this.devices = devices;
        this.ports = ports;
        this.channel = channel;
        this.portSpace = portSpace;
        this.state = state;
    }

    /** One that C asks for. */
    IdentifierObject(
            ConnectionDevices devices,
            PortNumbers ports,
            EventChannelObject channel,
            long context,
            int portSpace) {
        if (portSpace != rdma_h.RDMA_PS_TCP()
                && portSpace != rdma_h.RDMA_PS_UDP()
                && portSpace != rdma_h.RDMA_PS_IB()) {
            throw new Refusal(Errno.EPROTONOSUPPORT);
        }
        this(devices, ports, channel, portSpace, State.IDLE);
        show().context(context);
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
        var made = new IdentifierStructure(this, portSpace, queuePairType());
        made.channel(channel());
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
        var mtu =
                conversation == null
                        ? PathMtu.code(device.context().port().pathMtu())
                        : conversation.request().path().mtu();
        made.route(device, peer.address(), mtu, trafficClass);
    }

    private boolean isOfDatagrams() {
        return portSpace == rdma_h.RDMA_PS_UDP();
    }

    private int queuePairType() {
        return isOfDatagrams() ? rdma_h.IBV_QPT_UD() : rdma_h.IBV_QPT_RC();
    }

    int portSpace() {
        return portSpace;
    }

    EventCount events() {
        return events;
    }

    /** Its own address; only for those that have one. */
    SocketName name() {
        if (name == null) {
            throw new Refusal(Errno.EINVAL);
        }
        return name;
    }

    boolean reusesAddress() {
        return reusesAddress;
    }

    boolean isListening() {
        return state == State.LISTENING;
    }

    private EventChannelObject channel() {
        synchronized (reporting) {
            return channel;
        }
    }

    private void need(State... states) {
        if (!List.of(states).contains(state)) {
            throw new Refusal(Errno.EINVAL);
        }
    }

    private ConnectionDevice device() {
        if (device == null) {
            throw new Refusal(Errno.EINVAL);
        }
        return device;
    }

    // ---- options

    void typeOfService(int value) {
        trafficClass = value;
    }

    void reuseAddress(boolean wanted) {
        need(State.IDLE);
        reusesAddress = wanted;
    }

    void familyOnly(boolean wanted) {
        need(State.IDLE, State.BOUND);
        familyOnly = wanted;
    }

    void acknowledgeTimeout(int exponent) {
        if (isOfDatagrams()) {
            throw new Refusal(Errno.EINVAL);
        }
        acknowledgeTimeout = exponent;
    }

    // ---- the steps to a connection

    void bind(SocketName wanted) {
        need(State.IDLE);
        var found = wanted.isAnywhere() ? null : devices.at(wanted.address());
        try {
            name = ports.take(this, wanted);
        } catch (Refusal e) {
            if (found != null) {
                devices.release(found);
            }
            throw e;
        }
        state = State.BOUND;
        publishName();
        if (found != null) {
            take(found);
        }
    }

    private void take(ConnectionDevice found) {
        device = found;
        if (structure != null) {
            structure.device(found);
        }
    }

    private void publishName() {
        if (structure != null && name != null) {
            structure.name(name);
        }
    }

    void resolveAddress(@Nullable SocketName from, SocketName to) {
        need(State.IDLE, State.BOUND);
        if (state == State.IDLE) {
            bind(from == null ? SocketName.anyAs(to) : from);
        }
        if (name().address().isIpv4() != to.address().isIpv4()) {
            throw new Refusal(Errno.EINVAL);
        }
        if (device == null) {
            take(devices.leadingTo(to.address()));
            var own = name().withAddress(device().address());
            ports.giveBack(this, name());
            name = ports.take(this, own);
            publishName();
        }
        peer = to;
        if (structure != null) {
            structure.peer(to);
        }
        state = State.ADDRESS_RESOLVED;
        report(
                rdma_h.RDMA_CM_EVENT_ADDR_RESOLVED(),
                0,
                IdentifierObject::withoutParameters,
                NOTHING);
    }

    void resolveRoute() {
        need(State.ADDRESS_RESOLVED);
        state = State.ROUTE_RESOLVED;
        if (structure != null && peer != null) {
            structure.route(
                    device(),
                    peer.address(),
                    PathMtu.code(device().context().port().pathMtu()),
                    trafficClass);
        }
        report(
                rdma_h.RDMA_CM_EVENT_ROUTE_RESOLVED(),
                0,
                IdentifierObject::withoutParameters,
                NOTHING);
    }

    void listen(int wanted) {
        if (state == State.IDLE) {
            bind(SocketName.ANYWHERE);
        }
        need(State.BOUND);
        ports.refuseUnlessAlone(this);
        backlog.set(wanted > 0 && wanted < MOST_BACKLOG ? wanted : MOST_BACKLOG);
        if (device != null) {
            listensOn = List.of(devices.again(device));
        } else {
            var ipv4 = name().address().isIpv4();
            listensOn = devices.all(ipv4 || !familyOnly, !ipv4);
        }
        state = State.LISTENING;
        for (var each : listensOn) {
            each.control(engine -> {
                engine.listen(serviceId(name().port()), new Listening(each));
                return true;
            });
        }
    }

    private long serviceId(int port) {
        return (long) portSpace << 16 | port;
    }

    /** Its ear at one device. */
    private final class Listening implements Service {

        private final ConnectionDevice on;

        Listening(ConnectionDevice on) {
            this.on = on;
        }

        @Override
        public ConversationEvent.@Nullable Receiver requested(
                Conversation requested, PeerHeader header, MemorySegment data) {
            if (isOfDatagrams()) {
                return null;
            }
            var made = make(header);
            made.conversation = requested;
            var request = requested.request();
            return report(
                            made,
                            parameters -> ConnectionParameterCodec.write(request, parameters),
                            data)
                    ? made::happened
                    : null;
        }

        @Override
        public boolean asked(Inquiry asked, PeerHeader header, MemorySegment data) {
            if (!isOfDatagrams()) {
                return false;
            }
            var made = make(header);
            made.inquiry = asked;
            return report(made, IdentifierObject::withoutParameters, data);
        }

        private IdentifierObject make(PeerHeader header) {
            var made = new IdentifierObject(devices, ports, channel(), portSpace, State.CONNECTING);
            made.device = on;
            made.name = new SocketName(on.address(), name().port());
            made.peer = new SocketName(header.source(), header.sourcePort());
            return made;
        }

        private boolean report(
                IdentifierObject made, Consumer<MemorySegment> parameters, MemorySegment data) {
            synchronized (reporting) {
                if (destroyed || backlog.get() == 0) {
                    return false;
                }
                made.channel = channel; // it may be another by now
                backlog.decrementAndGet();
                channel.report(
                        new PendingEvent(
                                made,
                                IdentifierObject.this,
                                rdma_h.RDMA_CM_EVENT_CONNECT_REQUEST(),
                                0,
                                parameters,
                                data));
                return true;
            }
        }
    }

    /** The program has taken a request. */
    void requestTaken() {
        backlog.incrementAndGet();
    }

    void connect(long wanted) {
        need(State.ROUTE_RESOLVED);
        var parameters = ConnectionParameterCodec.at(wanted);
        var to = peer;
        if (to == null) {
            throw new Refusal(Errno.EINVAL);
        }
        var header = new PeerHeader(name().port(), name().address(), to.address());
        var room =
                (isOfDatagrams() ? ServiceRequest.PRIVATE_BYTES : ConnectRequest.PRIVATE_BYTES)
                        - PeerHeader.BYTES;
        var data = header.followedBy(ConnectionParameterCodec.privateData(parameters, room));
        if (isOfDatagrams()) {
            question =
                    device().control(engine ->
                            engine.ask(
                                    to.address(),
                                    serviceId(to.port()),
                                    DeviceFacts.DEFAULT_PARTITION_KEY,
                                    data,
                                    new Answers(to)));
        } else {
            var options =
                    new ConnectOptions(
                            serviceId(to.port()),
                            ConnectionParameterCodec.offer(parameters),
                            ConnectionParameterCodec.retries(parameters),
                            DeviceFacts.DEFAULT_PARTITION_KEY,
                            trafficClass,
                            acknowledgeTimeout < 0
                                    ? Conversation.PACKET_LIFETIME + 1
                                    : acknowledgeTimeout,
                            data);
            conversation =
                    device().control(engine ->
                            engine.connect(to.address(), options, this::happened));
        }
        state = State.CONNECTING;
    }

    void accept(long parameters) {
        need(State.CONNECTING);
        if (inquiry != null) {
            var answered = inquiry;
            var wanted = ConnectionParameterCodec.at(parameters);
            var data = ConnectionParameterCodec.privateData(wanted, ServiceReply.PRIVATE_BYTES);
            var queuePair = ConnectionParameterCodec.offer(wanted).queuePair();
            refuseUnless(device().control(_ -> answered.accept(queuePair, QUEUE_KEY, data)));
            return;
        }
        var accepted = conversation();
        if (parameters == 0) {
            refuseUnless(device().control(_ -> accepted.confirm()));
            return;
        }
        var wanted = ConnectionParameterCodec.at(parameters);
        var data = ConnectionParameterCodec.privateData(wanted, ConnectReply.PRIVATE_BYTES);
        var offer = ConnectionParameterCodec.offer(wanted);
        refuseUnless(device().control(_ -> accepted.reply(offer, data)));
    }

    private Conversation conversation() {
        if (conversation == null) {
            throw new Refusal(Errno.EINVAL);
        }
        return conversation;
    }

    private static void refuseUnless(boolean done) {
        if (!done) {
            throw new Refusal(Errno.EINVAL);
        }
    }

    void reject(long privateData, byte length) {
        need(State.CONNECTING);
        if (inquiry != null) {
            var answered = inquiry;
            var data =
                    ConnectionParameterCodec.privateData(
                            privateData, length, ServiceReply.PRIVATE_BYTES);
            refuseUnless(device().control(_ -> answered.reject(data)));
            return;
        }
        var rejected = conversation();
        var data =
                ConnectionParameterCodec.privateData(privateData, length, Rejection.PRIVATE_BYTES);
        refuseUnless(device().control(_ -> rejected.reject(data)));
    }

    /** Without an error where there is nothing to end any more, as the kernel does. */
    void disconnect() {
        var ended = conversation();
        device().control(_ -> ended.disconnect());
    }

    /** Tells of an event of the queue pair. */
    void heardOf(int event) {
        var established = conversation();
        if (event != rdma_h.IBV_EVENT_COMM_EST()) {
            throw new Refusal(Errno.EINVAL);
        }
        refuseUnless(device().control(_ -> established.establish()));
    }

    /** Fills in how a queue pair gets to the state that the attributes name. Returns the mask. */
    int initialize(MemorySegment attributes) {
        var next = ibv_qp_attr.qp_state(attributes);
        var talk = conversation;
        if (talk == null || isOfDatagrams()) {
            device();
            if (next != rdma_h.IBV_QPS_INIT()) {
                throw new Refusal(Errno.EINVAL);
            }
            return QueuePairSteps.beforeConversation(attributes, isOfDatagrams(), QUEUE_KEY);
        }
        return device().control(_ ->
                QueuePairSteps.of(talk, trafficClass, acknowledgeTimeout, attributes, next));
    }

    // ---- events

    private void report(
            int type, int status, Consumer<MemorySegment> parameters, MemorySegment privateData) {
        synchronized (reporting) {
            if (!destroyed) {
                channel.report(new PendingEvent(this, null, type, status, parameters, privateData));
            }
        }
    }

    /** On the thread that drives the port. */
    private void happened(ConversationEvent event) {
        switch (event) {
            case ConversationEvent.Replied(var reply) ->
                    report(
                            rdma_h.RDMA_CM_EVENT_CONNECT_RESPONSE(),
                            0,
                            parameters -> ConnectionParameterCodec.write(reply.offer(), parameters),
                            reply.privateData());
            case ConversationEvent.Established() ->
                    report(
                            rdma_h.RDMA_CM_EVENT_ESTABLISHED(),
                            0,
                            IdentifierObject::withoutParameters,
                            NOTHING);
            case ConversationEvent.Rejected(var reason, var data) ->
                    report(
                            rdma_h.RDMA_CM_EVENT_REJECTED(),
                            reason,
                            IdentifierObject::withoutParameters,
                            data);
            case ConversationEvent.Unreachable() -> reportUnreachable();
            case ConversationEvent.Disconnected() ->
                    report(
                            rdma_h.RDMA_CM_EVENT_DISCONNECTED(),
                            0,
                            IdentifierObject::withoutParameters,
                            NOTHING);
            case ConversationEvent.TimeWaitExited() ->
                    report(
                            rdma_h.RDMA_CM_EVENT_TIMEWAIT_EXIT(),
                            0,
                            IdentifierObject::withoutParameters,
                            NOTHING);
        }
    }

    private static void withoutParameters(MemorySegment parameters) {
        // they are zeros already
    }

    private void reportUnreachable() {
        report(
                rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                -Errno.ETIMEDOUT,
                IdentifierObject::withoutParameters,
                NOTHING);
    }

    /** What becomes of a question about datagrams. */
    private final class Answers implements Question.Receiver {

        private final SocketName to;

        Answers(SocketName to) {
            this.to = to;
        }

        @Override
        public void answered(ServiceReply reply) {
            if (reply.status() == ServiceReply.VALID) {
                report(
                        rdma_h.RDMA_CM_EVENT_ESTABLISHED(),
                        0,
                        parameters ->
                                ConnectionParameterCodec.write(
                                        reply, to.address(), trafficClass, parameters),
                        reply.privateData());
            } else {
                report(
                        rdma_h.RDMA_CM_EVENT_UNREACHABLE(),
                        reply.status(),
                        IdentifierObject::withoutParameters,
                        reply.privateData());
            }
        }

        @Override
        public void unreachable() {
            reportUnreachable();
        }
    }

    /** Has its events come to another channel, with those that nobody has taken. */
    void migrate(EventChannelObject other) {
        List<PendingEvent> moved;
        synchronized (reporting) {
            moved = channel.remove(event -> event.owner() == this);
            moved.forEach(other::report);
            channel = other;
        }
        if (structure != null) {
            structure.channel(other);
        }
        for (var event : moved) {
            if (event.identifier() != this) {
                event.identifier().migrate(other); // what became of it since is told there too
            }
        }
    }

    // ---- the end

    /**
     * Ends what it does, and drops its events that nobody has taken; the requests among them are
     * refused. Those given out may still be acknowledged.
     *
     * @throws Refusal if that was done before
     */
    void stop() {
        List<PendingEvent> dropped;
        synchronized (reporting) {
            if (destroyed) {
                throw new Refusal(Errno.EINVAL);
            }
            destroyed = true; // nothing is reported any more
            dropped = channel.remove(event -> event.owner() == this || event.identifier() == this);
        }
        for (var event : dropped) {
            if (event.identifier() != this) {
                event.identifier().stop();
            }
        }
        for (var each : listensOn) {
            each.control(engine -> {
                engine.stopListening(serviceId(name().port()));
                return true;
            });
        }
        if (device != null) {
            device.control(_ -> {
                closeConversation();
                return true;
            });
        }
        if (name != null) {
            ports.giveBack(this, name);
        }
    }

    private void closeConversation() {
        if (conversation != null) {
            conversation.close();
        }
        if (question != null) {
            question.close();
        }
        if (inquiry != null) {
            inquiry.close();
        }
    }

    /** Takes back what C sees, after {@link #stop}. */
    void destroy() {
        if (device != null) {
            devices.release(device);
        }
        listensOn.forEach(devices::release);
        if (structure != null) {
            structure.release();
        }
    }
}
