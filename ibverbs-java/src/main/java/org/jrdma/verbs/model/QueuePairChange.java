package org.jrdma.verbs.model;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Set;
import java.util.stream.Collectors;
import org.jrdma.ffi.linkage.RangeChecks;

/**
 * A modification for {@link org.jrdma.verbs.QueuePair#modify}: a state to change to, and
 * attributes. Each of the builder methods sets one attribute. The getter of an absent attribute
 * returns 0 if the attribute is a number, returns false if it is a flag, and throws
 * IllegalStateException otherwise.
 */
public final class QueuePairChange {

    private final EnumMap<QueuePairAttribute, Object> values =
            new EnumMap<>(QueuePairAttribute.class);
    private final boolean fromConnectionManager;

    private QueuePairChange(boolean fromConnectionManager) {
        this.fromConnectionManager = fromConnectionManager;
    }

    /** Creates a change to another state. */
    public static QueuePairChange to(QueuePairState state) {
        return ofAttributes().state(state);
    }

    /** Creates a change of attributes without a state transition. */
    public static QueuePairChange ofAttributes() {
        return new QueuePairChange(false);
    }

    /**
     * Creates a change whose attributes come from the connection manager. For an iWARP device it is
     * not validated against InfiniBand's table of state transitions, because that table does not
     * apply to iWARP.
     */
    public static QueuePairChange fromConnectionManager() {
        return new QueuePairChange(true);
    }

    /** Sets the state to change to. */
    public QueuePairChange state(QueuePairState state) {
        return with(QueuePairAttribute.STATE, state);
    }

    /** Sets the state in which the caller expects the queue pair to be. */
    public QueuePairChange currentState(QueuePairState state) {
        return with(QueuePairAttribute.CURRENT_STATE, state);
    }

    /** Sets the option to report by an event that the send queue has drained. */
    public QueuePairChange drainNotification(boolean wanted) {
        return with(QueuePairAttribute.DRAIN_NOTIFICATION, wanted);
    }

    /** Sets the access rights of the peer. */
    public QueuePairChange access(Access... access) {
        return with(QueuePairAttribute.ACCESS, Access.setOf(access));
    }

    /** Sets the access rights of the peer. */
    public QueuePairChange access(Set<Access> access) {
        return with(QueuePairAttribute.ACCESS, Set.copyOf(access));
    }

    /** Sets the index into the port's partition table. */
    public QueuePairChange partitionKeyIndex(int index) {
        return with(
                QueuePairAttribute.PARTITION_KEY_INDEX,
                RangeChecks.check("partition key index", index, 0, 65535));
    }

    /** Sets the port, from 1. */
    public QueuePairChange port(int port) {
        return with(QueuePairAttribute.PORT, RangeChecks.check("port", port, 1, 255));
    }

    /** Sets the key that datagrams must carry to be received, 32 bits. */
    public QueuePairChange queueKey(int key) {
        return with(QueuePairAttribute.QUEUE_KEY, key);
    }

    /** Sets the path to the peer. */
    public QueuePairChange address(AddressVector address) {
        return with(QueuePairAttribute.ADDRESS, address);
    }

    /** Sets the maximum payload of a packet, which must be the same on both sides. */
    public QueuePairChange pathMtu(Mtu mtu) {
        return with(QueuePairAttribute.PATH_MTU, mtu);
    }

    /** Sets the queue pair number of the peer. */
    public QueuePairChange destinationNumber(int number) {
        return with(
                QueuePairAttribute.DESTINATION_NUMBER,
                RangeChecks.check("queue pair number", number, 0, 16777215));
    }

    /**
     * Sets the sequence number of the first packet to receive, which is the peer's send sequence.
     */
    public QueuePairChange receiveSequence(int sequence) {
        return with(
                QueuePairAttribute.RECEIVE_SEQUENCE,
                RangeChecks.check("packet sequence", sequence, 0, 16777215));
    }

    /** Sets the sequence number of the first packet to send. */
    public QueuePairChange sendSequence(int sequence) {
        return with(
                QueuePairAttribute.SEND_SEQUENCE,
                RangeChecks.check("packet sequence", sequence, 0, 16777215));
    }

    /** Sets the maximum number of reads and atomics from the peer to process concurrently. */
    public QueuePairChange maxDestinationReads(int count) {
        return with(
                QueuePairAttribute.MAX_DESTINATION_READS,
                RangeChecks.check("reads", count, 0, 255));
    }

    /**
     * Sets the maximum number of reads and atomics in flight; at most the peer's {@link
     * #maxDestinationReads}.
     */
    public QueuePairChange maxReads(int count) {
        return with(QueuePairAttribute.MAX_READS, RangeChecks.check("reads", count, 0, 255));
    }

    /**
     * Sets the time that the peer must wait if no receive is posted, as a code of the
     * specification, 0 to 31; 12 is 0.64 ms.
     */
    public QueuePairChange receiverNotReadyTimer(int code) {
        return with(
                QueuePairAttribute.RECEIVER_NOT_READY_TIMER,
                RangeChecks.check("timer code", code, 0, 31));
    }

    /** Sets the acknowledgement timeout: 4.096 us times 2 to this, 0 to 31; 0 waits forever. */
    public QueuePairChange timeout(int exponent) {
        return with(
                QueuePairAttribute.TIMEOUT, RangeChecks.check("timeout exponent", exponent, 0, 31));
    }

    /** Sets the number of retries after a timeout, 0 to 7. */
    public QueuePairChange retries(int count) {
        return with(QueuePairAttribute.RETRIES, RangeChecks.check("retries", count, 0, 7));
    }

