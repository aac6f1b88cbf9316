package org.jrdma.verbs;

import java.util.Optional;
import java.util.Set;
import org.jrdma.ffi.NativeObject;
import org.jrdma.verbs.flow.Flow;
import org.jrdma.verbs.flow.FlowRule;
import org.jrdma.verbs.flow.access.FlowPackageInternals;
import org.jrdma.verbs.internal.CheckedCall;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.CompletionKind;
import org.jrdma.verbs.model.ConnectionVendorOptions;
import org.jrdma.verbs.model.DataOrder;
import org.jrdma.verbs.model.Endpoint;
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
 * A queue pair: a send queue and a receive queue. It is one end of a connection, or a source and
 * destination of datagrams or raw packets.
 *
 * <p>Owned by its {@link ProtectionDomain} or its XRC domain. Closed when its owner, its completion
 * queue or its shared receive queue is closed. Safe for use by multiple threads. In C: {@code
 * struct ibv_qp}; {@link #close()} is {@code ibv_destroy_qp}.
 */
public abstract class QueuePair extends NativeObject {

    private final NativeQueuePair queuePair;
    private final @Nullable SharedReceiveQueue sharedReceives;

    QueuePair(NativeQueuePair queuePair, @Nullable SharedReceiveQueue sharedReceives) {
        super(queuePair.address(), queuePair.lifetime());
        this.queuePair = queuePair;
        this.sharedReceives = sharedReceives;
        queuePair.device().events().register(this);
    }

    /**
     * The shared receive queue of this queue pair; empty if the queue pair has its own receive
     * queue or cannot receive.
     */
    public final Optional<SharedReceiveQueue> sharedReceives() {
        return Optional.ofNullable(sharedReceives);
    }

    /** The type of this queue pair, which is its transport service. */
    public final QueuePairType type() {
        return queuePair.type();
    }

    /** The 24-bit queue pair number. */
    public final int number() {
        return queuePair.number();
    }

    /**
     * The maximum number of bytes that can be sent inline. It is at least the number that the
     * options requested.
     */
    public final int inlineBytes() {
        return queuePair.inlineBytes();
    }

    /**
     * The GID table entry whose GID is the source address of this queue pair; empty on InfiniBand
     * unless the options specify an entry.
     */
    public final Optional<GidEntry> localGid() {
        return Optional.ofNullable(queuePair.local().entry());
    }

    /**
     * The address of this queue pair, which a peer needs to connect or to send datagrams to it.
     *
     * @throws IllegalStateException if the queue pair is closed
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
     * The state of this queue pair according to the last transition or {@link #query}. If the
     * device has detected an error since, the actual state is ERROR, which only {@code query}
     * returns.
     */
    public final QueuePairState state() {
        return queuePair.state();
    }

    /** Queries the current attributes from the device. In C: {@code ibv_query_qp}. */
    public final QueuePairAttributes query() throws VerbsException {
        return queuePair.query();
    }

    /**
     * Connects to a peer; see {@link ConnectedQueuePair#connect(Endpoint, DirectConnectOptions)}.
     *
     * @throws VerbsException if the device rejects a transition
     */
    final void connectTo(Endpoint peer, DirectConnectOptions options) throws VerbsException {
        if (queuePair.isIwarp()) {
            throw new VerbsException(
                    "ibv_modify_qp",
                    "%s cannot connect directly: iWARP devices connect only through rdma_cm."
                            .formatted(this));
        }
        var limits = queuePair.device().attributes();
        var mtu = options.pathMtu().orElse(queuePair.local().port().activeMtu());
        var address = address("ibv_modify_qp", peer.gid(), peer.lid(), options);
        // All changes are created before the first transition, so that the queue pair stays in the
        // state RESET if an option is out of range.
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

    /** Moves a raw packet queue pair from RESET to READY_TO_SEND. */
    final void activateRaw() throws VerbsException {
        modify(QueuePairChange.to(QueuePairState.INIT).port(queuePair.port()));
        modify(QueuePairChange.to(QueuePairState.READY_TO_RECEIVE));
        modify(QueuePairChange.to(QueuePairState.READY_TO_SEND));
    }

    /**
     * Creates a flow. Until the flow is closed, this queue pair receives the packets that arrive at
     * its port and match the rule. In C: {@code ibv_create_flow}.
     *
     * @throws UnsupportedOperationException if the queue pair is connected, because it then
     *     receives only from its peer
     * @throws IllegalArgumentException if the rule uses counters of another device
     * @throws VerbsException with EOPNOTSUPP if the device has no flow steering, or if it rejects
     *     the rule
     */
    public final Flow newFlow(FlowRule rule) throws VerbsException {
        if (type() != QueuePairType.RAW_PACKET && type() != QueuePairType.UNRELIABLE_DATAGRAM) {
            throw new UnsupportedOperationException(
                    "%s cannot have flows, because its type is %s. Only raw packet and datagram queue pairs can."
                            .formatted(this, type().description()));
        }
        return FlowPackageInternals.get()
                .flow(queuePair.device(), queuePair.resource(), queuePair.port(), rule);
    }

    /**
     * Returns the path from the port of this queue pair to another port.
     *
     * @param function the name of the C function that needs the path, for the exception if there is
     *     no path
     */
    final AddressVector address(String function, Gid gid, int lid, DirectConnectOptions options)
            throws VerbsException {
        return options.address(lid, queuePair.port(), route(function, gid, options));
    }

    private Optional<AddressVector.GlobalRoute> route(
            String function, Gid peer, DirectConnectOptions options) throws VerbsException {
        var local = queuePair.local();
        var isEthernet = local.port().linkLayer() == LinkLayer.ETHERNET;
        if (peer.isNone()) {
            if (isEthernet) {
                throw new VerbsException(
                        function,
                        "%s cannot reach a peer without a GID, which RoCE requires. The peer must include its GID in its endpoint; the examples of libibverbs do so with the option \"-g INDEX\"."
                                .formatted(this));
            }
            return Optional.empty();
        }
        if (local.entry() == null) {
            if (!isEthernet) {
                // A multicast group requires a GID. For other ports, the LID suffices.
                return peer.isMulticast() ? Optional.of(options.route(peer, 0)) : Optional.empty();
            }
            throw new VerbsException(
                    function,
                    "%s has no GID to send from, because the GID table of port %d is empty. Assign an IP address to its network interface and make sure that the interface is up."
                            .formatted(this, queuePair.port()));
        }
        return Optional.of(options.route(peer, local.entry().index()));
    }

    /**
     * Moves the queue pair to another state, or changes attributes in its current state. In C:
     * {@code ibv_modify_qp}.
     *
     * @throws VerbsException if there is no such state transition, a required attribute is missing,
     *     an attribute is not allowed, or the device rejects the change; the message contains the
     *     reason
     */
    public final void modify(QueuePairChange change) throws VerbsException {
        queuePair.modify(change);
    }

    /**
     * Limits the send rate. In C: {@code ibv_modify_qp_rate_limit}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support rate limits; {@link
     *     ExtendedDeviceAttributes#packetPacing} contains the supported range
     */
    public final void limitRate(RateLimit limit) throws VerbsException {
        queuePair.run(() ->
                queuePair
                        .functions()
                        .limitRate(
                                queuePair.device().context(),
                                address(),
                                limit,
                                CheckedCall.to(
                                        "ibv_modify_qp_rate_limit",
                                        () -> "for %s with %s".formatted(this, limit))));
    }

    /**
     * Queries the guarantees about the order in which the bytes of an operation are written to
     * local or remote memory. If the order is guaranteed, a reader can poll the memory instead of
     * the completion queue. In C: {@code ibv_query_qp_data_in_order}.
     *
     * @param operation SEND, WRITE, READ, ATOMIC_WRITE, COMPARE_AND_SWAP or FETCH_AND_ADD
     * @return the guarantees; empty if the device guarantees no order, or if the library does not
     *     report it
     * @throws IllegalArgumentException if {@code operation} is another operation
     */
    public final Set<DataOrder> dataOrder(CompletionKind operation) throws VerbsException {
        return queuePair.call(() -> queuePair.functions().dataOrder(address(), operation));
    }

    /**
     * Queries the enhanced connection options that the driver supports. After the options of the
     * peer have been set, returns those that both sides support. In C: {@code ibv_query_ece}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support enhanced connection
     *     options
     */
    public final ConnectionVendorOptions vendorOptions() throws VerbsException {
        return queuePair.call(() ->
                queuePair
                        .functions()
                        .queryEnhanced(
                                address(), CheckedCall.to("ibv_query_ece", () -> "for " + this)));
    }

    /**
     * Sets the enhanced connection options of the peer. Must be called before the transition to
     * {@link QueuePairState#READY_TO_RECEIVE}. In C: {@code ibv_set_ece}.
     *
     * @throws VerbsException with EOPNOTSUPP if the device does not support enhanced connection
     *     options
     */
    public final void vendorOptions(ConnectionVendorOptions options) throws VerbsException {
        queuePair.run(() ->
                queuePair
                        .functions()
                        .setEnhanced(
                                address(),
                                options,
                                CheckedCall.to(
                                        "ibv_set_ece",
                                        () -> "for %s with %s".formatted(this, options))));
    }

    final NativeQueuePair queuePair() {
        return queuePair;
    }

    /** Checks that the queue pair has a receive queue of its own. */
    final void checkHasOwnReceives() {
        if (sharedReceives != null) {
            throw new UnsupportedOperationException(
                    "%s uses the %s, so receives must be posted to that queue"
                            .formatted(this, sharedReceives));
        }
        if (type() == QueuePairType.XRC_SEND) {
            throw new UnsupportedOperationException(
                    "%s cannot receive, because its type is %s"
                            .formatted(this, type().description()));
        }
    }
}
