package org.jrdma.verbs.model;

import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.stream.Collectors;
import org.jrdma.ffi.linkage.FieldRange;
import org.jspecify.annotations.Nullable;

/**
 * What {@link org.jrdma.verbs.QueuePair#modify} changes: a state to go to, and attributes. Built by
 * its own methods, each of which names one attribute.
 */
public final class QueuePairChange {

    private final EnumSet<QueuePairAttribute> attributes = EnumSet.noneOf(QueuePairAttribute.class);

    private final boolean ofConnectionManager;
    private @Nullable QueuePairState state;
    private @Nullable QueuePairState currentState;
    private boolean drainNotification;
    private @Nullable Set<Access> access;
    private int partitionKeyIndex;
    private int port;
    private int queueKey;
    private @Nullable AddressVector address;
    private @Nullable Mtu pathMtu;
    private int destinationNumber;
    private int receiveSequence;
    private int sendSequence;
    private int maxDestinationReads;
    private int maxReads;
    private int receiverNotReadyTimer;
    private int timeout;
    private int retries;
    private int receiverNotReadyRetries;
    private @Nullable AlternatePath alternatePath;
    private @Nullable MigrationState migrationState;
    private int rateLimit;

    private QueuePairChange(boolean ofConnectionManager) {
        this.ofConnectionManager = ofConnectionManager;
    }

    /** A step to a state. */
    public static QueuePairChange to(QueuePairState state) {
        return ofAttributes().state(state);
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
        this.state = state;
        return with(QueuePairAttribute.STATE);
    }

    /** The state that the caller believes it to be in. */
    public QueuePairChange currentState(QueuePairState state) {
        this.currentState = state;
        return with(QueuePairAttribute.CURRENT_STATE);
    }

    /** Whether an event reports that the send queue has drained. */
    public QueuePairChange drainNotification(boolean wanted) {
        this.drainNotification = wanted;
        return with(QueuePairAttribute.DRAIN_NOTIFICATION);
    }

    /** The access rights of the peer. */
    public QueuePairChange access(Access... access) {
        this.access = Access.setOf(access);
        return with(QueuePairAttribute.ACCESS);
    }

    /** The access rights of the peer. */
    public QueuePairChange access(Set<Access> access) {
        this.access = Set.copyOf(access);
        return with(QueuePairAttribute.ACCESS);
    }

    /** The row of the port's partition table. */
    public QueuePairChange partitionKeyIndex(int index) {
        this.partitionKeyIndex = FieldRange.check("partition key index", index, 0, 65535);
        return with(QueuePairAttribute.PARTITION_KEY_INDEX);
    }

    /** The port, from 1. */
    public QueuePairChange port(int port) {
        this.port = FieldRange.check("port", port, 1, 255);
        return with(QueuePairAttribute.PORT);
    }

    /** The key that datagrams must carry to be received, 32 bits. */
    public QueuePairChange queueKey(int key) {
        this.queueKey = key;
        return with(QueuePairAttribute.QUEUE_KEY);
    }

    /** The way to the peer. */
    public QueuePairChange address(AddressVector address) {
        this.address = address;
        return with(QueuePairAttribute.ADDRESS);
    }

    /** The largest payload of a packet, the same on both sides. */
    public QueuePairChange pathMtu(Mtu mtu) {
        this.pathMtu = mtu;
        return with(QueuePairAttribute.PATH_MTU);
    }

    /** The peer's queue pair. */
    public QueuePairChange destinationNumber(int number) {
        this.destinationNumber = FieldRange.check("queue pair number", number, 0, 16777215);
        return with(QueuePairAttribute.DESTINATION_NUMBER);
    }

    /** The number of the first packet to come, which is the peer's send sequence. */
    public QueuePairChange receiveSequence(int sequence) {
        this.receiveSequence = FieldRange.check("packet sequence", sequence, 0, 16777215);
        return with(QueuePairAttribute.RECEIVE_SEQUENCE);
    }

    /** The number of the first packet to send. */
    public QueuePairChange sendSequence(int sequence) {
        this.sendSequence = FieldRange.check("packet sequence", sequence, 0, 16777215);
        return with(QueuePairAttribute.SEND_SEQUENCE);
    }

    /** The number of incoming reads and atomics to answer at a time. */
    public QueuePairChange maxDestinationReads(int count) {
        this.maxDestinationReads = FieldRange.check("reads", count, 0, 255);
        return with(QueuePairAttribute.MAX_DESTINATION_READS);
    }

    /**
     * How many reads and atomics to have under way; at most the peer's {@link
     * #maxDestinationReads}.
     */
    public QueuePairChange maxReads(int count) {
        this.maxReads = FieldRange.check("reads", count, 0, 255);
        return with(QueuePairAttribute.MAX_READS);
    }

    /**
     * The time that the peer must wait if no receive is posted, as a code of the specification, 0
     * to 31; 12 is 0.64 ms.
     */
    public QueuePairChange receiverNotReadyTimer(int code) {
        this.receiverNotReadyTimer = FieldRange.check("timer code", code, 0, 31);
        return with(QueuePairAttribute.RECEIVER_NOT_READY_TIMER);
    }

    /** How long to wait for an answer: 4.096 us times 2 to this, 0 to 31; 0 is for ever. */
    public QueuePairChange timeout(int exponent) {
        this.timeout = FieldRange.check("time-out exponent", exponent, 0, 31);
        return with(QueuePairAttribute.TIMEOUT);
    }

    /** How often to repeat after a time-out, 0 to 7. */
    public QueuePairChange retries(int count) {
        this.retries = FieldRange.check("retries", count, 0, 7);
        return with(QueuePairAttribute.RETRIES);
    }

