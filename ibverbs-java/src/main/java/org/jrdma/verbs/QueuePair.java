package org.jrdma.verbs;

import java.util.Optional;
import java.util.Set;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.flow.Flow;
import org.jrdma.verbs.flow.FlowRule;
import org.jrdma.verbs.flow.access.FlowAccess;
import org.jrdma.verbs.internal.Attempt;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.DataOrder;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.EnhancedOptions;
import org.jrdma.verbs.model.ExtendedDeviceAttributes;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GidEntry;
import org.jrdma.verbs.model.LinkLayer;
import org.jrdma.verbs.model.QueuePairAttributes;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.RateLimit;
import org.jrdma.verbs.model.VerbsException;
import org.jrdma.verbs.queue.NativeQueuePair;
import org.jspecify.annotations.Nullable;

/**
 * A send queue and a receive queue: one end of a connection, or a source and a destination of
 * datagrams.
 *
 * <p>Owned by its {@link ProtectionDomain} or its XRC domain, and closed with it or with its
 * completion queue. Safe for use by multiple threads. In C: {@code struct ibv_qp}; {@link #close()}
 * is {@code ibv_destroy_qp}.
 */
public abstract class QueuePair extends NativeObject {

    private final NativeQueuePair queuePair;
    private final @Nullable SharedReceiveQueue sharedReceives;

    /** The native queue pair that a new object stands for. Only this module can make one. */
    public static final class Handle {

        private final NativeQueuePair queuePair;

        Handle(NativeQueuePair queuePair) {
            this.queuePair = queuePair;
        }
    }

    /** For the queue pairs of this module. */
    @SuppressWarnings("this-escape") // it is announced when it is complete
    protected QueuePair(Handle handle) {
        this(handle.queuePair, null);
    }

    QueuePair(NativeQueuePair queuePair, @Nullable SharedReceiveQueue sharedReceives) {
        super(queuePair.address(), queuePair.lifetime());
        this.queuePair = queuePair;
        this.sharedReceives = sharedReceives;
        queuePair.device().events().announce(this);
    }

    /** The shared receive queue that it receives from, if it has no receive queue of its own. */
    public final Optional<SharedReceiveQueue> sharedReceives() {
        return Optional.ofNullable(sharedReceives);
    }

    /** The transport service: its guarantees, and the number of peers that it can reach. */
    public final QueuePairType type() {
        return queuePair.type();
    }

    /** The number by which peers know it, 24 bits. */
    public final int number() {
        return queuePair.number();
    }

    /** How many bytes can be sent inline; the device may allow more than was asked for. */
    public final int inlineBytes() {
        return queuePair.inlineBytes();
    }

    /**
     * The row of the GID table that it sends from; empty on InfiniBand, unless one was asked for.
     */
    public final Optional<GidEntry> localGid() {
        return Optional.ofNullable(queuePair.local().entry());
    }

    /**
     * The address that a peer needs before both connect.
     *
     * @throws IllegalStateException if it is closed
     */
    public final Endpoint endpoint() {
        checkOpen();
        return new Endpoint(
                queuePair.local().port().lid(),
                number(),
                queuePair.sendSequence(),
                queuePair.local().gid());
    }

    private void checkOpen() {
        if (!isOpen()) {
            throw lifetime().closedException();
        }
    }

    /**
     * The state that it was last brought to or seen in. A device that finds an error may have moved
     * it to ERROR since; {@link #query} asks the device.
     */
    public final QueuePairState state() {
        return queuePair.state();
    }

    /** Asks the device for the attributes. In C: {@code ibv_query_qp}. */
    public final QueuePairAttributes query() throws VerbsException {
        return queuePair.query();
    }

    /**
     * Connects to a peer; see {@link ConnectedQueuePair#connect(Endpoint, ConnectOptions)}.
     *
     * @throws VerbsException if the device refuses a step
     */
    protected final void connectTo(Endpoint peer, ConnectOptions options) throws VerbsException {
        if (queuePair.isWarp()) {
            throw new VerbsException(
                    "ibv_modify_qp",
                    "%s cannot connect by itself: an iWARP device connects through rdma_cm only."
                            .formatted(this));
        }
        var limits = queuePair.device().attributes();
        var mtu = options.pathMtu().orElse(queuePair.local().port().activeMtu());
        var address = address("ibv_modify_qp", peer.gid(), peer.lid(), options);
        // Both are made before the first step: an option out of range leaves the state RESET.
        var toInit = options.toInit(type(), queuePair.port());
        var toReceive =
                options.toReadyToReceive(
                        type(), peer, address, mtu, limits.maxReadsAsDestination());
        var toSend =
                options.toReadyToSend(
                        type(), queuePair.sendSequence(), limits.maxReadsAsInitiator());
        modify(toInit);
        modify(toReceive);
        modify(toSend);
    }

    /** The steps of a queue pair of raw packets from RESET to READY_TO_SEND. */
    final void activateRaw() throws VerbsException {
        modify(QueuePairChange.to(QueuePairState.INIT).port(queuePair.port()));
        modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        modify(QueuePairChange.to(QueuePairState.READY_TO_SEND));
    }

