package org.jrdma.verbs.model;

import java.time.Duration;
import java.util.Collections;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jrdma.ffi.CheckReturnValue;
import org.jrdma.ffi.linkage.FieldRangeChecks;
import org.jspecify.annotations.Nullable;

/**
 * A modification for {@link org.jrdma.verbs.QueuePair#modify}: a set of attributes with their new
 * values, which may include the state. Immutable: each method with a parameter returns a copy that
 * also sets one attribute, and each method without parameters returns the value of one attribute.
 * If the attribute is not set, the latter methods return 0 for a number, return false for a flag,
 * and throw IllegalStateException for other types.
 */
@CheckReturnValue
public final class QueuePairChange {

    private static final Duration MAX_RECEIVER_NOT_READY_TIMER = Duration.ofNanos(655_360_000);

    private final boolean fromConnectionManager;
    private final EnumSet<QueuePairAttribute> attributes;

    /** The values of the attributes that are numbers. The other attributes have fields. */
    private final EnumMap<QueuePairAttribute, Integer> numbers;

    private @Nullable QueuePairState state;
    private @Nullable QueuePairState currentState;
    private boolean drainNotification;
    private @Nullable Set<Access> accessRights;
    private @Nullable AddressVector address;
    private @Nullable Mtu pathMtu;
    private @Nullable Duration receiverNotReadyTimer;
    private @Nullable Duration acknowledgeTimeout;
    private @Nullable AlternatePath alternatePath;
    private @Nullable MigrationState migrationState;

    private QueuePairChange(boolean fromConnectionManager) {
        this.fromConnectionManager = fromConnectionManager;
        attributes = EnumSet.noneOf(QueuePairAttribute.class);
        numbers = new EnumMap<>(QueuePairAttribute.class);
    }

    private QueuePairChange(QueuePairChange other) {
        fromConnectionManager = other.fromConnectionManager;
        attributes = other.attributes.clone();
        numbers = other.numbers.clone();
        state = other.state;
        currentState = other.currentState;
        drainNotification = other.drainNotification;
        accessRights = other.accessRights;
        address = other.address;
        pathMtu = other.pathMtu;
        receiverNotReadyTimer = other.receiverNotReadyTimer;
        acknowledgeTimeout = other.acknowledgeTimeout;
        alternatePath = other.alternatePath;
        migrationState = other.migrationState;
    }

    private QueuePairChange with(Consumer<QueuePairChange> change) {
        var copy = new QueuePairChange(this);
        change.accept(copy);
        return copy;
    }

    private QueuePairChange with(QueuePairAttribute attribute, Consumer<QueuePairChange> change) {
        return with(copy -> {
            copy.attributes.add(attribute);
            change.accept(copy);
        });
    }

    private QueuePairChange with(QueuePairAttribute attribute, int number) {
        return with(attribute, copy -> copy.numbers.put(attribute, number));
    }

    /** Creates a change that moves the queue pair to a state. */
    public static QueuePairChange to(QueuePairState state) {
        return ofAttributes().state(state);
    }

    /**
     * Creates an empty change. Without {@link #state(QueuePairState)}, it changes attributes and
     * leaves the queue pair in its current state.
     */
    public static QueuePairChange ofAttributes() {
        return new QueuePairChange(false);
    }

    /**
     * Creates an empty change for attributes that the connection manager supplies. For an iWARP
     * device, the change is not checked against the InfiniBand table of state transitions, because
     * that table does not apply to iWARP.
     */
    public static QueuePairChange fromConnectionManager() {
        return new QueuePairChange(true);
    }

    /** Sets the state to which the queue pair is moved. */
    public QueuePairChange state(QueuePairState state) {
        return with(QueuePairAttribute.STATE, copy -> copy.state = state);
    }

    /** Sets the state in which the caller expects the queue pair to be. */
    public QueuePairChange currentState(QueuePairState state) {
        return with(QueuePairAttribute.CURRENT_STATE, copy -> copy.currentState = state);
    }

