package org.jrdma.verbs.queue;

import static org.jrdma.verbs.model.QueuePairAttribute.*;
import static org.jrdma.verbs.model.QueuePairState.ERROR;
import static org.jrdma.verbs.model.QueuePairState.INIT;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_RECEIVE;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_SEND;
import static org.jrdma.verbs.model.QueuePairState.RESET;
import static org.jrdma.verbs.model.QueuePairState.SEND_QUEUE_DRAINED;
import static org.jrdma.verbs.model.QueuePairState.SEND_QUEUE_ERROR;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;

/**
 * The state transitions of a queue pair, with the attributes that each transition requires and
 * permits for each queue pair type. The values are from the table in the InfiniBand specification.
 *
 * <p>Two transitions have no constant, because they permit no attributes: a queue pair can change
 * to RESET from every state, and to ERROR from every state except RESET.
 */
@SuppressWarnings("ImmutableEnumChecker") // The rules are immutable.
public enum QueuePairTransitionRules {
    RESET_TO_INIT(
            RESET,
            INIT,
            reliable(required(PARTITION_KEY_INDEX, PORT, ACCESS), optional()),
            unreliable(required(PARTITION_KEY_INDEX, PORT, ACCESS), optional()),
            sending(required(PARTITION_KEY_INDEX, PORT, ACCESS), optional()),
            receiving(required(PARTITION_KEY_INDEX, PORT, ACCESS), optional()),
            datagram(required(PARTITION_KEY_INDEX, PORT, QUEUE_KEY), optional()),
            raw(required(PORT), optional())),
    INIT_TO_INIT(
            INIT,
            INIT,
            reliable(required(), optional(PARTITION_KEY_INDEX, PORT, ACCESS)),
            unreliable(required(), optional(PARTITION_KEY_INDEX, PORT, ACCESS)),
            sending(required(), optional(PARTITION_KEY_INDEX, PORT, ACCESS)),
            receiving(required(), optional(PARTITION_KEY_INDEX, PORT, ACCESS)),
            datagram(required(), optional(PARTITION_KEY_INDEX, PORT, QUEUE_KEY))),
    INIT_TO_READY_TO_RECEIVE(
            INIT,
            READY_TO_RECEIVE,
            reliable(
                    required(
                            ADDRESS,
                            PATH_MTU,
                            DESTINATION_NUMBER,
                            RECEIVE_SEQUENCE,
                            MAX_DESTINATION_READS,
                            RECEIVER_NOT_READY_TIMER),
                    optional(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
            unreliable(
                    required(ADDRESS, PATH_MTU, DESTINATION_NUMBER, RECEIVE_SEQUENCE),
                    optional(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
            sending(
                    required(ADDRESS, PATH_MTU, DESTINATION_NUMBER, RECEIVE_SEQUENCE),
                    optional(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
            receiving(
                    required(
                            ADDRESS,
                            PATH_MTU,
                            DESTINATION_NUMBER,
                            RECEIVE_SEQUENCE,
                            MAX_DESTINATION_READS,
                            RECEIVER_NOT_READY_TIMER),
                    optional(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
            datagram(required(), optional(PARTITION_KEY_INDEX, QUEUE_KEY)),
            raw(required(), optional())),
    READY_TO_RECEIVE_TO_READY_TO_SEND(
            READY_TO_RECEIVE,
            READY_TO_SEND,
            reliable(
                    required(
                            TIMEOUT, RETRIES, RECEIVER_NOT_READY_RETRIES, SEND_SEQUENCE, MAX_READS),
                    optional(
                            CURRENT_STATE,
                            ALTERNATE_PATH,
                            ACCESS,
                            RECEIVER_NOT_READY_TIMER,
                            PATH_MIGRATION_STATE,
                            RATE_LIMIT)),
            unreliable(
                    required(SEND_SEQUENCE),
                    optional(CURRENT_STATE, ALTERNATE_PATH, ACCESS, PATH_MIGRATION_STATE)),
            sending(
                    required(
                            TIMEOUT, RETRIES, RECEIVER_NOT_READY_RETRIES, SEND_SEQUENCE, MAX_READS),
                    optional(CURRENT_STATE, ALTERNATE_PATH, ACCESS, PATH_MIGRATION_STATE)),
            receiving(
                    required(TIMEOUT, SEND_SEQUENCE),
                    optional(
                            CURRENT_STATE,
                            ALTERNATE_PATH,
                            ACCESS,
                            RECEIVER_NOT_READY_TIMER,
                            PATH_MIGRATION_STATE)),
            datagram(required(SEND_SEQUENCE), optional(CURRENT_STATE, QUEUE_KEY)),
            raw(required(), optional(RATE_LIMIT))),
    READY_TO_SEND_TO_READY_TO_SEND(
            READY_TO_SEND,
            READY_TO_SEND,
            reliable(
                    required(),
                    optional(
                            CURRENT_STATE,
                            ACCESS,
                            ALTERNATE_PATH,
                            PATH_MIGRATION_STATE,
                            RECEIVER_NOT_READY_TIMER,
                            RATE_LIMIT)),
            unreliable(
                    required(),
                    optional(CURRENT_STATE, ACCESS, ALTERNATE_PATH, PATH_MIGRATION_STATE)),
            sending(
                    required(),
                    optional(CURRENT_STATE, ACCESS, ALTERNATE_PATH, PATH_MIGRATION_STATE)),
            receiving(
                    required(),
                    optional(
                            CURRENT_STATE,
                            ACCESS,
                            ALTERNATE_PATH,
                            PATH_MIGRATION_STATE,
                            RECEIVER_NOT_READY_TIMER)),
            datagram(required(), optional(CURRENT_STATE, QUEUE_KEY)),
            raw(required(), optional(RATE_LIMIT))),
    READY_TO_SEND_TO_DRAINED(
            READY_TO_SEND,
            SEND_QUEUE_DRAINED,
            reliable(required(), optional(DRAIN_NOTIFICATION)),
            unreliable(required(), optional(DRAIN_NOTIFICATION)),
            sending(required(), optional(DRAIN_NOTIFICATION)),
            receiving(required(), optional(DRAIN_NOTIFICATION)),
            datagram(required(), optional(DRAIN_NOTIFICATION))),
    DRAINED_TO_READY_TO_SEND(
            SEND_QUEUE_DRAINED,
            READY_TO_SEND,
            reliable(
                    required(),
                    optional(
                            CURRENT_STATE,
                            ALTERNATE_PATH,
                            ACCESS,
                            RECEIVER_NOT_READY_TIMER,
                            PATH_MIGRATION_STATE,
                            RATE_LIMIT)),
            unreliable(
                    required(),
                    optional(CURRENT_STATE, ALTERNATE_PATH, ACCESS, PATH_MIGRATION_STATE)),
            sending(
                    required(),
                    optional(CURRENT_STATE, ACCESS, ALTERNATE_PATH, PATH_MIGRATION_STATE)),
            receiving(
                    required(),
                    optional(
                            CURRENT_STATE,
                            ACCESS,
                            ALTERNATE_PATH,
                            PATH_MIGRATION_STATE,
                            RECEIVER_NOT_READY_TIMER)),
            datagram(required(), optional(CURRENT_STATE, QUEUE_KEY))),
    DRAINED_TO_DRAINED(
            SEND_QUEUE_DRAINED,
            SEND_QUEUE_DRAINED,
            reliable(
                    required(),
                    optional(
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
                            PATH_MIGRATION_STATE)),
            unreliable(
                    required(),
                    optional(
                            ADDRESS,
                            ALTERNATE_PATH,
                            ACCESS,
                            PARTITION_KEY_INDEX,
                            PATH_MIGRATION_STATE)),
            sending(
                    required(),
                    optional(
                            PORT,
                            ADDRESS,
                            TIMEOUT,
                            RETRIES,
                            RECEIVER_NOT_READY_RETRIES,
                            MAX_READS,
                            ALTERNATE_PATH,
                            ACCESS,
                            PARTITION_KEY_INDEX,
                            PATH_MIGRATION_STATE)),
            receiving(
                    required(),
                    optional(
                            PORT,
                            ADDRESS,
                            TIMEOUT,
                            MAX_DESTINATION_READS,
                            ALTERNATE_PATH,
                            ACCESS,
                            PARTITION_KEY_INDEX,
                            RECEIVER_NOT_READY_TIMER,
                            PATH_MIGRATION_STATE)),
            datagram(required(), optional(PARTITION_KEY_INDEX, QUEUE_KEY))),
    /**
     * The recovery from a failed send request. Only unreliable connections and datagram queue pairs
     * permit it.
     */
    SEND_QUEUE_ERROR_TO_READY_TO_SEND(
            SEND_QUEUE_ERROR,
            READY_TO_SEND,
            unreliable(required(), optional(CURRENT_STATE, ACCESS)),
            datagram(required(), optional(CURRENT_STATE, QUEUE_KEY)));

    /** The required and optional attributes of a transition for one queue pair type. */
    private record Rule(
            QueuePairType type,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {}

    private final QueuePairState from;
    private final QueuePairState to;
    private final List<Rule> rules;

    QueuePairTransitionRules(QueuePairState from, QueuePairState to, Rule... rules) {
        this.from = from;
        this.to = to;
        this.rules = List.of(rules);
    }

    /**
     * Describes how a transition violates its rule; empty if the transition is valid.
     *
     * @param attributes the attributes to change; STATE is ignored
     */
    public static Optional<String> violation(
            QueuePairType type,
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> attributes) {
        var changes = EnumSet.noneOf(QueuePairAttribute.class);
        changes.addAll(attributes);
        changes.remove(STATE);
        if (to == RESET || (to == ERROR && from != RESET)) {
            return changes.isEmpty()
                    ? Optional.empty()
                    : Optional.of("does not allow attributes, but sets " + changes);
        }
        var reachable = from == RESET ? EnumSet.of(RESET) : EnumSet.of(RESET, ERROR);
        for (var step : values()) {
            var rule = step.from == from ? step.ruleOf(type) : Optional.<Rule>empty();
            if (rule.isPresent() && step.to == to) {
                return violation(rule.get(), changes);
            }
            rule.ifPresent(_ -> reachable.add(step.to));
        }
        return Optional.of(
                "is not a valid queue pair transition; the valid target states are " + reachable);
    }

    private Optional<Rule> ruleOf(QueuePairType type) {
        return rules.stream().filter(rule -> rule.type == type).findFirst();
    }

    private static Optional<String> violation(Rule rule, Set<QueuePairAttribute> changes) {
        var missing = EnumSet.noneOf(QueuePairAttribute.class);
        missing.addAll(rule.required);
        missing.removeAll(changes);
        var illegal = EnumSet.noneOf(QueuePairAttribute.class);
        illegal.addAll(changes);
        illegal.removeAll(rule.required);
        illegal.removeAll(rule.optional);
        if (missing.isEmpty() && illegal.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(
                (missing.isEmpty() ? "" : "lacks " + missing)
                        + (missing.isEmpty() || illegal.isEmpty() ? "" : " and ")
                        + (illegal.isEmpty() ? "" : "must not change " + illegal));
    }

    private static Rule reliable(
            Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
        return new Rule(QueuePairType.RELIABLE_CONNECTION, required, optional);
    }

    private static Rule unreliable(
            Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
        return new Rule(QueuePairType.UNRELIABLE_CONNECTION, required, optional);
    }

    private static Rule sending(
            Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
        return new Rule(QueuePairType.XRC_SEND, required, optional);
    }

    private static Rule receiving(
            Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
        return new Rule(QueuePairType.XRC_RECEIVE, required, optional);
    }

    private static Rule datagram(
            Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
        return new Rule(QueuePairType.UNRELIABLE_DATAGRAM, required, optional);
    }

    private static Rule raw(Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {
        return new Rule(QueuePairType.RAW_PACKET, required, optional);
    }

    private static Set<QueuePairAttribute> required(QueuePairAttribute... attributes) {
        return Set.of(attributes);
    }

    private static Set<QueuePairAttribute> optional(QueuePairAttribute... attributes) {
        return Set.of(attributes);
    }
}