    /** Sets the number of retries if the peer has no receive posted, 0 to 6; 7 retries forever. */
    public QueuePairChange receiverNotReadyRetries(int count) {
        return with(
                QueuePairAttribute.RECEIVER_NOT_READY_RETRIES,
                RangeChecks.check("retries", count, 0, 7));
    }

    /**
     * Sets an alternate path to the peer. It takes effect when both sides have an alternate path
     * and have changed to {@link MigrationState#REARM}.
     */
    public QueuePairChange alternatePath(AlternatePath path) {
        return with(QueuePairAttribute.ALTERNATE_PATH, path);
    }

    /** Sets the path migration state. */
    public QueuePairChange migrationState(MigrationState state) {
        return with(QueuePairAttribute.PATH_MIGRATION_STATE, state);
    }

    /** Sets the maximum sending rate in kbit/s; 0 for no limit. */
    public QueuePairChange rateLimit(int kilobits) {
        return with(QueuePairAttribute.RATE_LIMIT, kilobits);
    }

    /** The attributes that change, including the state. */
    public Set<QueuePairAttribute> attributes() {
        return Collections.unmodifiableSet(values.keySet());
    }

    /** Returns true if the attributes come from the connection manager. */
    public boolean isFromConnectionManager() {
        return fromConnectionManager;
    }

    /** The state to change to. */
    public QueuePairState state() {
        return (QueuePairState) present(QueuePairAttribute.STATE);
    }

    /** The state in which the caller expects the queue pair to be. */
    public QueuePairState currentState() {
        return (QueuePairState) present(QueuePairAttribute.CURRENT_STATE);
    }

    /** Returns true if an event reports that the send queue has drained; false if absent. */
    public boolean drainNotification() {
        return Boolean.TRUE.equals(values.get(QueuePairAttribute.DRAIN_NOTIFICATION));
    }

    /** The access rights of the peer. */
    @SuppressWarnings("unchecked") // set by access() only
    public Set<Access> accessRights() {
        return (Set<Access>) present(QueuePairAttribute.ACCESS);
    }

    /** The index into the port's partition table; 0 if absent. */
    public int partitionKeyIndex() {
        return number(QueuePairAttribute.PARTITION_KEY_INDEX);
    }

    /** The port; 0 if absent. */
    public int port() {
        return number(QueuePairAttribute.PORT);
    }

    /** The key that datagrams must carry; 0 if absent. */
    public int queueKey() {
        return number(QueuePairAttribute.QUEUE_KEY);
    }

    /** The path to the peer. */
    public AddressVector address() {
        return (AddressVector) present(QueuePairAttribute.ADDRESS);
    }

    /** The maximum payload of a packet. */
    public Mtu pathMtu() {
        return (Mtu) present(QueuePairAttribute.PATH_MTU);
    }

    /** The queue pair number of the peer; 0 if absent. */
    public int destinationNumber() {
        return number(QueuePairAttribute.DESTINATION_NUMBER);
    }

    /** The sequence number of the first packet to receive; 0 if absent. */
    public int receiveSequence() {
        return number(QueuePairAttribute.RECEIVE_SEQUENCE);
    }

    /** The sequence number of the first packet to send; 0 if absent. */
    public int sendSequence() {
        return number(QueuePairAttribute.SEND_SEQUENCE);
    }

    /**
     * The maximum number of reads and atomics from the peer processed concurrently; 0 if absent.
     */
    public int maxDestinationReads() {
        return number(QueuePairAttribute.MAX_DESTINATION_READS);
    }

    /** The maximum number of reads and atomics in flight; 0 if absent. */
    public int maxReads() {
        return number(QueuePairAttribute.MAX_READS);
    }

    /** The code of the time that the peer must wait if no receive is posted; 0 if absent. */
    public int receiverNotReadyTimer() {
        return number(QueuePairAttribute.RECEIVER_NOT_READY_TIMER);
    }

    /** The exponent of the acknowledgement timeout; 0 if absent. */
    public int timeout() {
        return number(QueuePairAttribute.TIMEOUT);
    }

    /** The number of retries after a timeout; 0 if absent. */
    public int retries() {
        return number(QueuePairAttribute.RETRIES);
    }

    /** The number of retries if the peer has no receive posted; 0 if absent. */
    public int receiverNotReadyRetries() {
        return number(QueuePairAttribute.RECEIVER_NOT_READY_RETRIES);
    }

    /** The alternate path to the peer. */
    public AlternatePath alternatePath() {
        return (AlternatePath) present(QueuePairAttribute.ALTERNATE_PATH);
    }

    /** The path migration state. */
    public MigrationState migrationState() {
        return (MigrationState) present(QueuePairAttribute.PATH_MIGRATION_STATE);
    }

    /** The rate limit in kbit/s; 0 if absent. */
    public int rateLimit() {
        return number(QueuePairAttribute.RATE_LIMIT);
    }

    private Object present(QueuePairAttribute attribute) {
        var value = values.get(attribute);
        if (value == null) {
            throw new IllegalStateException("The change does not set " + attribute);
        }
        return value;
    }

    private int number(QueuePairAttribute attribute) {
        return (int) values.getOrDefault(attribute, 0);
    }

    private QueuePairChange with(QueuePairAttribute attribute, Object value) {
        values.put(attribute, value);
        return this;
    }

    /** Formats the attributes and their values for messages. */
    @Override
    public String toString() {
        return values.entrySet().stream()
                .map(entry -> entry.getKey() + "=" + entry.getValue())
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
