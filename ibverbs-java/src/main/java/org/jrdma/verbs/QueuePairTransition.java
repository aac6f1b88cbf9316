package org.jrdma.verbs;

import static org.jrdma.verbs.QueuePairAttribute.*;
import static org.jrdma.verbs.QueuePairState.ERROR;
import static org.jrdma.verbs.QueuePairState.INIT;
import static org.jrdma.verbs.QueuePairState.READY_TO_RECEIVE;
import static org.jrdma.verbs.QueuePairState.READY_TO_SEND;
import static org.jrdma.verbs.QueuePairState.RESET;
import static org.jrdma.verbs.QueuePairState.SEND_QUEUE_DRAINED;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;

/**
 * The steps that a reliable, connected queue pair can take, with the attributes that each must and
 * may change: the table of the InfiniBand specification.
 *
 * <p>To RESET and to ERROR it can go from everywhere, without attributes.
 */
@SuppressWarnings("ImmutableEnumChecker") // the sets are immutable
enum QueuePairTransition {
    RESET_TO_INIT(RESET, INIT, set(PARTITION_KEY_INDEX, PORT, ACCESS), set()),
    INIT_TO_INIT(INIT, INIT, set(), set(PARTITION_KEY_INDEX, PORT, ACCESS)),
    INIT_TO_READY_TO_RECEIVE(
            INIT,
            READY_TO_RECEIVE,
            set(
                    ADDRESS,
                    PATH_MTU,
                    DESTINATION_NUMBER,
                    RECEIVE_SEQUENCE,
                    MAX_DESTINATION_READS,
                    RECEIVER_NOT_READY_TIMER),
            set(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
    READY_TO_RECEIVE_TO_READY_TO_SEND(
            READY_TO_RECEIVE,
            READY_TO_SEND,
            set(TIMEOUT, RETRIES, RECEIVER_NOT_READY_RETRIES, SEND_SEQUENCE, MAX_READS),
            set(
                    CURRENT_STATE,
                    ALTERNATE_PATH,
                    ACCESS,
                    RECEIVER_NOT_READY_TIMER,
                    PATH_MIGRATION_STATE,
                    RATE_LIMIT)),
    READY_TO_SEND_TO_READY_TO_SEND(
            READY_TO_SEND,
            READY_TO_SEND,
            set(),
            set(
                    CURRENT_STATE,
                    ACCESS,
                    ALTERNATE_PATH,
                    PATH_MIGRATION_STATE,
                    RECEIVER_NOT_READY_TIMER,
                    RATE_LIMIT)),
    READY_TO_SEND_TO_DRAINED(
            READY_TO_SEND, SEND_QUEUE_DRAINED, set(), set(CURRENT_STATE, DRAIN_NOTIFICATION)),
    DRAINED_TO_READY_TO_SEND(
            SEND_QUEUE_DRAINED,
            READY_TO_SEND,
            set(),
            set(
                    CURRENT_STATE,
                    ALTERNATE_PATH,
                    ACCESS,
                    RECEIVER_NOT_READY_TIMER,
                    PATH_MIGRATION_STATE,
                    RATE_LIMIT)),
    DRAINED_TO_DRAINED(
            SEND_QUEUE_DRAINED,
            SEND_QUEUE_DRAINED,
            set(),
            set(
                    PORT,
                    ADDRESS,
                    TIMEOUT,
                    RETRIES,
                    RECEIVER_NOT_READY_RETRIES,
                    MAX_READS,
                    MAX_DESTINATION_READS,
                    ALTERNATE_PATH,
                    ACCESS,
                    PARTITION_KEY_INDEX,
                    RECEIVER_NOT_READY_TIMER,
                    PATH_MIGRATION_STATE));

    private final QueuePairState from;
    private final QueuePairState to;
    private final Set<QueuePairAttribute> required;
    private final Set<QueuePairAttribute> optional;

    QueuePairTransition(
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {
        this.from = from;
        this.to = to;
        this.required = required;
        this.optional = optional;
    }

    /**
     * What is wrong with a step, in words; empty if nothing is.
     *
     * @param attributes what is to be changed besides the state
     */
    static Optional<String> objection(
            QueuePairState from, QueuePairState to, Set<QueuePairAttribute> attributes) {
        var changes = EnumSet.noneOf(QueuePairAttribute.class);
        changes.addAll(attributes);
        changes.remove(STATE);
        if (to == RESET || to == ERROR) {
            changes.remove(CURRENT_STATE);
            return changes.isEmpty()
                    ? Optional.empty()
                    : Optional.of("takes no attributes; illegal: " + changes);
        }
        var step =
                Arrays.stream(values())
                        .filter(transition -> transition.from == from && transition.to == to)
                        .findFirst();
        if (step.isEmpty()) {
            var reachable = EnumSet.of(RESET, ERROR);
            Arrays.stream(values())
                    .filter(transition -> transition.from == from)
                    .forEach(transition -> reachable.add(transition.to));
            return Optional.of("is no step of a queue pair; from here it can go to " + reachable);
        }
        return step.get().objection(changes);
    }

    private Optional<String> objection(Set<QueuePairAttribute> changes) {
        var missing = EnumSet.noneOf(QueuePairAttribute.class);
        missing.addAll(required);
        missing.removeAll(changes);
        var illegal = EnumSet.noneOf(QueuePairAttribute.class);
        illegal.addAll(changes);
        illegal.removeAll(required);
        illegal.removeAll(optional);
        if (missing.isEmpty() && illegal.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                (missing.isEmpty() ? "" : "misses " + missing)
                        + (missing.isEmpty() || illegal.isEmpty() ? "" : " and ")
                        + (illegal.isEmpty() ? "" : "must not change " + illegal));
    }

    private static Set<QueuePairAttribute> set(QueuePairAttribute... attributes) {
        return Set.of(attributes);
    }
}