    /**
     * Receives packets of its port that match a rule, until the flow is closed. In C: {@code
     * ibv_create_flow}.
     *
     * @throws UnsupportedOperationException if it is connected, and receives from its peer only
     * @throws IllegalArgumentException if the rule counts by counters of another device
     * @throws VerbsException with EOPNOTSUPP if the device has no flow steering, or if it refuses
     *     the rule
     */
    public final Flow newFlow(FlowRule rule) throws VerbsException {
        if (type() != QueuePairType.RAW_PACKET && type() != QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new UnsupportedOperationException(
                    "%s is of the type %s, which has no flows; raw packets and datagrams have"
                            .formatted(this, type().description()));
        }
        return FlowAccess.get()
                .flow(queuePair.device(), queuePair.resource(), queuePair.port(), rule);
    }

    /**
     * The path from the port of this queue pair to another port.
     *
     * @param function the function that needs the path, for the message if there is none
     */
    final AddressVector address(String function, Gid gid, int lid, ConnectOptions options)
            throws VerbsException {
        return options.address(lid, queuePair.port(), route(function, gid, options));
    }

    private Optional<AddressVector.GlobalRoute> route(
            String function, Gid peer, ConnectOptions options) throws VerbsException {
        var local = queuePair.local();
        var isEthernet = local.port().linkLayer() == LinkLayer.ETHERNET;
        if (peer.isNone()) {
            if (isEthernet) {
                throw new VerbsException(
                        function,
                        "%s cannot reach a peer without a GID: on RoCE the peer's GID is needed. Its program must send it; the C examples do with \"-g INDEX\"."
                                .formatted(this));
            }
            return Optional.empty();
        }
        if (local.entry() == null) {
            if (!isEthernet) {
                return peer.isMulticast()
                        ? Optional.of(options.route(peer, 0)) // a group has no other name
                        : Optional.empty(); // within one subnet the LID suffices
            }
            throw new VerbsException(
                    function,
                    "%s has no GID to send from: the table of port %d is empty. Give its network interface an address, and see that it is up."
                            .formatted(this, queuePair.port()));
        }
        return Optional.of(options.route(peer, local.entry().index()));
    }

    /**
     * Makes a step of the state machine, or changes attributes. In C: {@code ibv_modify_qp}.
     *
     * @throws VerbsException if there is no such step, an attribute is missing or does not belong
     *     to it, or the device refuses it; the message says which
     */
    public final void modify(QueuePairChange change) throws VerbsException {
        queuePair.modify(change);
    }

    /**
     * Limits the rate at which it sends from now on. In C: {@code ibv_modify_qp_rate_limit}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device has no such limits; those that it has
     *     are in {@link ExtendedDeviceAttributes#packetPacing}
     */
    public final void limitRate(RateLimit limit) throws VerbsException {
        queuePair.run(() ->
                queuePair
                        .functions()
                        .limitRate(
                                queuePair.device().context(),
                                address(),
                                limit,
                                Attempt.to(
                                        "ibv_modify_qp_rate_limit",
                                        () -> "for %s with %s".formatted(this, limit))));
    }

    /**
     * The order in which the bytes of an operation reach the memory that they are for, of this side
     * or the peer's: with a known order, a reader can poll the memory instead of the completion
     * queue. In C: {@code ibv_query_qp_data_in_order}.
     *
     * @param operation SEND, WRITE, READ, ATOMIC_WRITE, COMPARE_AND_SWAP or FETCH_AND_ADD
     * @return what is guaranteed; empty if there is no guarantee, or if the library does not report
     *     it
     * @throws IllegalArgumentException if it is another operation
     */
    public final Set<DataOrder> dataOrder(CompletionKind operation) throws VerbsException {
        return queuePair.call(() -> queuePair.functions().dataOrder(address(), operation));
    }

    /**
     * What the driver offers beyond the specification or, once the options of the peer were set,
     * what both have. In C: {@code ibv_query_ece}.
     *
     * @throws VerbsException with EOPNOTSUPP if it has no such options
     */
    public final EnhancedOptions enhancedOptions() throws VerbsException {
        return queuePair.call(() ->
                queuePair
                        .functions()
                        .queryEnhanced(
                                address(), Attempt.to("ibv_query_ece", () -> "for " + this)));
    }

    /**
     * Sets what the peer offers beyond the specification, before it is {@linkplain
     * QueuePairState#READY_TO_RECEIVE ready to receive}. In C: {@code ibv_set_ece}.
     *
     * @throws VerbsException with EOPNOTSUPP if it has no such options
     */
    public final void enhancedOptions(EnhancedOptions options) throws VerbsException {
        queuePair.run(() ->
                queuePair
                        .functions()
                        .setEnhanced(
                                address(),
                                options,
                                Attempt.to(
                                        "ibv_set_ece",
                                        () -> "for %s with %s".formatted(this, options))));
    }

    final NativeQueuePair queuePair() {
        return queuePair;
    }

    /** Refuses a receive of its own, if it has none. */
    final void refuseIfShared() {
        if (sharedReceives != null) {
            throw new UnsupportedOperationException(
                    "%s has its receives from the %s; post them there"
                            .formatted(this, sharedReceives));
        }
        if (type() == QueuePairType.XRC_SEND) {
            throw new UnsupportedOperationException(
                    "%s is of the type %s, which receives nothing"
                            .formatted(this, type().description()));
        }
    }
}