    /** Selects whether the device raises an event when the send queue has drained. */
    public QueuePairChange drainNotification(boolean wanted) {
        return with(QueuePairAttribute.DRAIN_NOTIFICATION, copy -> copy.drainNotification = wanted);
    }

    /** Sets the access rights of the peer. */
    public QueuePairChange access(Access... access) {
        return access(Access.setOf(access));
    }

    /** Sets the access rights of the peer. */
    public QueuePairChange access(Set<Access> access) {
        var rights = Collections.unmodifiableSet(Access.setOf(access.toArray(Access[]::new)));
        return with(QueuePairAttribute.ACCESS, copy -> copy.accessRights = rights);
    }

    /** Sets the index of the P_Key in the partition table of the port. */
    public QueuePairChange partitionKeyIndex(int index) {
        return with(
                QueuePairAttribute.PARTITION_KEY_INDEX,
                FieldRangeChecks.check("partition key index", index, 0, 65535));
    }

    /** Sets the number of the device port, starting at 1. */
    public QueuePairChange port(int port) {
        return with(QueuePairAttribute.PORT, FieldRangeChecks.check("port", port, 1, 255));
    }

    /** Sets the 32-bit queue key that received datagrams must contain. */
    public QueuePairChange queueKey(int key) {
        return with(QueuePairAttribute.QUEUE_KEY, key);
    }

    /** Sets the path to the peer. */
    public QueuePairChange address(AddressVector address) {
        return with(QueuePairAttribute.ADDRESS, copy -> copy.address = address);
    }

    /** Sets the maximum payload of a packet, which must be the same on both sides. */
    public QueuePairChange pathMtu(Mtu mtu) {
        return with(QueuePairAttribute.PATH_MTU, copy -> copy.pathMtu = mtu);
    }

    /** Sets the queue pair number of the peer. */
    public QueuePairChange destinationNumber(int number) {
        return with(
                QueuePairAttribute.DESTINATION_NUMBER,
                FieldRangeChecks.check("queue pair number", number, 0, 16777215));
    }

    /**
     * Sets the sequence number of the first packet to receive, which is the peer's {@link
     * #sendSequence}.
     */
    public QueuePairChange receiveSequence(int sequence) {
        return with(
                QueuePairAttribute.RECEIVE_SEQUENCE,
                FieldRangeChecks.check("packet sequence", sequence, 0, 16777215));
    }

    /** Sets the sequence number of the first packet to send. */
    public QueuePairChange sendSequence(int sequence) {
        return with(
                QueuePairAttribute.SEND_SEQUENCE,
                FieldRangeChecks.check("packet sequence", sequence, 0, 16777215));
    }

    /**
     * Sets the maximum number of reads and atomics from the peer that the queue pair processes
     * concurrently.
     */
    public QueuePairChange maxDestinationReads(int count) {
        return with(
                QueuePairAttribute.MAX_DESTINATION_READS,
                FieldRangeChecks.check("reads", count, 0, 255));
    }

    /**
     * Sets the maximum number of reads and atomics that the queue pair can have in flight as
     * requester. The number must not exceed the peer's {@link #maxDestinationReads}.
     */
    public QueuePairChange maxReads(int count) {
        return with(QueuePairAttribute.MAX_READS, FieldRangeChecks.check("reads", count, 0, 255));
    }

    /**
     * Sets the time that the peer must wait before it retries a message for which this side had no
     * receive. The time is rounded up as {@link
     * org.jrdma.verbs.DirectConnectOptions#receiverNotReadyTimer} describes.
     *
     * @throws IllegalArgumentException if the duration is zero, negative, or longer than 655.36 ms
     */
    public QueuePairChange receiverNotReadyTimer(Duration timer) {
        checkPositive("receiver-not-ready timer", timer);
        if (timer.compareTo(MAX_RECEIVER_NOT_READY_TIMER) > 0) {
            throw new IllegalArgumentException(
                    "The receiver-not-ready timer must be at most 655.36 ms: " + timer);
        }
        return with(
                QueuePairAttribute.RECEIVER_NOT_READY_TIMER,
                copy -> copy.receiverNotReadyTimer = timer);
    }

