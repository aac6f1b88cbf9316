package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.HotPath;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.ProviderFaults;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.DataOrder;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.EnhancedOptions;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.PortAttributes;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.RateLimit;
import org.jrdma.verbs.model.TransportType;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.QueuePairTransition;
import org.jspecify.annotations.Nullable;

/**
 * A queue of work to send and a queue of places to receive into: one end of a connection, or a
 * place that datagrams come from and go to.
 *
 * <p>Owned by its {@link ProtectionDomain} or {@link XrcDomain}, and closed with it or with its
 * completion queue. Safe for use by several threads. In C: {@code struct ibv_qp}; {@link #close()}
 * is {@code ibv_destroy_qp}.
 */
public abstract sealed class QueuePair extends NativeObject
        permits PolledEnd, AsyncEnd, XrcReceiveQueuePair {

    /** Null where it has none. */
    private final @Nullable ProtectionDomain domain;

    private final Device device;
    private final Made made;
    private final long nativeAddress;
    private final QueuePairType type;
    private final int port;
    private final LocalAddress local;
    private final @Nullable SharedReceiveQueue sharedReceives;
    private final Set<Operation> newerOperations;
    private final String postFunction;
    private final int sendSequence = ThreadLocalRandom.current().nextInt(1 << 24);
    private final ReentrantLock modifying = new ReentrantLock();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean takesSends;
    private volatile boolean takesReceives;

    QueuePair(ProtectionDomain domain, Made made, QueuePairOptions<?> options) {
        this(
                domain.device(),
                domain,
                made,
                options.type(),
                options.port(),
                options.sharedReceives(),
                options.isPostedExtended(),
                Set.copyOf(options.newerOperations()));
    }

    /** One that is of no protection domain, and posts nothing. */
    QueuePair(Device device, Made made, QueuePairType type, int port) {
        this(device, null, made, type, port, null, false, Set.of());
    }

    private QueuePair(
            Device device,
            @Nullable ProtectionDomain domain,
            Made made,
            QueuePairType type,
            int port,
            @Nullable SharedReceiveQueue sharedReceives,
            boolean isPostedExtended,
            Set<Operation> newerOperations) {
        super(made.address, made.lifetime);
        this.domain = domain;
        this.device = device;
        this.made = made;
        this.nativeAddress = made.address.address();
        this.type = type;
        this.port = port;
        this.local = made.local;
        this.sharedReceives = sharedReceives;
        this.newerOperations = newerOperations;
        this.postFunction = isPostedExtended ? "ibv_wr_complete" : "ibv_post_send";
        device.announce(this);
    }

    /** The native queue pair, and the lifetime that ends it. */
    record Made(
            MemorySegment address,
            int number,
            QueuePairFunctions.Capacities granted,
            LocalAddress local,
            MulticastGroups groups,
            HotPath hotPath,
            Lifetime lifetime) {}

    /** What this side's port is called on the fabric. */
    record LocalAddress(PortAttributes port, @Nullable GidEntry gid) {}

    /** Attaches a work queue to a completion queue, and undoes it. */
    record Attachment<W extends WorkQueue>(
            CompletionSource.Attachments<W> attachments,
            W queue,
            @Nullable Sharing<W> sharing,
            String source) {

        void attach(boolean mayOverrun) throws VerbsException {
            if (sharing == null
                    ? !attachments.attach(queue, mayOverrun)
                    : !sharing.attach(attachments, mayOverrun)) {
                throw new VerbsException(
                        "ibv_create_qp",
                        String.format(
                                Locale.ROOT,
                                "A queue pair with %,d requests could overrun the %s, which has room for %,d more. Make it larger, ask for fewer sends and receives, or say completionQueueMayOverrun().",
                                sharing == null ? queue.capacity() : sharing.capacity(),
                                source,
                                attachments.room()));
            }
        }

        void detach() {
            if (sharing == null) {
                attachments.detach(queue);
            } else {
                sharing.detach(attachments);
            }
        }
    }

    /**
     * Makes the native queue pair. One slot more than asked is for the marker of {@code drain}.
     *
     * @param receiveSource null, as {@code receives} then is, for one that receives nothing
     * @param sharing of the shared receive queue that it receives from; null for {@code receives}
     */
    static <W extends WorkQueue> Made make(
            ProtectionDomain domain,
            CompletionSource<W> sendSource,
            @Nullable CompletionSource<W> receiveSource,
            W sends,
            @Nullable W receives,
            @Nullable Sharing<W> sharing,
            QueuePairOptions<?> options,
            Runnable afterwards)
            throws VerbsException {
        var device = domain.device();
        if (sendSource.device() != device
                || (receiveSource != null && receiveSource.device() != device)) {
            throw new IllegalArgumentException(
                    "%s and its completion queues are not of one device".formatted(domain));
        }
        var owners =
                new ArrayList<Lifetime>(List.of(domain.ownLifetime(), sendSource.ownLifetime()));
        var attachments = new ArrayList<Attachment<W>>();
        attachments.add(
                new Attachment<>(sendSource.attachments(), sends, null, sendSource.toString()));
        if (receiveSource != null && receives != null) {
            owners.add(receiveSource.ownLifetime());
            attachments.add(
                    new Attachment<>(
                            receiveSource.attachments(),
                            receives,
                            sharing,
                            receiveSource.toString()));
        }
        var shared = options.sharedReceives();
        if (shared != null) {
            if (receives == null) {
                throw new IllegalArgumentException(
                        "%s is of no use to a %s, which receives nothing"
                                .formatted(shared, options.type().description()));
            }
            if (shared.isNamedBySenders()) {
                throw new IllegalArgumentException(
                        "%s cannot be given to a queue pair: who sends to it names it"
                                .formatted(shared));
            }
            if (!shared.domain().isSameAs(domain)) {
                throw new IllegalArgumentException(
                        "%s is of %s, and cannot be used by queue pairs of %s"
                                .formatted(shared, shared.domain(), domain));
            }
            owners.add(shared.ownLifetime());
        }
        Lifetime.holdAll(owners);
        var undo = new ArrayList<Runnable>();
        try {
            for (var attachment : attachments) {
                attachment.attach(options.mayOverrun());
                undo.add(attachment::detach);
            }
            var local = localAddress(device, options.port(), options.gidIndex());
            if (options.type() == QueuePairType.RAW_PACKET
                    && local.port.linkLayer() != LinkLayer.ETHERNET) {
                throw new VerbsException(
                        "ibv_create_qp",
                        "Raw packets are those of an Ethernet port; port %d of %s is %s."
                                .formatted(options.port(), device.name(), local.port.linkLayer()));
            }
            var asked =
                    new QueuePairFunctions.Capacities(
                            options.sends() + 1,
                            options.receives(),
                            options.sendElements(),
                            options.receiveElements(),
                            options.inlineBytes());
            var functions = device.library().queuePairs();
            var wanted =
                    new QueuePairFunctions.Wanted(
                            options.type(),
                            domain.address(),
                            sendSource.address(),
                            receiveSource == null ? MemorySegment.NULL : receiveSource.address(),
                            shared == null ? MemorySegment.NULL : shared.address(),
                            asked,
                            options.newerOperations());
            // Asked before there is something to destroy: the device's close may begin.
            var faulty =
                    options.isPostedExtended()
                            && ProviderFaults.inExtendedPosts(device.attributes());
            var created = PlatformCalls.call(() -> create(device, wanted, options, faulty));
            var address = created.queuePair;
            var number = QueuePairFunctions.number(address);
            if (sharing != null) {
                sharing.joined(number, options.type());
                undo.add(() -> sharing.left(number));
            }
            var name = "queue pair %d of %s".formatted(number, device.name());
            var forget = device.forgetting(address.address());
            var groups = new MulticastGroups(device.library().datagrams(), address, name);
            var lifetime =
                    new Lifetime(
                            name,
                            owners.stream().distinct().toList(),
                            () -> {
                                forget.run();
                                groups.detachAll(); // or it could not be destroyed
                                try {
                                    functions.destroy(
                                            address,
                                            Attempt.to("ibv_destroy_qp", () -> "for " + name));
                                } finally {
                                    undo.forEach(Runnable::run);
                                    afterwards.run();
                                }
                            });
            return new Made(
                    address, number, created.granted, local, groups, created.hotPath, lifetime);
        } catch (VerbsException | RuntimeException | Error e) {
            undo.forEach(Runnable::run);
            throw e;
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    /** What C made, and how requests are posted to it. */
    private record Created(
            MemorySegment queuePair, QueuePairFunctions.Capacities granted, HotPath hotPath) {}

    private static Created create(
            Device device,
            QueuePairFunctions.Wanted wanted,
            QueuePairOptions<?> options,
            boolean faulty)
            throws VerbsException {
        var functions = device.library().queuePairs();
        var subject =
                (Supplier<String>)
                        () ->
                                "for %s with %s on %s"
                                        .formatted(
                                                options.type().description(),
                                                wanted.capacities(),
                                                device.name());
        if (!options.isPostedExtended()) {
            var created =
                    functions.create(
                            device.context(),
                            wanted,
                            new Attempt("ibv_create_qp", subject, errno -> advice(options, errno)));
            return new Created(created.queuePair(), created.granted(), device.hotPath());
        }
        var attempt =
                new Attempt(
                        "ibv_create_qp_ex",
                        subject,
                        errno ->
                                errno == Errno.EOPNOTSUPP
                                        ? "It has no extended posts for that type%s."
                                                .formatted(ofNewer(options.newerOperations()))
                                        : advice(options, errno));
        var created = functions.createExtended(device.context(), wanted, attempt);
        try {
            var hotPath =
                    device.hotPath()
                            .extended(
                                    functions.extended(created.queuePair(), attempt),
                                    options.type(),
                                    options.sendElements(),
                                    options.newerOperations(),
                                    faulty);
            return new Created(created.queuePair(), created.granted(), hotPath);
        } catch (VerbsException | RuntimeException | Error e) {
            try {
                functions.destroy(created.queuePair(), Attempt.to("ibv_destroy_qp", subject));
            } catch (VerbsException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }

    private static String ofNewer(Set<Operation> operations) {
        return operations.isEmpty() ? "" : ", or none of " + operations;
    }

    private static String advice(QueuePairOptions<?> options, int errno) {
        if (options.type() != QueuePairType.RAW_PACKET) {
            return LockedMemory.advice(errno);
        }
        return switch (errno) {
            case Errno.EPERM -> "Raw packets need the capability CAP_NET_RAW.";
            case Errno.EOPNOTSUPP -> "The device has no queue pairs of raw packets.";
            default -> LockedMemory.advice(errno);
        };
    }

    static LocalAddress localAddress(Device device, int portNumber, OptionalInt asked)
            throws VerbsException {
        var port = device.port(portNumber);
        if (asked.isPresent()) {
            var table = device.gids(portNumber);
            var entry =
                    table.stream()
                            .filter(row -> row.index() == asked.getAsInt())
                            .findFirst()
                            .orElseThrow(() ->
                                    new VerbsException(
                                            "ibv_query_gid_table",
                                            "Port %d of %s has no GID %d. It has: %s"
                                                    .formatted(
                                                            portNumber,
                                                            device.name(),
                                                            asked.getAsInt(),
                                                            table)));
            return new LocalAddress(port, entry);
        }
        var needed = port.linkLayer() == LinkLayer.ETHERNET;
        return new LocalAddress(
                port, needed ? device.chooseGid(portNumber).best().orElse(null) : null);
    }

    /** The protection domain of one that has one. */
    final ProtectionDomain protection() {
        return Objects.requireNonNull(domain, "of no protection domain");
    }

    /** Where it has its receives from, if not from a queue of its own. */
    public final Optional<SharedReceiveQueue> sharedReceives() {
        return Optional.ofNullable(sharedReceives);
    }

    /** What it promises, and to how many peers it speaks. */
    public final QueuePairType type() {
        return type;
    }

    /** The number that peers know it by, 24 bits. */
    public final int number() {
        return made.number;
    }

    /** How many bytes can be sent inline; the device may give more than was asked for. */
    public final int inlineBytes() {
        return made.granted.inlineBytes();
    }

    /**
     * The row of the GID table that it sends from; empty on InfiniBand, unless one was asked for.
     */
    public final Optional<GidEntry> localGid() {
        return Optional.ofNullable(local.gid);
    }

    /** Where a peer reaches it: to be told to the peer before both connect. */
    public final Endpoint endpoint() {
        return new Endpoint(
                local.port.lid(),
                number(),
                sendSequence,
                local.gid == null ? Gid.NONE : local.gid.gid());
    }

    /**
     * The state it was last brought to or seen in. A device that finds an error may have taken it
     * to ERROR since; {@link #query} asks.
     */
    public final QueuePairState state() {
        return state;
    }

    /** Asks the device. In C: {@code ibv_query_qp}. */
    public final QueuePairAttributes query() throws VerbsException {
        modifying.lock();
        try {
            return inCall(this::ask);
        } finally {
            modifying.unlock();
        }
    }

    /** For a caller that modifies it, and is in a call. */
    private QueuePairAttributes ask() throws VerbsException {
        var attributes =
                device.library()
                        .queuePairs()
                        .query(
                                address(),
                                !isWarp(),
                                sharedReceives().isEmpty(),
                                Attempt.to("ibv_query_qp", () -> "for " + this));
        enter(attributes.state());
        return attributes;
    }

    /** For a connected queue pair. */
    final void connectTo(Endpoint peer, ConnectOptions options) throws VerbsException {
        if (isWarp()) {
            throw new VerbsException(
                    "ibv_modify_qp",
                    "%s cannot connect by itself: an iWARP device connects through rdma_cm only."
                            .formatted(this));
        }
        var limits = device.attributes();
        var mtu = options.pathMtu().orElse(local.port.activeMtu());
        var address = address("ibv_modify_qp", peer.gid(), peer.lid(), options);
        var steps = // all made before the first is gone: a number out of range leaves it in RESET
                List.of(
                        options.toInit(type, port),
                        options.toReadyToReceive(
                                type, peer, address, mtu, limits.maxReadsAsDestination()),
                        options.toReadyToSend(type, sendSequence, limits.maxReadsAsInitiator()));
        for (var step : steps) {
            modify(step);
        }
    }

    private boolean isWarp() {
        return device.description().transportType() == TransportType.IWARP;
    }

    /** For a queue pair of datagrams. */
    final void activateWith(int queueKey) throws VerbsException {
        modify(
                QueuePairChange.to(QueuePairState.INIT)
                        .partitionKeyIndex(0)
                        .port(port)
                        .queueKey(queueKey));
        modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        modify(QueuePairChange.to(QueuePairState.READY_TO_SEND).sendSequence(sendSequence));
    }

    /** For a queue pair of raw packets. */
    final void activateRaw() throws VerbsException {
        modify(QueuePairChange.to(QueuePairState.INIT).port(port));
        modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        modify(QueuePairChange.to(QueuePairState.READY_TO_SEND));
    }

    /**
     * Receives packets of its port by a rule from now on, until the flow is closed. In C: {@code
     * ibv_create_flow}.
     *
     * @throws UnsupportedOperationException if this is connected, and receives from its peer only
     * @throws IllegalArgumentException if the rule counts by counters of another device
     * @throws VerbsException with EOPNOTSUPP where the device has no such thing; or if it refuses
     *     the rule
     */
    public final Flow newFlow(FlowRule rule) throws VerbsException {
        if (type != QueuePairType.RAW_PACKET && type != QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new UnsupportedOperationException(
                    "%s is of the type %s, which has no flows; raw packets and datagrams have"
                            .formatted(this, type.description()));
        }
        return new Flow(this, port, rule);
    }

    /**
     * The way from its port to another.
     *
     * @param function what it is for, and what fails where there is none
     */
    final AddressVector address(String function, Gid gid, int lid, ConnectOptions options)
            throws VerbsException {
        return options.address(lid, port, route(function, gid, options));
    }

    private Optional<AddressVector.GlobalRoute> route(
            String function, Gid peer, ConnectOptions options) throws VerbsException {
        if (peer.isNone()) {
            if (local.port.linkLayer() == LinkLayer.ETHERNET) {
                throw new VerbsException(
                        function,
                        "%s cannot reach a peer without a GID: on RoCE the peer's GID is needed. Its program must send it; the C examples do with \"-g INDEX\"."
                                .formatted(this));
            }
            return Optional.empty();
        }
        if (local.gid == null) {
            if (local.port.linkLayer() != LinkLayer.ETHERNET) {
                return peer.isMulticast()
                        ? Optional.of(options.route(peer, 0)) // a group has no other name
                        : Optional.empty(); // within one subnet the LID suffices
            }
            throw new VerbsException(
                    function,
                    "%s has no GID to send from: the table of port %d is empty. Give its network interface an address, and see that it is up."
                            .formatted(this, port));
        }
        return Optional.of(options.route(peer, local.gid.index()));
    }

    /** The way back to where a datagram came from, which the library reads from its header. */
    final AddressVector answer(Completion received, MemorySlice into) throws VerbsException {
        var source =
                received.source()
                        .orElseThrow(() ->
                                new IllegalArgumentException(
                                        "%s is not of a datagram received".formatted(received)));
        if (into.length() < GlobalRouteHeader.BYTES) {
            throw new IllegalArgumentException(
                    "A datagram is received into %d bytes at least, not %d"
                            .formatted(GlobalRouteHeader.BYTES, into.length()));
        }
        var memory = into.region().ownLifetime();
        memory.hold();
        try {
            return inCall(() ->
                    device.library()
                            .datagrams()
                            .answer(
                                    device.address(),
                                    port,
                                    source,
                                    MemorySegment.ofAddress(into.address()),
                                    Attempt.to(
                                            "ibv_init_ah_from_wc",
                                            () -> "for %s at %s".formatted(source, this))));
        } finally {
            memory.release();
        }
    }

    /** How long a datagram can be: a packet. */
    final int datagramBytes() {
        return local.port.activeMtu().bytes();
    }

    final void checkDatagram(long bytes) {
        if (bytes > datagramBytes()) { // the specification lets it vanish without an error
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "A datagram from port %d of %s has %,d bytes at most, which is the port's MTU, not %,d",
                            port,
                            device.name(),
                            datagramBytes(),
                            bytes));
        }
    }

    /** Refuses what a device could not look up in its tables. */
    final void checkDestination(Destination to) {
        if (!to.address().domain().isSameAs(protection())) {
            throw new IllegalArgumentException(
                    "%s is of %s, and %s of %s"
                            .formatted(to.address(), to.address().domain(), this, domain));
        }
    }

    /** Refuses a receive of its own, if it has none. */
    final void refuseIfShared() {
        if (sharedReceives != null) {
            throw new UnsupportedOperationException(
                    "%s has its receives from the %s; post them there"
                            .formatted(this, sharedReceives));
        }
    }

    /** Refuses what only a reliable connection has. */
    final void checkReliable(String operation) {
        if (type != QueuePairType.RELIABLE_CONNECTION) {
            throw new UnsupportedOperationException(
                    "%s is of the type %s, which has no %s; a reliable connection has"
                            .formatted(this, type.description(), operation));
        }
    }

    /** Refuses what it has to be made for. */
    final void checkMadeFor(Operation operation) {
        if (!newerOperations.contains(operation)) {
            throw new UnsupportedOperationException(
                    "%s was not made for %s: its options have to say %s()"
                            .formatted(
                                    this,
                                    operation,
                                    operation == Operation.FLUSH ? "flushes" : "atomicWrites"));
        }
    }

    final void attach(Gid group, int lid) throws VerbsException {
        inCall(() -> {
            made.groups.attach(group, lid);
            return this;
        });
    }

    final void detach(Gid group, int lid) throws VerbsException {
        inCall(() -> {
            made.groups.detach(group, lid);
            return this;
        });
    }

    /**
     * Goes a step of the state machine, or changes attributes. In C: {@code ibv_modify_qp}.
     *
     * @throws VerbsException if there is no such step, an attribute is missing or does not belong
     *     to it, or the device refuses it; the message says which
     */
    public final void modify(QueuePairChange change) throws VerbsException {
        modifying.lock();
        try {
            var from = state;
            var to =
                    change.values().get(QueuePairAttribute.STATE) instanceof QueuePairState next
                            ? next
                            : from;
            var objection =
                    change.isOfConnectionManager() && isWarp()
                            ? Optional.<String>empty() // its steps are TCP's
                            : QueuePairTransition.objection(type, from, to, change.attributes());
            if (objection.isPresent()) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s: the step from %s to %s %s."
                                .formatted(this, from, to, objection.get()));
            }
            if (to == QueuePairState.RESET && outstanding() > 0) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s: the step from %s to RESET would lose %d requests without completing them; drain it first."
                                .formatted(this, from, outstanding()));
            }
            inCall(() -> {
                device.library()
                        .queuePairs()
                        .modify(address(), change.values(), attempt(from, to, change));
                return to;
            });
            enter(to);
        } finally {
            modifying.unlock();
        }
    }

    /**
     * Sends at most so fast from now on. In C: {@code ibv_modify_qp_rate_limit}.
     *
     * @throws VerbsException with EOPNOTSUPP where the device has no such limits; what it has is in
     *     {@link ExtendedDeviceAttributes#packetPacing}
     */
    public final void limitRate(RateLimit limit) throws VerbsException {
        inCall(() -> {
            device.library()
                    .queuePairs()
                    .limitRate(
                            device.context(),
                            address(),
                            limit,
                            Attempt.to(
                                    "ibv_modify_qp_rate_limit",
                                    () -> "for %s with %s".formatted(this, limit)));
            return limit;
        });
    }

    /**
     * In which order the bytes of an operation reach the memory that they are for, of this side or
     * the peer's: a reader that knows can poll the memory instead of the completion queue. In C:
     * {@code ibv_query_qp_data_in_order}.
     *
     * @param operation SEND, WRITE, READ, ATOMIC_WRITE, COMPARE_AND_SWAP or FETCH_AND_ADD
     * @return what is promised; empty where nothing is, or the library is too old to say
     * @throws IllegalArgumentException if it is another operation
     */
    public final Set<DataOrder> dataOrder(CompletionKind operation) throws VerbsException {
        return inCall(() -> device.library().queuePairs().dataOrder(address(), operation));
    }

    /**
     * What the driver offers beyond the specification, or, once the peer's were set, what both
     * have. In C: {@code ibv_query_ece}.
     *
     * @throws VerbsException with EOPNOTSUPP where it has no such thing
     */
    public final EnhancedOptions enhancedOptions() throws VerbsException {
        return inCall(() ->
                device.library()
                        .queuePairs()
                        .queryEnhanced(
                                address(), Attempt.to("ibv_query_ece", () -> "for " + this)));
    }

    /**
     * Sets what the peer offers beyond the specification, before it is {@linkplain
     * QueuePairState#READY_TO_RECEIVE ready to receive}. In C: {@code ibv_set_ece}.
     *
     * @throws VerbsException with EOPNOTSUPP where it has no such thing
     */
    public final void enhancedOptions(EnhancedOptions options) throws VerbsException {
        inCall(() -> {
            device.library()
                    .queuePairs()
                    .setEnhanced(
                            address(),
                            options,
                            Attempt.to(
                                    "ibv_set_ece",
                                    () -> "for %s with %s".formatted(this, options)));
            return options;
        });
    }

    private Attempt attempt(QueuePairState from, QueuePairState to, QueuePairChange change) {
        return new Attempt(
                "ibv_modify_qp",
                () ->
                        "for %s from %s to %s with %s, sending from GID %s"
                                .formatted(
                                        this,
                                        from,
                                        to,
                                        change.values(),
                                        local.gid == null ? "none" : local.gid),
                errno -> errno == Errno.EINVAL ? presentState(from) : adviceOnAddress(errno));
    }

    static String adviceOnAddress(int errno) {
        return switch (errno) {
            case Errno.ETIMEDOUT, Errno.EHOSTUNREACH, Errno.ENETUNREACH ->
                    "The peer's address was not found on the network.";
            default -> "";
        };
    }

    /** A device that finds an error goes to the error state by itself, and refuses most steps. */
    private String presentState(QueuePairState believed) {
        try {
            var present = ask().state();
            return present == believed
                    ? ""
                    : "The device has it in state %s, not %s.".formatted(present, believed);
        } catch (VerbsException _) {
            return ""; // what was refused first is what counts
        }
    }

    /** Where it is in C, also while it is being closed: for callers whom close() waits for. */
    final long nativeAddress() {
        return nativeAddress;
    }

    final Device device() {
        return device;
    }

    final Lifetime ownLifetime() {
        return lifetime();
    }

    final HotPath hotPath() {
        return made.hotPath;
    }

    /** What C calls the end of a post of requests to send. */
    final String postFunction() {
        return postFunction;
    }

    /** How many requests are under way. */
    abstract int outstanding();

    /** Whether requests to send are taken, if only to be flushed. */
    final boolean takesSends() {
        return takesSends;
    }

    /** Whether receives are taken, if only to be flushed. */
    final boolean takesReceives() {
        return takesReceives;
    }

    private void enter(QueuePairState next) {
        state = next;
        takesReceives = next != QueuePairState.RESET;
        takesSends =
                switch (next) {
                    case READY_TO_SEND, SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR, ERROR -> true;
                    case RESET, INIT, READY_TO_RECEIVE, UNKNOWN -> false;
                };
    }

    /**
     * Why it takes no request.
     *
     * @throws IllegalStateException if it is closed
     */
    final VerbsException wrongState(String function, String needed) {
        address();
        return new VerbsException(
                function, "%s is in state %s; %s.".formatted(this, state, needed));
    }

    private <T> T inCall(Device.DeviceCall<T> call) throws VerbsException {
        lifetime().hold();
        try {
            return PlatformCalls.call(call::run);
        } finally {
            lifetime().release();
        }
    }
}
