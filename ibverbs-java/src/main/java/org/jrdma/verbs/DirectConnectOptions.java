package org.jrdma.verbs;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jrdma.verbs.internal.DurationCodes;
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
 * Options of {@link ConnectedQueuePair#connect}. The default timeouts and retry counts are those of
 * the {@code ibv_rc_pingpong} example in C. Timeouts, retry counts and limits of reads apply only
 * to reliable connections. Immutable: each method returns a changed copy.
 */
@CheckReturnValue
public final class DirectConnectOptions {

    /** The default options. */
    public static final DirectConnectOptions DEFAULT = new DirectConnectOptions();

    private static final int MAX_RETRIES = 7;

    private @Nullable Mtu pathMtu;
    private Duration acknowledgeTimeout = Duration.ofNanos(4_096L << 14);
    private int retries = MAX_RETRIES;
    private int receiverNotReadyRetries = MAX_RETRIES;
    private Duration receiverNotReadyTimer = Duration.ofNanos(640_000);
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

    private DirectConnectOptions() {}

    private DirectConnectOptions(DirectConnectOptions other) {
        pathMtu = other.pathMtu;
        acknowledgeTimeout = other.acknowledgeTimeout;
        retries = other.retries;
        receiverNotReadyRetries = other.receiverNotReadyRetries;
        receiverNotReadyTimer = other.receiverNotReadyTimer;
        maxReads = other.maxReads;
        maxDestinationReads = other.maxDestinationReads;
        serviceLevel = other.serviceLevel;
        hopLimit = other.hopLimit;
        trafficClass = other.trafficClass;
        flowLabel = other.flowLabel;
        partitionKeyIndex = other.partitionKeyIndex;
        access = other.access;
    }

    private DirectConnectOptions with(Consumer<DirectConnectOptions> change) {
        var copy = new DirectConnectOptions(this);
        change.accept(copy);
        return copy;
    }

    /**
     * Sets the path MTU, the maximum payload of a packet. It must be the same on both sides. The
     * default is the active MTU of the local port.
     */
    public DirectConnectOptions pathMtu(Mtu mtu) {
        return with(copy -> copy.pathMtu = mtu);
    }

    /**
     * Sets the time after which the queue pair retransmits packets that the peer has not
     * acknowledged; 67.1 ms by default. The time is rounded up to a value that the protocol can
     * represent: 4.096 us times a power of two, from 8.2 us to 8,796 s. A longer time disables the
     * timeout.
     *
     * @throws IllegalArgumentException if the duration is zero or negative
     */
    public DirectConnectOptions acknowledgeTimeout(Duration timeout) {
        DurationCodes.acknowledgeTimeout(timeout); // Throws if the timeout is invalid.
        return with(copy -> copy.acknowledgeTimeout = timeout);
    }

    /**
     * Sets the number of retransmissions after the {@link #acknowledgeTimeout}, from 0 to 7; 7 by
     * default. After the last retransmission, the request fails.
     */
    public DirectConnectOptions retries(int count) {
        return with(copy -> copy.retries = checkRetries(count));
    }

    /**
     * Sets the number of times that a message is sent again if the peer has no receive request for
     * it. The number is 0 to 6, or 7 for no limit; 7 by default.
     */
    public DirectConnectOptions receiverNotReadyRetries(int count) {
        return with(copy -> copy.receiverNotReadyRetries = checkRetries(count));
    }

    private static int checkRetries(int count) {
        return FieldRangeChecks.check("number of retries", count, 0, MAX_RETRIES);
    }

    /**
     * Sets the time that the peer waits before it retransmits a message for which this side had no
     * receive request: 0.64 ms by default, 655.36 ms at most. The time is rounded up to a value
     * that the protocol can represent: 0.01 ms, 0.02 ms, 0.03 ms, 0.04 ms, 0.06 ms, and so on. From
     * 0.02 ms on, each value is at most 50% above the previous value.
     *
     * @throws IllegalArgumentException if the duration is zero, negative, or longer than 655.36 ms
     */
    public DirectConnectOptions receiverNotReadyTimer(Duration timer) {
        DurationCodes.receiverNotReadyTimer(timer); // Throws if the time is invalid.
        return with(copy -> copy.receiverNotReadyTimer = timer);
    }

    /**
     * Sets the maximum number of outstanding reads and atomics that this queue pair sends to the
     * peer. The number must not exceed the peer's {@link #maxDestinationReads}. The default is 16
     * or the limit of the device, whichever is lower.
     */
    public DirectConnectOptions maxReads(int count) {
        return with(copy -> copy.maxReads = count);
    }

    /**
     * Sets the maximum number of outstanding reads and atomics that this queue pair accepts from
     * the peer. The default is 16 or the limit of the device, whichever is lower.
     */
    public DirectConnectOptions maxDestinationReads(int count) {
        return with(copy -> copy.maxDestinationReads = count);
    }

    /**
     * Sets the service level, which is the priority within an InfiniBand subnet: from 0 to 15; 0 by
     * default.
     */
    public DirectConnectOptions serviceLevel(int level) {
        return with(copy -> copy.serviceLevel = level);
    }

    /** Sets the hop limit, the maximum number of routers on the path; 64 by default. */
    public DirectConnectOptions hopLimit(int limit) {
        return with(copy -> copy.hopLimit = limit);
    }

    /**
     * Sets the traffic class, which is the priority across subnets and corresponds to the type of
     * service in IP; 0 by default.
     */
    public DirectConnectOptions trafficClass(int value) {
        return with(copy -> copy.trafficClass = value);
    }

    /** Sets the flow label, a 20-bit hint to routers; 0 by default. */
    public DirectConnectOptions flowLabel(int label) {
        return with(copy -> copy.flowLabel = label);
    }

    /** Sets the index of the P_Key in the partition table of the port; 0 by default. */
    public DirectConnectOptions partitionKeyIndex(int index) {
        return with(copy -> copy.partitionKeyIndex = index);
    }

    /**
     * Sets the access rights of the peer. For each access, the peer needs the right both here and
     * in the memory region that it accesses. The default is LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ
     * and REMOTE_ATOMIC.
     */
    public DirectConnectOptions access(Access... access) {
        return with(copy -> copy.access = Access.setOf(access));
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

    /**
     * The access rights of the peer, without the rights that queue pairs of the given type do not
     * support.
     */
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
                    change.acknowledgeTimeout(acknowledgeTimeout)
                            .retries(retries)
                            .receiverNotReadyRetries(receiverNotReadyRetries)
                            .maxReads(Math.min(maxReads, deviceReads));
            case XRC_RECEIVE -> change.acknowledgeTimeout(acknowledgeTimeout);
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
