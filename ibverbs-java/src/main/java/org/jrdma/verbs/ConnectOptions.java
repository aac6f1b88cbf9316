package org.jrdma.verbs;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.Mtu;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.model.StaticRate;
import org.jspecify.annotations.Nullable;

/**
 * How {@link ConnectedQueuePair#connect} connects. The defaults are those of the C examples, but
 * for the MTU, which is the port's. Time-outs, retries and reads are for reliable connections;
 * unreliable ones have none. Built by its own methods.
 */
public final class ConnectOptions {

    private @Nullable Mtu pathMtu;
    private int timeout = 14;
    private int retries = 7;
    private int receiverNotReadyRetries = 7;
    private int receiverNotReadyTimer = 12;
    private int maxReads = 16;
    private int maxDestinationReads = 16;
    private int serviceLevel;
    private int hopLimit = 64;
    private int trafficClass;
    private int flowLabel;
    private int partitionKeyIndex;
    private Set<Access> access =
            EnumSet.of(
                    Access.LOCAL_WRITE,
                    Access.REMOTE_WRITE,
                    Access.REMOTE_READ,
                    Access.REMOTE_ATOMIC);

    /** The defaults. */
    public ConnectOptions() {}

    /**
     * The largest payload of a packet, the same on both sides. By default what the local port's
     * link allows.
     */
    public ConnectOptions pathMtu(Mtu mtu) {
        this.pathMtu = mtu;
        return this;
    }

    /**
     * How long to wait for an answer: 4.096 us times 2 to this, 0 to 31; 0 is for ever. 14 by
     * default, that is 67 ms.
     */
    public ConnectOptions timeout(int exponent) {
        this.timeout = exponent;
        return this;
    }

    /** How often to repeat after a time-out, 0 to 7. 7 by default. */
    public ConnectOptions retries(int count) {
        this.retries = count;
        return this;
    }

    /** How often to repeat when the peer has no receive, 0 to 6; 7, the default, is without end. */
    public ConnectOptions receiverNotReadyRetries(int count) {
        this.receiverNotReadyRetries = count;
        return this;
    }

    /**
     * How long the peer is told to wait when there is no receive here, in the specification's code.
     * 12 by default, that is 0.64 ms.
     */
    public ConnectOptions receiverNotReadyTimer(int code) {
        this.receiverNotReadyTimer = code;
        return this;
    }

    /**
     * How many reads and atomics to have under way; at most what the peer answers at a time. 16 by
     * default, or what the device can.
     */
    public ConnectOptions maxReads(int count) {
        this.maxReads = count;
        return this;
    }

    /**
     * How many reads and atomics of the peer's to answer at a time. 16 by default, or what the
     * device can.
     */
    public ConnectOptions maxDestinationReads(int count) {
        this.maxDestinationReads = count;
        return this;
    }

    /** The priority in an InfiniBand subnet, 0 to 15. */
    public ConnectOptions serviceLevel(int level) {
        this.serviceLevel = level;
        return this;
    }

    /** How many routers may be passed. 64 by default. */
    public ConnectOptions hopLimit(int limit) {
        this.hopLimit = limit;
        return this;
    }

    /** The priority beyond the subnet, as in IP's type of service. */
    public ConnectOptions trafficClass(int value) {
        this.trafficClass = value;
        return this;
    }

    /** A hint to routers, 20 bits. */
    public ConnectOptions flowLabel(int label) {
        this.flowLabel = label;
        return this;
    }

    /** The row of the port's partition table. */
    public ConnectOptions partitionKeyIndex(int index) {
        this.partitionKeyIndex = index;
        return this;
    }

    /** What the peer may do, as far as the region allows it too. By default everything. */
    public ConnectOptions access(Access... access) {
        this.access = Access.setOf(access);
        return this;
    }

    Optional<Mtu> pathMtu() {
        return Optional.ofNullable(pathMtu);
    }

    QueuePairChange toInit(QueuePairType type, int port) {
        return QueuePairChange.to(QueuePairState.INIT)
                .partitionKeyIndex(partitionKeyIndex)
                .port(port)
                .access(accessOf(type));
    }

    /** What a peer can do on a queue pair of that type, of what it may do. */
    private Set<Access> accessOf(QueuePairType type) {
        return switch (type) {
            case RELIABLE_CONNECTION, XRC_RECEIVE -> access;
            case XRC_SEND -> Set.of();
            case UNRELIABLE_CONNECTION, UNRELIABLE_DATAGRAM, RAW_PACKET -> {
                var possible = EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_WRITE);
                possible.retainAll(access);
                yield possible;
            }
        };
    }

    QueuePairChange toReadyToReceive(
            QueuePairType type, Endpoint peer, AddressVector address, Mtu mtu, int deviceReads) {
        var change =
                QueuePairChange.to(QueuePairState.READY_TO_RECEIVE)
                        .address(address)
                        .pathMtu(mtu)
                        .destinationNumber(peer.queuePairNumber())
                        .receiveSequence(peer.packetSequence());
        return switch (type) {
            case RELIABLE_CONNECTION, XRC_RECEIVE ->
                    change.maxDestinationReads(Math.min(maxDestinationReads, deviceReads))
                            .receiverNotReadyTimer(receiverNotReadyTimer);
            case UNRELIABLE_CONNECTION, UNRELIABLE_DATAGRAM, RAW_PACKET, XRC_SEND -> change;
        };
    }

    QueuePairChange toReadyToSend(QueuePairType type, int sequence, int deviceReads) {
        var change = QueuePairChange.to(QueuePairState.READY_TO_SEND).sendSequence(sequence);
        return switch (type) {
            case RELIABLE_CONNECTION, XRC_SEND ->
                    change.timeout(timeout)
                            .retries(retries)
                            .receiverNotReadyRetries(receiverNotReadyRetries)
                            .maxReads(Math.min(maxReads, deviceReads));
            case XRC_RECEIVE -> change.timeout(timeout);
            case UNRELIABLE_CONNECTION, UNRELIABLE_DATAGRAM, RAW_PACKET -> change;
        };
    }

    AddressVector address(int lid, int port, Optional<AddressVector.GlobalRoute> route) {
        return new AddressVector(port, lid, serviceLevel, 0, StaticRate.UNLIMITED, route);
    }

    AddressVector.GlobalRoute route(Gid destination, int sourceGidIndex) {
        return new AddressVector.GlobalRoute(
                destination, sourceGidIndex, flowLabel, hopLimit, trafficClass);
    }
}