    /** How often to repeat when the peer has no receive, 0 to 6; 7 is without end. */
    public QueuePairChange receiverNotReadyRetries(int count) {
        this.receiverNotReadyRetries = FieldRange.check("retries", count, 0, 7);
        return with(QueuePairAttribute.RECEIVER_NOT_READY_RETRIES);
    }

    /**
     * A second way to the peer. It is of use once both sides have one and have gone to {@link
     * MigrationState#REARM}.
     */
    public QueuePairChange alternatePath(AlternatePath path) {
        this.alternatePath = path;
        return with(QueuePairAttribute.ALTERNATE_PATH);
    }

    /** Which of two paths is used. */
    public QueuePairChange migrationState(MigrationState state) {
        this.migrationState = state;
        return with(QueuePairAttribute.PATH_MIGRATION_STATE);
    }

    /** The most to send, in kbit/s; 0 for no limit. */
    public QueuePairChange rateLimit(int kilobits) {
        this.rateLimit = kilobits;
        return with(QueuePairAttribute.RATE_LIMIT);
    }

    /** The attributes that change, including the state. */
    public Set<QueuePairAttribute> attributes() {
        return Collections.unmodifiableSet(attributes);
    }

    /** Whether the connection manager answered with these attributes. */
    public boolean isOfConnectionManager() {
        return ofConnectionManager;
    }

    /** The state to go to. */
    public QueuePairState state() {
        return present(QueuePairAttribute.STATE, state);
    }

    /** The state that the caller believes the queue pair to be in. */
    public QueuePairState currentState() {
        return present(QueuePairAttribute.CURRENT_STATE, currentState);
    }

    /** Whether an event reports that the send queue has drained; false if absent. */
    public boolean drainNotification() {
        return drainNotification;
    }

    /** The access rights of the peer. */
    public Set<Access> accessRights() {
        return present(QueuePairAttribute.ACCESS, access);
    }

    /** The row of the port's partition table; 0 if absent. */
    public int partitionKeyIndex() {
        return partitionKeyIndex;
    }

    /** The port; 0 if absent. */
    public int port() {
        return port;
    }

    /** The key that datagrams must carry; 0 if absent. */
    public int queueKey() {
        return queueKey;
    }

    /** The path to the peer. */
    public AddressVector address() {
        return present(QueuePairAttribute.ADDRESS, address);
    }

    /** The largest payload of a packet. */
    public Mtu pathMtu() {
        return present(QueuePairAttribute.PATH_MTU, pathMtu);
    }

    /** The number of the peer's queue pair; 0 if absent. */
    public int destinationNumber() {
        return destinationNumber;
    }

    /** The number of the first packet to receive; 0 if absent. */
    public int receiveSequence() {
        return receiveSequence;
    }

    /** The number of the first packet to send; 0 if absent. */
    public int sendSequence() {
        return sendSequence;
    }

    /** How many reads and atomics of the peer are answered at a time; 0 if absent. */
    public int maxDestinationReads() {
        return maxDestinationReads;
    }

    /** How many reads and atomics can be in flight; 0 if absent. */
    public int maxReads() {
        return maxReads;
    }

    /** How long a peer waits when there is no receive; 0 if absent. */
    public int receiverNotReadyTimer() {
        return receiverNotReadyTimer;
    }

    /** The timeout exponent; 0 if absent. */
    public int timeout() {
        return timeout;
    }

    /** The number of retries after a timeout; 0 if absent. */
    public int retries() {
        return retries;
    }

    /** The number of retries when the peer has no receive; 0 if absent. */
    public int receiverNotReadyRetries() {
        return receiverNotReadyRetries;
    }

    /** The second path to the peer. */
    public AlternatePath alternatePath() {
        return present(QueuePairAttribute.ALTERNATE_PATH, alternatePath);
    }

    /** Which of two paths is used. */
    public MigrationState migrationState() {
        return present(QueuePairAttribute.PATH_MIGRATION_STATE, migrationState);
    }

    /** The rate limit in kbit/s; 0 if absent. */
    public int rateLimit() {
        return rateLimit;
    }

    private static <T> T present(QueuePairAttribute attribute, @Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("The change has no " + attribute);
        }
        return value;
    }

    private QueuePairChange with(QueuePairAttribute attribute) {
        attributes.add(attribute);
        return this;
    }

    private Object value(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> state();
            case CURRENT_STATE -> currentState();
            case DRAIN_NOTIFICATION -> drainNotification();
            case ACCESS -> accessRights();
            case PARTITION_KEY_INDEX -> partitionKeyIndex();
            case PORT -> port();
            case QUEUE_KEY -> queueKey();
            case ADDRESS -> address();
            case PATH_MTU -> pathMtu();
            case DESTINATION_NUMBER -> destinationNumber();
            case RECEIVE_SEQUENCE -> receiveSequence();
            case SEND_SEQUENCE -> sendSequence();
            case MAX_DESTINATION_READS -> maxDestinationReads();
            case MAX_READS -> maxReads();
            case RECEIVER_NOT_READY_TIMER -> receiverNotReadyTimer();
            case TIMEOUT -> timeout();
            case RETRIES -> retries();
            case RECEIVER_NOT_READY_RETRIES -> receiverNotReadyRetries();
            case ALTERNATE_PATH -> alternatePath();
            case PATH_MIGRATION_STATE -> migrationState();
            case RATE_LIMIT -> rateLimit();
            case CAPACITIES -> throw new IllegalStateException("CAPACITIES cannot be changed");
        };
    }

    /** The attributes with their values, as in a message. */
    @Override
    public String toString() {
        return attributes.stream()
                .map(attribute -> attribute + "=" + value(attribute))
                .collect(Collectors.joining(", ", "{", "}"));
    }
}