    /**
     * Sets the time after which a request that the peer has not acknowledged is retransmitted. The
     * time is rounded up as {@link org.jrdma.verbs.DirectConnectOptions#acknowledgeTimeout}
     * describes; a time of more than 8,796 s, such as {@link
     * java.time.temporal.ChronoUnit#FOREVER}, disables the timeout.
     *
     * @throws IllegalArgumentException if the duration is zero or negative
     */
    public QueuePairChange acknowledgeTimeout(Duration timeout) {
        checkPositive("acknowledgement timeout", timeout);
        return with(QueuePairAttribute.TIMEOUT, copy -> copy.acknowledgeTimeout = timeout);
    }

    static void checkPositive(String name, Duration duration) {
        if (!duration.isPositive()) {
            throw new IllegalArgumentException(
                    "The %s must be positive: %s".formatted(name, duration));
        }
    }

    /** Sets the maximum number of retries after an acknowledgement timeout, from 0 to 7. */
    public QueuePairChange retries(int count) {
        return with(QueuePairAttribute.RETRIES, FieldRangeChecks.check("retries", count, 0, 7));
    }

    /**
     * Sets the maximum number of retries of a message for which the peer has no receive, from 0 to
     * 6; 7 means no limit.
     */
    public QueuePairChange receiverNotReadyRetries(int count) {
        return with(
                QueuePairAttribute.RECEIVER_NOT_READY_RETRIES,
                FieldRangeChecks.check("retries", count, 0, 7));
    }

    /**
     * Sets an alternate path to the peer. The queue pair can use the path only after both sides
     * have set an alternate path and changed their path migration state to {@link
     * MigrationState#REARM}.
     */
    public QueuePairChange alternatePath(AlternatePath path) {
        return with(QueuePairAttribute.ALTERNATE_PATH, copy -> copy.alternatePath = path);
    }

    /** Sets the path migration state. */
    public QueuePairChange migrationState(MigrationState state) {
        return with(QueuePairAttribute.PATH_MIGRATION_STATE, copy -> copy.migrationState = state);
    }

    /** Sets the maximum sending rate in kbit/s; 0 for no limit. */
    public QueuePairChange rateLimit(int kilobits) {
        return with(QueuePairAttribute.RATE_LIMIT, kilobits);
    }

    /** The attributes that this change sets, including the state. */
    public Set<QueuePairAttribute> attributes() {
        return Collections.unmodifiableSet(attributes);
    }

    /** Returns true if the connection manager supplied the attributes. */
    public boolean isFromConnectionManager() {
        return fromConnectionManager;
    }

    /** The state to which the queue pair is moved. */
    public QueuePairState state() {
        return present(QueuePairAttribute.STATE, state);
    }

    /** The state in which the caller expects the queue pair to be. */
    public QueuePairState currentState() {
        return present(QueuePairAttribute.CURRENT_STATE, currentState);
    }

    /**
     * Returns true if the device raises an event when the send queue has drained; false if the
     * attribute is not set.
     */
    public boolean drainNotification() {
        return drainNotification;
    }

    /** The access rights of the peer. */
    public Set<Access> accessRights() {
        return present(QueuePairAttribute.ACCESS, accessRights);
    }

    /** The index of the P_Key in the partition table of the port; 0 if not set. */
    public int partitionKeyIndex() {
        return number(QueuePairAttribute.PARTITION_KEY_INDEX);
    }

    /** The number of the device port; 0 if not set. */
    public int port() {
        return number(QueuePairAttribute.PORT);
    }

