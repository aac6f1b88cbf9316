package org.jrdma.verbs.cm;

import java.io.InterruptedIOException;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.Leaks;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.cm.model.AddressInfo;
import org.jrdma.verbs.cm.model.AddressQuery;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.MulticastRole;
import org.jrdma.verbs.cm.model.PathRecord;
import org.jrdma.verbs.cm.model.PortSpace;
import org.jrdma.verbs.cm.model.RejectReason;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.IdentifierFunctions;
import org.jrdma.verbs.model.AsyncEventType;
import org.jrdma.verbs.model.EnhancedOptions;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A connection, or what may become one, or listens for them: a socket, in the words of TCP.
 *
 * <p>A step that needs others' answers only begins here; what becomes of it is an event of the
 * {@link EventChannel}. The queue pair is the user's: {@link #queuePairChange} says how it gets to
 * a state, and the number in the {@link ConnectionParameters} which one it is.
 *
 * <p>Owned by its event channel. Safe for use by several threads. In C: {@code struct rdma_cm_id};
 * {@link #close()} is {@code rdma_destroy_id}. It waits for no peer: on iWARP, where the kernel
 * does, the native identifier lives on for some seconds.
 */
public final class Identifier extends NativeObject {

    private final EventChannel channel;
    private final PortSpace portSpace;
    private final NativeIdentifier identifier;
    private final IdentifierFunctions functions;
    private final Inbox inbox;

    Identifier(EventChannel channel, PortSpace portSpace, NativeIdentifier identifier) {
        super(identifier.address(), lifetime(channel, identifier));
        this.channel = channel;
        this.portSpace = portSpace;
        this.identifier = identifier;
        this.functions = channel.library().identifiers();
        this.inbox = new Inbox(toString());
        lifetime().onClose(inbox::close);
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

    /** What its port number counts in. */
    public PortSpace portSpace() {
        return portSpace;
    }

    /** The type of its queue pair. */
    public QueuePairType queuePairType() {
        return look(IdentifierFunctions::type);
    }

    /**
     * Gives it a local address. The wildcard address stands for all, port 0 for any that is free.
     * In C: {@code rdma_bind_addr}.
     *
     * @throws VerbsException if the address is of no RDMA device, or the port is taken
     */
    public void bind(InetSocketAddress address) throws VerbsException {
        inCall(() ->
                functions.bind(
                        address(),
                        address,
                        new Attempt(
                                "rdma_bind_addr",
                                () -> "for " + address,
                                errno -> explained(adviceOnAddress(errno, address)))));
    }

    /** What a library in software knows of it, or else what is known of its number. */
    private String explained(String advice) {
        var explanation = channel.library().library().explanation();
        return explanation.isEmpty() ? advice : explanation;
    }

    private static String adviceOnAddress(int errno, InetSocketAddress address) {
        return switch (errno) {
            case Errno.ENODEV -> "No RDMA device has that address.";
            case Errno.EADDRNOTAVAIL -> "This machine does not have that address.";
            case Errno.EADDRINUSE ->
                    "Another program has port %d; reuseAddress(true) shares it with those that say so too."
                            .formatted(address.getPort());
            default -> "";
        };
    }

    /**
     * Begins to look for a device that leads to an address, and binds itself to it. The answer is
     * {@link ConnectionEvent.AddressResolved} or {@link ConnectionEvent.AddressError}. In C: {@code
     * rdma_resolve_addr}.
     *
     * @param timeout how long to look
     */
    public void resolveAddress(InetSocketAddress to, Duration timeout) throws VerbsException {
        resolve(null, to, timeout);
    }

    /** The same, from a local address. */
    public void resolveAddress(InetSocketAddress from, InetSocketAddress to, Duration timeout)
            throws VerbsException {
        resolve(from, to, timeout);
    }

    private void resolve(@Nullable InetSocketAddress from, InetSocketAddress to, Duration timeout)
            throws VerbsException {
        inCall(() ->
                functions.resolveAddress(
                        address(),
                        from,
                        to,
                        milliseconds(timeout),
                        new Attempt(
                                "rdma_resolve_addr",
                                () -> "for %s%s".formatted(to, from == null ? "" : " from " + from),
                                errno ->
                                        explained(
                                                errno == Errno.ENODEV
                                                        ? "No RDMA device leads there."
                                                        : ""))));
    }

    /**
     * Begins to look up where a service is. The answer is {@link
     * ConnectionEvent.AddressInfoResolved}, after which {@link #addressInfo} has it, or {@link
     * ConnectionEvent.AddressInfoError}. In C: {@code rdma_resolve_addrinfo}.
     *
     * <p>Whoever knows names is asked on a thread of its own, which nothing ends; close() does not
     * wait for it. One at a time: what was looked up must be taken before the next.
     *
     * @throws VerbsException if a look-up is under way; with EOPNOTSUPP where the library is older
     *     than rdma-core 60
     */
    public void resolveAddressInfo(AddressQuery wanted) throws VerbsException {
        var addresses = channel.library().addresses();
        var attempt =
                new Attempt(
                        "rdma_resolve_addrinfo",
                        () -> "for %s and %s".formatted(wanted, this),
                        AddressInfoErrors::advice);
        addresses.needResolve(attempt);
        beginCall("rdma_resolve_addrinfo", NativeIdentifier.Call.LOOK_UP, false);
        PlatformCalls.start(() -> {
            try {
                takeAndEnd(() -> addresses.resolve(identifier.address(), wanted, attempt));
            } catch (VerbsException e) {
                channel.tell(new ConnectionEvent.AddressInfoError(this, e.code()));
            }
        });
    }

    /**
     * What was looked up, once. In C: {@code rdma_query_addrinfo}.
     *
     * @throws VerbsException with ENOENT if nothing was, or it was taken; with EOPNOTSUPP where the
     *     library is older than rdma-core 60
     */
    public List<AddressInfo> addressInfo() throws VerbsException {
        lifetime().hold();
        try {
            return channel.library()
                    .addresses()
                    .resolved(address(), attempt("rdma_query_addrinfo"));
        } finally {
            lifetime().release();
        }
    }

    /**
     * Begins to look for a way through the fabric. The answer is {@link
     * ConnectionEvent.RouteResolved} or {@link ConnectionEvent.RouteError}. In C: {@code
     * rdma_resolve_route}.
     *
     * @param timeout how long to look
     */
    public void resolveRoute(Duration timeout) throws VerbsException {
        inCall(() -> {
            needDevice("rdma_resolve_route");
            functions.resolveRoute(address(), milliseconds(timeout), attempt("rdma_resolve_route"));
        });
    }

    /** A millisecond at least; the kernel takes what it cannot count for a second. */
    private static int milliseconds(Duration timeout) {
        return Math.clamp(timeout.toMillis(), 1, Integer.MAX_VALUE / 2);
    }

    /**
     * Takes requests from now on, as {@link ConnectionEvent.ConnectRequest} or {@link
     * ConnectionEvent.DatagramRequest}. In C: {@code rdma_listen}.
     *
     * @param backlog how many may wait for an answer
     */
    public void listen(int backlog) throws VerbsException {
        inCall(() -> functions.listen(address(), backlog, attempt("rdma_listen")));
    }

    /**
     * Asks the peer for a connection. The answer is {@link ConnectionEvent.ConnectResponse}, on
     * iWARP {@link ConnectionEvent.Established}, or a {@link ConnectionEvent.Failure}; {@link
     * ConnectionEvent.DatagramEstablished} for datagrams. In C: {@code rdma_connect}.
     *
     * <p>On an iWARP device it waits until TCP has connected, which nothing can end: take a thread
     * for it that can be done without. close() does not wait for it.
     *
     * @param privateData for the peer: at most 56 bytes for a connection, 180 for datagrams, 248 on
     *     iWARP
     * @throws IllegalArgumentException if the private data is longer
     */
    public void connect(ConnectionParameters parameters, byte... privateData)
            throws VerbsException {
        checkRequestData(privateData);
        inCall(() -> needDevice("rdma_connect"));
        beginCall("rdma_connect", NativeIdentifier.Call.CONNECT, isWarp());
        PlatformCalls.call(() -> {
            takeAndEnd(() ->
                    functions.connect(
                            identifier.address(),
                            parameters,
                            privateData,
                            attempt("rdma_connect")));
            return this;
        });
    }

    /** Before a call that another thread is to make. */
    void checkRequestData(byte[] data) {
        checkPrivateData("A request", data, 56, 180);
    }

    /**
     * Before a call that may wait for others: close() does not wait for it.
     *
     * @param mayWaitAtItsEnd whether what it begins lets the system wait when it is destroyed
     */
    private void beginCall(String function, NativeIdentifier.Call call, boolean mayWaitAtItsEnd)
            throws VerbsException {
        if (!identifier.beginCall(call, mayWaitAtItsEnd)) {
            address(); // which it must have for anyone to be calling
            throw new VerbsException(
                    function, this + " is being connected or looked up for by another thread");
        }
    }

    /** Takes the step that {@link #beginCall} is for. */
    private void takeAndEnd(Step step) throws VerbsException {
        VerbsException failure = null;
        try {
            step.take();
        } catch (VerbsException e) {
            failure = e;
            throw e;
        } finally {
            end(failure);
        }
    }

    /**
     * @param failure what is to be told rather than that it could not be destroyed; null for none
     */
    private void end(@Nullable VerbsException failure) throws VerbsException {
        try {
            identifier.endCall();
        } catch (VerbsException e) {
            if (failure == null) {
                throw e;
            }
            failure.addSuppressed(e);
        }
    }

    /** An event of it has come, maybe before the call is back that has asked for it. */
    void toldOf(ConnectionEvent event) {
        switch (event) {
            case ConnectionEvent.AddressInfoResolved _, ConnectionEvent.AddressInfoError _ ->
                    identifier.answered(NativeIdentifier.Call.LOOK_UP);
            case ConnectionEvent.ConnectResponse _,
                    ConnectionEvent.Established _,
                    ConnectionEvent.DatagramEstablished _,
                    ConnectionEvent.Rejected _,
                    ConnectionEvent.Unreachable _,
                    ConnectionEvent.ConnectError _ ->
                    identifier.answered(NativeIdentifier.Call.CONNECT);
            default -> {
                // no answer to what may wait
            }
        }
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
        checkPrivateData("A reply", privateData, 196, 136);
        inCall(() -> {
            needDevice("rdma_accept");
            functions.accept(address(), parameters, privateData, attempt("rdma_accept"));
        });
    }

    /**
     * Refuses a request. In C: {@code rdma_reject}.
     *
     * @param privateData for the peer: at most 148 bytes for a connection, 136 for datagrams, 248
     *     on iWARP
     * @throws IllegalArgumentException if the private data is longer
     */
    public void reject(byte... privateData) throws VerbsException {
        checkPrivateData("A refusal", privateData, 148, 136);
        inCall(() -> functions.reject(address(), privateData, attempt("rdma_reject")));
    }

    /**
     * Refuses a request since this side cannot take the {@link #peerEnhancedOptions}. The peer sees
     * {@link RejectReason#VENDOR_OPTION_NOT_SUPPORTED}; not on iWARP, whose refusals have no
     * reason. In C: {@code rdma_reject_ece}.
     *
     * @param privateData for the peer: at most 148 bytes for a connection, 136 for datagrams, 248
     *     on iWARP
     * @throws IllegalArgumentException if the private data is longer
     * @throws VerbsException with EOPNOTSUPP where the library is older than rdma-core 31
     */
    public void rejectEnhancedOptions(byte... privateData) throws VerbsException {
        checkPrivateData("A refusal", privateData, 148, 136);
        inCall(() -> functions.rejectEnhanced(address(), privateData, attempt("rdma_reject_ece")));
    }

    /**
     * On RoCE and InfiniBand the kernel just says EINVAL. On iWARP it is 256 bytes, of which a
     * driver may need some itself: siw takes 249, and drops a message with 252.
     */
    private void checkPrivateData(String message, byte[] data, int connections, int datagrams) {
        var most = isWarp() ? 248 : portSpace.isOfDatagrams() ? datagrams : connections;
        if (data.length > most) {
            throw new IllegalArgumentException(
                    "%s of %s has room for %d bytes of private data, not %d"
                            .formatted(message, this, most, data.length));
        }
    }

    /**
     * Tells the peer that the queue pair is ready, after {@link ConnectionEvent.ConnectResponse}.
     * In C: {@code rdma_establish}.
     */
    public void establish() throws VerbsException {
        inCall(() -> functions.establish(address(), attempt("rdma_establish")));
    }

    /**
     * Ends the connection, or answers a peer that has ended it, which else waits for minutes. The
     * queue pair stays as it is. In C: {@code rdma_disconnect}.
     */
    public void disconnect() throws VerbsException {
        inCall(() -> {
            needDevice("rdma_disconnect");
            functions.disconnect(address(), attempt("rdma_disconnect"));
        });
    }

    /**
     * Tells of an event of the queue pair: {@link AsyncEventType#COMMUNICATION_ESTABLISHED}, when a
     * message comes before the peer's last word, stands for that word. In C: {@code rdma_notify}.
     */
    public void notify(AsyncEventType event) throws VerbsException {
        inCall(() -> functions.notify(address(), event, attempt("rdma_notify")));
    }

    /**
     * Adds a word of this program's own to the events of its channel, as {@link
     * ConnectionEvent.Written}: a way to wake who waits there. In C: {@code rdma_write_cm_event}.
     * Not for the identifier of a {@link Connection}, whose events nobody else gets to see.
     *
     * @param status whatever the program wants
     * @param argument likewise
     * @throws VerbsException with EOPNOTSUPP where the library is older than rdma-core 60, with
     *     EINVAL where the kernel is too old
     * @throws IllegalStateException if a connection takes its events
     */
    public void writeEvent(int status, long argument) throws VerbsException {
        if (channel.isDispatching()) {
            throw new IllegalStateException(
                    "A connection takes the events of %s, and would drop this one".formatted(this));
        }
        inCall(() ->
                functions.writeEvent(address(), status, argument, attempt("rdma_write_cm_event")));
    }

    /**
     * How the queue pair gets to a state: INIT once there is a device; READY_TO_RECEIVE and
     * READY_TO_SEND once there is a request or a response. In C: {@code rdma_init_qp_attr}.
     */
    public QueuePairChange queuePairChange(QueuePairState state) throws VerbsException {
        lifetime().hold();
        try {
            return PlatformCalls.call(() ->
                    functions.queuePairChange(
                            address(),
                            state,
                            Attempt.to(
                                    "rdma_init_qp_attr",
                                    () -> "for %s to %s".formatted(this, state))));
        } finally {
            lifetime().release();
        }
    }

    /**
     * Begins to join a multicast group, to send and to receive. The answer is {@link
     * ConnectionEvent.MulticastJoined} or {@link ConnectionEvent.MulticastError}. In C: {@code
     * rdma_join_multicast}.
     *
     * <p>It must have a device and be of a port space of datagrams. It brings the group's packets
     * to the device; {@link org.jrdma.verbs.DatagramQueuePair#attachMulticast} to a queue pair.
     */
    public void joinMulticast(InetAddress group) throws VerbsException {
        joinMulticast(group, MulticastRole.FULL_MEMBER, "rdma_join_multicast");
    }

    /** The same, perhaps to send only. In C: {@code rdma_join_multicast_ex}. */
    public void joinMulticast(InetAddress group, MulticastRole role) throws VerbsException {
        joinMulticast(group, role, "rdma_join_multicast_ex");
    }

    private void joinMulticast(InetAddress group, MulticastRole role, String function)
            throws VerbsException {
        inCall(() -> {
            needDevice(function);
            identifier
                    .groups()
                    .join(functions, address(), group, role, groupAttempt(function, group));
        });
    }

    /**
     * Leaves a group, as {@link #close()} does. In C: {@code rdma_leave_multicast}.
     *
     * @throws VerbsException if it is not in that group
     */
    public void leaveMulticast(InetAddress group) throws VerbsException {
        inCall(() ->
                identifier
                        .groups()
                        .leave(
                                functions,
                                address(),
                                group,
                                groupAttempt("rdma_leave_multicast", group)));
    }

    /** The group of one of its events. */
    Optional<InetAddress> group(long number) {
        return identifier.groups().group(number);
    }

    private Attempt groupAttempt(String function, InetAddress group) {
        return Attempt.to(
                function,
                () -> "for group %s and %s".formatted(group.getHostAddress(), description()));
    }

    /**
     * Has its events come to another channel, and belongs to that from then on. This object is
     * closed by it; the identifier lives on as what is returned. In C: {@code rdma_migrate_id}.
     *
     * @throws IllegalStateException while another thread connects it, or an address is looked up
     *     for it: then close() can leave it to that call, which only this object knows of
     */
    public Identifier migrateTo(EventChannel other) throws VerbsException {
        if (other == channel) {
            return this;
        }
        Identifier moved;
        lifetime().hold();
        try {
            if (!identifier.beginCall(NativeIdentifier.Call.MIGRATE, false)) {
                throw new IllegalStateException(
                        this
                                + " is being connected or looked up for: it can migrate before that, or after");
            }
            try {
                moved = other.takeOver(identifier, portSpace, attempt("rdma_migrate_id"));
                identifier.handOver();
            } finally {
                identifier.endCall();
            }
        } finally {
            lifetime().release();
        }
        close();
        return moved;
    }

    /**
     * The priority of its packets, as in IP: 0 to 255. Before the address is resolved. In C: {@code
     * rdma_set_option} with {@code RDMA_OPTION_ID_TOS}.
     */
    public void typeOfService(int value) throws VerbsException {
        setByte(rdma_h.RDMA_OPTION_ID_TOS(), value, 255);
    }

    /**
     * Shares its port with others that say so too. Before it is bound. In C: {@code
     * rdma_set_option} with {@code RDMA_OPTION_ID_REUSEADDR}.
     */
    public void reuseAddress(boolean wanted) throws VerbsException {
        setFlag(rdma_h.RDMA_OPTION_ID_REUSEADDR(), wanted);
    }

    /**
     * Listens for IPv6 alone where it is bound to the wildcard of IPv6. Before it is bound. In C:
     * {@code rdma_set_option} with {@code RDMA_OPTION_ID_AFONLY}.
     */
    public void addressFamilyOnly(boolean wanted) throws VerbsException {
        setFlag(rdma_h.RDMA_OPTION_ID_AFONLY(), wanted);
    }

    /**
     * How long the queue pair waits for an answer: 4.096 us times 2 to this, 0 to 31. In C: {@code
     * rdma_set_option} with {@code RDMA_OPTION_ID_ACK_TIMEOUT}.
     */
    public void acknowledgeTimeout(int exponent) throws VerbsException {
        setByte(rdma_h.RDMA_OPTION_ID_ACK_TIMEOUT(), exponent, 31);
    }

    private void setByte(int option, int value, int most) throws VerbsException {
        if (value < 0 || value > most) {
            throw new IllegalArgumentException("%d is not from 0 to %d".formatted(value, most));
        }
        inCall(() -> functions.setByte(address(), option, value, optionAttempt(option, value)));
    }

    private void setFlag(int option, boolean value) throws VerbsException {
        inCall(() -> functions.setFlag(address(), option, value, optionAttempt(option, value)));
    }

    private Attempt optionAttempt(int option, Object value) {
        return Attempt.to(
                "rdma_set_option",
                () -> "for option %d of %s to %s".formatted(option, this, value));
    }

    /**
     * What the drivers of both sides are to agree upon. Before it connects or accepts. In C: {@code
     * rdma_set_local_ece}.
     */
    public void enhancedOptions(EnhancedOptions options) throws VerbsException {
        inCall(() -> functions.setEnhanced(address(), options, attempt("rdma_set_local_ece")));
    }

    /**
     * What the peer's driver offers or takes; zeros for nothing. In C: {@code rdma_get_remote_ece}.
     */
    public EnhancedOptions peerEnhancedOptions() throws VerbsException {
        lifetime().hold();
        try {
            return functions.enhanced(address(), attempt("rdma_get_remote_ece"));
        } finally {
            lifetime().release();
        }
    }

    /**
     * Its own address, once it has one. In C: {@code rdma_get_local_addr}, and {@code
     * rdma_get_src_port}.
     */
    public Optional<InetSocketAddress> localAddress() {
        return look(IdentifierFunctions::local);
    }

    /**
     * The peer's address, once it is known. In C: {@code rdma_get_peer_addr}, and {@code
     * rdma_get_dst_port}.
     */
    public Optional<InetSocketAddress> peerAddress() {
        return look(IdentifierFunctions::peer);
    }

    /** The name of the device that it is bound to, for {@link org.jrdma.verbs.Verbs#open}. */
    public Optional<String> deviceName() {
        return device().map(IdentifierFunctions.BoundDevice::name);
    }

    /** The port of the device that it is bound to, from 1. */
    public OptionalInt devicePort() {
        return device().map(device -> OptionalInt.of(device.port())).orElse(OptionalInt.empty());
    }

    /** The ways through the fabric, once they are known; none on iWARP. */
    public List<PathRecord> paths() {
        return look(IdentifierFunctions::paths);
    }

    /** Its events, where the channel gives them out. */
    Inbox inbox() {
        return inbox;
    }

    /** Reports an object that has to close this one. */
    void reportIfDropped(Object user, String name) {
        Leaks.watch(user, name, lifetime());
    }

    /** Begins to stand for an object that must close this one, or let go of it. */
    Lifetime dependent(String name) {
        lifetime().hold();
        try {
            return new Lifetime(name, List.of(lifetime()), () -> {});
        } finally {
            lifetime().release();
        }
    }

    Lifetime ownLifetime() {
        return lifetime();
    }

    /**
     * Waits for what comes of a step, where the channel gives events out.
     *
     * @param attempt what to say has failed
     * @param missed what to say has not happened, if it does not in time
     * @throws CmException if it failed
     */
    ConnectionEvent awaitAnswer(Deadline deadline, String function, String attempt, String missed)
            throws FabricException, InterruptedIOException {
        while (true) {
            var event = inbox.take(deadline, missed);
            switch (event) {
                case ConnectionEvent.Failure failure ->
                        throw new CmException(function, attempt, failure);
                case ConnectionEvent.DeviceRemoved _ ->
                        throw new VerbsException(
                                function, attempt + ": the device is being taken out");
                case ConnectionEvent.AddressChanged _,
                        ConnectionEvent.TimeWaitExit _,
                        ConnectionEvent.Written _ -> {
                    // news that ends nothing
                }
                default -> {
                    return event;
                }
            }
        }
    }

    Optional<IdentifierFunctions.BoundDevice> device() {
        return look(IdentifierFunctions::device);
    }

    private <T> T look(Function<MemorySegment, T> reader) {
        lifetime().hold();
        try {
            return reader.apply(address());
        } finally {
            lifetime().release();
        }
    }

    boolean isWarp() {
        return device().filter(device -> device.transport() == TransportType.IWARP).isPresent();
    }

    /** The library looks into the device's structure, and does not ask whether there is one. */
    private void needDevice(String function) throws VerbsException {
        if (device().isEmpty()) {
            throw new VerbsException(
                    function, "%s has no device yet: resolve an address first.".formatted(this));
        }
    }

    private Attempt attempt(String function) {
        return Attempt.to(function, () -> "for " + description());
    }

    /** With its addresses, where they are known. */
    private String description() {
        try {
            return "%s from %s to %s"
                    .formatted(
                            this,
                            localAddress().map(Object::toString).orElse("anywhere"),
                            peerAddress().map(Object::toString).orElse("nowhere"));
        } catch (IllegalStateException _) {
            return toString(); // closed meanwhile
        }
    }

    @FunctionalInterface
    private interface Step {
        void take() throws VerbsException;
    }

    /** Takes a step that it must stay open for. */
    private void inCall(Step step) throws VerbsException {
        lifetime().hold();
        try {
            PlatformCalls.call(() -> {
                step.take();
                return this;
            });
        } finally {
            lifetime().release();
        }
    }
}
