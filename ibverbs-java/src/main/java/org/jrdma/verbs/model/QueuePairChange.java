package org.jrdma.verbs.model;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import org.jrdma.ffi.linkage.FieldRange;
import org.jrdma.verbs.QueuePair;

/**
 * What {@link QueuePair#modify} changes: a state to go to, and attributes. Built by its own
 * methods, each of which names one attribute.
 */
public final class QueuePairChange {

    private final EnumMap<QueuePairAttribute, Object> values =
            new EnumMap<>(QueuePairAttribute.class);

    private final boolean ofConnectionManager;

    private QueuePairChange(boolean ofConnectionManager) {
        this.ofConnectionManager = ofConnectionManager;
    }

    /** A step to a state. */
    public static QueuePairChange to(QueuePairState state) {
        return ofAttributes().set(QueuePairAttribute.STATE, state);
    }

    /** A change of attributes within the present state. */
    public static QueuePairChange ofAttributes() {
        return new QueuePairChange(false);
    }

    /**
     * A change whose attributes are the connection manager's answer. An iWARP device is asked for
     * it as it is: InfiniBand's table of steps is not iWARP's.
     */
    public static QueuePairChange ofConnectionManager() {
        return new QueuePairChange(true);
    }

    /** The state to go to. */
    public QueuePairChange state(QueuePairState state) {
        return set(QueuePairAttribute.STATE, state);
    }

    /** The state that the caller believes it to be in. */
    public QueuePairChange currentState(QueuePairState state) {
        return set(QueuePairAttribute.CURRENT_STATE, state);
    }

    /** Whether an event tells when the send queue has drained. */
    public QueuePairChange drainNotification(boolean wanted) {
        return set(QueuePairAttribute.DRAIN_NOTIFICATION, wanted);
    }

    /** What a peer may do. */
    public QueuePairChange access(Access... access) {
        return set(QueuePairAttribute.ACCESS, Access.setOf(access));
    }

    /** What a peer may do. */
    public QueuePairChange access(Set<Access> access) {
        return set(QueuePairAttribute.ACCESS, Set.copyOf(access));
    }

    /** The row of the port's partition table. */
    public QueuePairChange partitionKeyIndex(int index) {
        return set(
                QueuePairAttribute.PARTITION_KEY_INDEX,
                FieldRange.check("partition key index", index, 0, 65535));
    }

    /** The port, from 1. */
    public QueuePairChange port(int port) {
        return set(QueuePairAttribute.PORT, FieldRange.check("port", port, 1, 255));
    }

    /** The key that datagrams must carry to be received, 32 bits. */
    public QueuePairChange queueKey(int key) {
        return set(QueuePairAttribute.QUEUE_KEY, key);
    }

    /** The way to the peer. */
    public QueuePairChange address(AddressVector address) {
        return set(QueuePairAttribute.ADDRESS, address);
    }

    /** The largest payload of a packet, the same on both sides. */
    public QueuePairChange pathMtu(Mtu mtu) {
        return set(QueuePairAttribute.PATH_MTU, mtu);
    }

    /** The peer's queue pair. */
    public QueuePairChange destinationNumber(int number) {
        return set(
                QueuePairAttribute.DESTINATION_NUMBER,
                FieldRange.check("queue pair number", number, 0, 16777215));
    }

    /** The number of the first packet to come, which is the peer's send sequence. */
    public QueuePairChange receiveSequence(int sequence) {
        return set(
                QueuePairAttribute.RECEIVE_SEQUENCE,
                FieldRange.check("packet sequence", sequence, 0, 16777215));
    }

    /** The number of the first packet to send. */
    public QueuePairChange sendSequence(int sequence) {
        return set(
                QueuePairAttribute.SEND_SEQUENCE,
                FieldRange.check("packet sequence", sequence, 0, 16777215));
    }

    /** How many reads and atomics of the peer's to answer at a time. */
    public QueuePairChange maxDestinationReads(int count) {
        return set(
                QueuePairAttribute.MAX_DESTINATION_READS, FieldRange.check("reads", count, 0, 255));
    }

    /**
     * How many reads and atomics to have under way; at most the peer's {@link
     * #maxDestinationReads}.
     */
    public QueuePairChange maxReads(int count) {
        return set(QueuePairAttribute.MAX_READS, FieldRange.check("reads", count, 0, 255));
    }

    /**
     * How long a peer is told to wait when there is no receive, in the specification's code, 0 to
     * 31; 12 is 0.64 ms.
     */
    public QueuePairChange receiverNotReadyTimer(int code) {
        return set(
                QueuePairAttribute.RECEIVER_NOT_READY_TIMER,
                FieldRange.check("timer code", code, 0, 31));
    }

    /** How long to wait for an answer: 4.096 us times 2 to this, 0 to 31; 0 is for ever. */
    public QueuePairChange timeout(int exponent) {
        return set(
                QueuePairAttribute.TIMEOUT, FieldRange.check("time-out exponent", exponent, 0, 31));
    }

    /** How often to repeat after a time-out, 0 to 7. */
    public QueuePairChange retries(int count) {
        return set(QueuePairAttribute.RETRIES, FieldRange.check("retries", count, 0, 7));
    }

    /** How often to repeat when the peer has no receive, 0 to 6; 7 is without end. */
    public QueuePairChange receiverNotReadyRetries(int count) {
        return set(
                QueuePairAttribute.RECEIVER_NOT_READY_RETRIES,
                FieldRange.check("retries", count, 0, 7));
    }

    /**
     * A second way to the peer. It is of use once both sides have one and have gone to {@link
     * MigrationState#REARM}.
     */
    public QueuePairChange alternatePath(AlternatePath path) {
        return set(QueuePairAttribute.ALTERNATE_PATH, path);
    }

    /** Which of two paths is used. */
    public QueuePairChange migrationState(MigrationState state) {
        return set(QueuePairAttribute.PATH_MIGRATION_STATE, state);
    }

    /** The most to send, in kbit/s; 0 for no limit. */
    public QueuePairChange rateLimit(int kilobits) {
        return set(QueuePairAttribute.RATE_LIMIT, kilobits);
    }

    /** What is changed, the state included. */
    public Set<QueuePairAttribute> attributes() {
        return Collections.unmodifiableSet(values.keySet());
    }

    /** The values, each of the type that its method takes. */
    public Map<QueuePairAttribute, Object> values() {
        return Collections.unmodifiableMap(values);
    }

    /** Whether the connection manager answered with these attributes. */
    public boolean isOfConnectionManager() {
        return ofConnectionManager;
    }

    private QueuePairChange set(QueuePairAttribute attribute, Object value) {
        values.put(attribute, value);
        return this;
    }
}