    /** The queue key that received datagrams must contain; 0 if not set. */
    public int queueKey() {
        return number(QueuePairAttribute.QUEUE_KEY);
    }

    /** The path to the peer. */
    public AddressVector address() {
        return present(QueuePairAttribute.ADDRESS, address);
    }

    /** The maximum payload of a packet. */
    public Mtu pathMtu() {
        return present(QueuePairAttribute.PATH_MTU, pathMtu);
    }

    /** The remote queue pair number; 0 if not set. */
    public int destinationNumber() {
        return number(QueuePairAttribute.DESTINATION_NUMBER);
    }

    /** The sequence number of the first packet to receive; 0 if not set. */
    public int receiveSequence() {
        return number(QueuePairAttribute.RECEIVE_SEQUENCE);
    }

    /** The sequence number of the first packet to send; 0 if not set. */
    public int sendSequence() {
        return number(QueuePairAttribute.SEND_SEQUENCE);
    }

    /**
     * The maximum number of reads and atomics from the peer that the queue pair processes
     * concurrently; 0 if not set.
     */
    public int maxDestinationReads() {
        return number(QueuePairAttribute.MAX_DESTINATION_READS);
    }

    /**
     * The maximum number of reads and atomics that the queue pair can have in flight as requester;
     * 0 if not set.
     */
    public int maxReads() {
        return number(QueuePairAttribute.MAX_READS);
    }

    /**
     * The time that the peer must wait before it retries a message for which this side had no
     * receive.
     */
    public Duration receiverNotReadyTimer() {
        return present(QueuePairAttribute.RECEIVER_NOT_READY_TIMER, receiverNotReadyTimer);
    }

    /** The acknowledgement timeout. */
    public Duration acknowledgeTimeout() {
        return present(QueuePairAttribute.TIMEOUT, acknowledgeTimeout);
    }

    /** The maximum number of retries after an acknowledgement timeout; 0 if not set. */
    public int retries() {
        return number(QueuePairAttribute.RETRIES);
    }

    /**
     * The maximum number of retries of a message for which the peer has no receive; 0 if not set.
     */
    public int receiverNotReadyRetries() {
        return number(QueuePairAttribute.RECEIVER_NOT_READY_RETRIES);
    }

    /** The alternate path to the peer. */
    public AlternatePath alternatePath() {
        return present(QueuePairAttribute.ALTERNATE_PATH, alternatePath);
    }

    /** The path migration state. */
    public MigrationState migrationState() {
        return present(QueuePairAttribute.PATH_MIGRATION_STATE, migrationState);
    }

    /** The maximum sending rate in kbit/s; 0 if not set. */
    public int rateLimit() {
        return number(QueuePairAttribute.RATE_LIMIT);
    }

    private static <T> T present(QueuePairAttribute attribute, @Nullable T value) {
        if (value == null) {
            throw new IllegalStateException("The change does not set " + attribute);
        }
        return value;
    }

    private int number(QueuePairAttribute attribute) {
        return numbers.getOrDefault(attribute, 0);
    }

    /** Formats the attributes and their values for messages. */
    @Override
    public String toString() {
        return attributes.stream()
                .map(attribute -> attribute + "=" + value(attribute))
                .collect(Collectors.joining(", ", "{", "}"));
    }

    private Object value(QueuePairAttribute attribute) {
        return switch (attribute) {
            case STATE -> state();
            case CURRENT_STATE -> currentState();
            case DRAIN_NOTIFICATION -> drainNotification;
            case ACCESS -> accessRights();
            case ADDRESS -> address();
            case PATH_MTU -> pathMtu();
            case RECEIVER_NOT_READY_TIMER -> receiverNotReadyTimer();
            case TIMEOUT -> acknowledgeTimeout();
            case ALTERNATE_PATH -> alternatePath();
            case PATH_MIGRATION_STATE -> migrationState();
            default -> number(attribute);
        };
    }
}
