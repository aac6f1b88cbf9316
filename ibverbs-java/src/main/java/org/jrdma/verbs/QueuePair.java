package org.jrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.ReentrantLock;
import org.jrdma.ffi.Errno;
import org.jrdma.ffi.Lifetime;
import org.jrdma.ffi.NativeObject;
import org.jrdma.ffi.PlatformCalls;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.internal.LockedMemory;
import org.jrdma.verbs.internal.QueuePairFunctions;
import org.jspecify.annotations.Nullable;

/**
 * One end of an RDMA connection: a queue of work to send and a queue of places to receive into.
 *
 * <p>Owned by its {@link ProtectionDomain}, and closed with it or with its completion queue. Safe
 * for use by several threads. In C: {@code struct ibv_qp}.
 */
public abstract sealed class QueuePair extends NativeObject
        permits PolledQueuePair, DispatchedQueuePair {

    private final ProtectionDomain domain;
    private final Device device;
    private final Made made;
    private final long nativeAddress;
    private final int port;
    private final LocalAddress local;
    private final int sendSequence = ThreadLocalRandom.current().nextInt(1 << 24);
    private final ReentrantLock modifying = new ReentrantLock();
    private volatile QueuePairState state = QueuePairState.RESET;
    private volatile boolean takesSends;
    private volatile boolean takesReceives;

    QueuePair(ProtectionDomain domain, Made made, QueuePairOptions<?> options) {
        super(made.address, made.lifetime);
        this.domain = domain;
        this.device = domain.device();
        this.made = made;
        this.nativeAddress = made.address.address();
        this.port = options.port();
        this.local = made.local;
        device.announce(this);
    }

    /** The native queue pair, and the lifetime that ends it. */
    record Made(
            MemorySegment address,
            int number,
            QueuePairFunctions.Capacities granted,
            LocalAddress local,
            Lifetime lifetime) {}

    /** What this side's port is called on the fabric. */
    record LocalAddress(PortAttributes port, @Nullable GidEntry gid) {}

    /** Attaches a work queue to a completion queue, and undoes it. */
    record Attachment<W extends WorkQueue>(
            CompletionSource.Attachments<W> attachments, W queue, String source) {

        void attach(boolean mayOverrun) throws VerbsException {
            if (!attachments.attach(queue, mayOverrun)) {
                throw new VerbsException(
                        "ibv_create_qp",
                        "A queue pair with %,d requests could overrun the %s, which has room for %,d more. Make it larger, ask for fewer sends and receives, or say completionQueueMayOverrun()."
                                .formatted(queue.capacity(), source, attachments.room()));
            }
        }

        void detach() {
            attachments.detach(queue);
        }
    }

    /** Makes the native queue pair. One slot more than asked is for the marker of {@code drain}. */
    static <W extends WorkQueue> Made make(
            ProtectionDomain domain,
            CompletionSource<W> sendSource,
            CompletionSource<W> receiveSource,
            W sends,
            W receives,
            QueuePairOptions<?> options,
            Runnable afterwards)
            throws VerbsException {
        var device = domain.device();
        if (sendSource.device() != device || receiveSource.device() != device) {
            throw new IllegalArgumentException(
                    "%s and its completion queues are not of one device".formatted(domain));
        }
        var owners =
                new ArrayList<Lifetime>(
                        List.of(
                                domain.ownLifetime(),
                                sendSource.ownLifetime(),
                                receiveSource.ownLifetime()));
        Lifetime.holdAll(owners);
        var undo = new ArrayList<Runnable>();
        try {
            for (var attachment :
                    List.of(
                            new Attachment<>(
                                    sendSource.attachments(), sends, sendSource.toString()),
                            new Attachment<>(
                                    receiveSource.attachments(),
                                    receives,
                                    receiveSource.toString()))) {
                attachment.attach(options.mayOverrun());
                undo.add(attachment::detach);
            }
            var local = localAddress(device, options);
            var asked =
                    new QueuePairFunctions.Capacities(
                            options.sends() + 1,
                            options.receives(),
                            options.sendElements(),
                            options.receiveElements(),
                            options.inlineBytes());
            var functions = device.library().queuePairs();
            var created =
                    PlatformCalls.call(() ->
                            functions.createReliable(
                                    domain.address(),
                                    sendSource.address(),
                                    receiveSource.address(),
                                    asked,
                                    new Attempt(
                                            "ibv_create_qp",
                                            () -> "for %s on %s".formatted(asked, device.name()),
                                            LockedMemory::advice)));
            var address = created.queuePair();
            var number = QueuePairFunctions.number(address);
            var name = "queue pair %d of %s".formatted(number, device.name());
            var forget = device.forgetting(address.address());
            var lifetime =
                    new Lifetime(
                            name,
                            owners.stream().distinct().toList(),
                            () -> {
                                forget.run();
                                try {
                                    functions.destroy(
                                            address,
                                            Attempt.to("ibv_destroy_qp", () -> "for " + name));
                                } finally {
                                    undo.forEach(Runnable::run);
                                    afterwards.run();
                                }
                            });
            return new Made(address, number, created.granted(), local, lifetime);
        } catch (VerbsException | RuntimeException e) {
            undo.forEach(Runnable::run);
            throw e;
        } finally {
            owners.forEach(Lifetime::release);
        }
    }

    private static LocalAddress localAddress(Device device, QueuePairOptions<?> options)
            throws VerbsException {
        var port = device.port(options.port());
        var asked = options.gidIndex();
        if (asked.isPresent()) {
            var table = device.gids(options.port());
            var entry =
                    table.stream()
                            .filter(row -> row.index() == asked.getAsInt())
                            .findFirst()
                            .orElseThrow(() ->
                                    new VerbsException(
                                            "ibv_query_gid_table",
                                            "Port %d of %s has no GID %d. It has: %s"
                                                    .formatted(
                                                            options.port(),
                                                            device.name(),
                                                            asked.getAsInt(),
                                                            table)));
            return new LocalAddress(port, entry);
        }
        var needed = port.linkLayer() == LinkLayer.ETHERNET;
        return new LocalAddress(
                port, needed ? device.chooseGid(options.port()).best().orElse(null) : null);
    }

    /** The domain it belongs to. */
    public final ProtectionDomain domain() {
        return domain;
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
                        .query(address(), Attempt.to("ibv_query_qp", () -> "for " + this));
        enter(attributes.state());
        return attributes;
    }

    /**
     * Brings this queue pair from RESET to READY_TO_SEND, connected to {@code peer}, which must
     * connect to this one's {@link #endpoint()} likewise. Does not wait for the peer. In C: three
     * calls of {@code ibv_modify_qp}.
     *
     * @throws VerbsException if the device refuses a step; the message names both states and the
     *     attributes in question. iWARP devices connect through {@code rdma_cm} only
     */
    public final void connect(Endpoint peer) throws VerbsException {
        connect(peer, new ConnectOptions());
    }

    /**
     * Brings this queue pair from RESET to READY_TO_SEND, connected to {@code peer}. Does not wait
     * for the peer. In C: three calls of {@code ibv_modify_qp}.
     *
     * @throws IllegalArgumentException if an option is out of range; no step is gone then
     * @throws VerbsException if the device refuses a step; the message names both states and the
     *     attributes in question. iWARP devices connect through {@code rdma_cm} only
     */
    public final void connect(Endpoint peer, ConnectOptions options) throws VerbsException {
        if (device.description().transportType() == TransportType.IWARP) {
            throw new VerbsException(
                    "ibv_modify_qp",
                    "%s cannot connect by itself: an iWARP device connects through rdma_cm only."
                            .formatted(this));
        }
        var limits = device.attributes();
        var mtu = options.pathMtu().orElse(local.port.activeMtu());
        var address = options.addressOf(peer, port, route(peer, options));
        var steps = // all made before the first is gone: a number out of range leaves it in RESET
                List.of(
                        options.toInit(port),
                        options.toReadyToReceive(
                                peer, address, mtu, limits.maxReadsAsDestination()),
                        options.toReadyToSend(sendSequence, limits.maxReadsAsInitiator()));
        for (var step : steps) {
            modify(step);
        }
    }

    private Optional<AddressVector.GlobalRoute> route(Endpoint peer, ConnectOptions options)
            throws VerbsException {
        if (peer.gid().isNone()) {
            if (local.port.linkLayer() == LinkLayer.ETHERNET) {
                throw new VerbsException(
                        "ibv_modify_qp",
                        "%s cannot connect to %s: on RoCE the peer's GID is needed. Its program must send it; the C examples do with \"-g INDEX\"."
                                .formatted(this, peer));
            }
            return Optional.empty();
        }
        if (local.gid == null) {
            if (local.port.linkLayer() != LinkLayer.ETHERNET) {
                return Optional.empty(); // within one subnet the LID suffices
            }
            throw new VerbsException(
                    "ibv_modify_qp",
                    "%s has no GID to send from: the table of port %d is empty. Give its network interface an address, and see that it is up."
                            .formatted(this, port));
        }
        return Optional.of(options.route(peer.gid(), local.gid.index()));
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
            var objection = QueuePairTransition.objection(from, to, change.attributes());
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
                errno ->
                        switch (errno) {
                            case Errno.ETIMEDOUT, Errno.EHOSTUNREACH, Errno.ENETUNREACH ->
                                    "The peer's address was not found on the network.";
                            case Errno.EINVAL -> presentState(from);
                            default -> "";
                        });
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

    final VerbsException wrongState(String function, String needed) {
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
