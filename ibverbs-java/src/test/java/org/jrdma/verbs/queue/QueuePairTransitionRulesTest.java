package org.jrdma.verbs.queue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.model.QueuePairAttribute.ACCESS;
import static org.jrdma.verbs.model.QueuePairAttribute.ADDRESS;
import static org.jrdma.verbs.model.QueuePairAttribute.ALTERNATE_PATH;
import static org.jrdma.verbs.model.QueuePairAttribute.CAPACITIES;
import static org.jrdma.verbs.model.QueuePairAttribute.CURRENT_STATE;
import static org.jrdma.verbs.model.QueuePairAttribute.DESTINATION_NUMBER;
import static org.jrdma.verbs.model.QueuePairAttribute.DRAIN_NOTIFICATION;
import static org.jrdma.verbs.model.QueuePairAttribute.MAX_DESTINATION_READS;
import static org.jrdma.verbs.model.QueuePairAttribute.MAX_READS;
import static org.jrdma.verbs.model.QueuePairAttribute.PARTITION_KEY_INDEX;
import static org.jrdma.verbs.model.QueuePairAttribute.PATH_MIGRATION_STATE;
import static org.jrdma.verbs.model.QueuePairAttribute.PATH_MTU;
import static org.jrdma.verbs.model.QueuePairAttribute.PORT;
import static org.jrdma.verbs.model.QueuePairAttribute.QUEUE_KEY;
import static org.jrdma.verbs.model.QueuePairAttribute.RATE_LIMIT;
import static org.jrdma.verbs.model.QueuePairAttribute.RECEIVER_NOT_READY_RETRIES;
import static org.jrdma.verbs.model.QueuePairAttribute.RECEIVER_NOT_READY_TIMER;
import static org.jrdma.verbs.model.QueuePairAttribute.RECEIVE_SEQUENCE;
import static org.jrdma.verbs.model.QueuePairAttribute.RETRIES;
import static org.jrdma.verbs.model.QueuePairAttribute.SEND_SEQUENCE;
import static org.jrdma.verbs.model.QueuePairAttribute.STATE;
import static org.jrdma.verbs.model.QueuePairAttribute.TIMEOUT;
import static org.jrdma.verbs.model.QueuePairState.ERROR;
import static org.jrdma.verbs.model.QueuePairState.INIT;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_RECEIVE;
import static org.jrdma.verbs.model.QueuePairState.READY_TO_SEND;
import static org.jrdma.verbs.model.QueuePairState.RESET;
import static org.jrdma.verbs.model.QueuePairState.SEND_QUEUE_DRAINED;
import static org.jrdma.verbs.model.QueuePairState.SEND_QUEUE_ERROR;
import static org.jrdma.verbs.model.QueuePairType.RAW_PACKET;
import static org.jrdma.verbs.model.QueuePairType.RELIABLE_CONNECTION;
import static org.jrdma.verbs.model.QueuePairType.UNRELIABLE_CONNECTION;
import static org.jrdma.verbs.model.QueuePairType.UNRELIABLE_DATAGRAM;
import static org.jrdma.verbs.model.QueuePairType.XRC_RECEIVE;
import static org.jrdma.verbs.model.QueuePairType.XRC_SEND;
import static org.jrdma.verbs.queue.QueuePairTransitionRules.violation;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jrdma.verbs.model.QueuePairAttribute;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the transition table of the SDK with a second transcription of the specification. */
class QueuePairTransitionRulesTest {

    record Transition(
            QueuePairType type,
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {

        @Override
        public String toString() {
            return type + " " + from + " to " + to;
        }
    }

    private static final Set<QueuePairAttribute> RESUME =
            Set.of(
                    CURRENT_STATE,
                    ACCESS,
                    ALTERNATE_PATH,
                    PATH_MIGRATION_STATE,
                    RECEIVER_NOT_READY_TIMER,
                    RATE_LIMIT);

    private static final Set<QueuePairAttribute> RESUME_SENDING =
            Set.of(CURRENT_STATE, ACCESS, ALTERNATE_PATH, PATH_MIGRATION_STATE);

    private static final Set<QueuePairAttribute> RESUME_RECEIVING =
            Set.of(
                    CURRENT_STATE,
                    ACCESS,
                    ALTERNATE_PATH,
                    PATH_MIGRATION_STATE,
                    RECEIVER_NOT_READY_TIMER);

    private static final List<Transition> TRANSITIONS =
            List.of(
                    new Transition(
                            RELIABLE_CONNECTION,
                            RESET,
                            INIT,
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS),
                            Set.of()),
                    new Transition(
                            RELIABLE_CONNECTION,
                            INIT,
                            INIT,
                            Set.of(),
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS)),
                    new Transition(
                            RELIABLE_CONNECTION,
                            INIT,
                            READY_TO_RECEIVE,
                            Set.of(
                                    ADDRESS,
                                    PATH_MTU,
                                    DESTINATION_NUMBER,
                                    RECEIVE_SEQUENCE,
                                    MAX_DESTINATION_READS,
                                    RECEIVER_NOT_READY_TIMER),
                            Set.of(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
                    new Transition(
                            RELIABLE_CONNECTION,
                            READY_TO_RECEIVE,
                            READY_TO_SEND,
                            Set.of(
                                    TIMEOUT,
                                    RETRIES,
                                    RECEIVER_NOT_READY_RETRIES,
                                    SEND_SEQUENCE,
                                    MAX_READS),
                            RESUME),
                    new Transition(
                            RELIABLE_CONNECTION, READY_TO_SEND, READY_TO_SEND, Set.of(), RESUME),
                    new Transition(
                            RELIABLE_CONNECTION,
                            READY_TO_SEND,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(DRAIN_NOTIFICATION)),
                    new Transition(
                            RELIABLE_CONNECTION,
                            SEND_QUEUE_DRAINED,
                            READY_TO_SEND,
                            Set.of(),
                            RESUME),
                    new Transition(
                            RELIABLE_CONNECTION,
                            SEND_QUEUE_DRAINED,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(
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
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            RESET,
                            INIT,
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS),
                            Set.of()),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            INIT,
                            INIT,
                            Set.of(),
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS)),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            INIT,
                            READY_TO_RECEIVE,
                            Set.of(ADDRESS, PATH_MTU, DESTINATION_NUMBER, RECEIVE_SEQUENCE),
                            Set.of(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            READY_TO_RECEIVE,
                            READY_TO_SEND,
                            Set.of(SEND_SEQUENCE),
                            Set.of(CURRENT_STATE, ACCESS, ALTERNATE_PATH, PATH_MIGRATION_STATE)),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            READY_TO_SEND,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(CURRENT_STATE, ACCESS, ALTERNATE_PATH, PATH_MIGRATION_STATE)),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            READY_TO_SEND,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(DRAIN_NOTIFICATION)),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            SEND_QUEUE_DRAINED,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(CURRENT_STATE, ACCESS, ALTERNATE_PATH, PATH_MIGRATION_STATE)),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            SEND_QUEUE_DRAINED,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(
                                    ADDRESS,
                                    ALTERNATE_PATH,
                                    ACCESS,
                                    PARTITION_KEY_INDEX,
                                    PATH_MIGRATION_STATE)),
                    new Transition(
                            UNRELIABLE_CONNECTION,
                            SEND_QUEUE_ERROR,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(CURRENT_STATE, ACCESS)),
                    new Transition(
                            XRC_SEND,
                            RESET,
                            INIT,
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS),
                            Set.of()),
                    new Transition(
                            XRC_SEND,
                            INIT,
                            INIT,
                            Set.of(),
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS)),
                    new Transition(
                            XRC_SEND,
                            INIT,
                            READY_TO_RECEIVE,
                            Set.of(ADDRESS, PATH_MTU, DESTINATION_NUMBER, RECEIVE_SEQUENCE),
                            Set.of(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
                    new Transition(
                            XRC_SEND,
                            READY_TO_RECEIVE,
                            READY_TO_SEND,
                            Set.of(
                                    TIMEOUT,
                                    RETRIES,
                                    RECEIVER_NOT_READY_RETRIES,
                                    SEND_SEQUENCE,
                                    MAX_READS),
                            RESUME_SENDING),
                    new Transition(
                            XRC_SEND, READY_TO_SEND, READY_TO_SEND, Set.of(), RESUME_SENDING),
                    new Transition(
                            XRC_SEND,
                            READY_TO_SEND,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(DRAIN_NOTIFICATION)),
                    new Transition(
                            XRC_SEND, SEND_QUEUE_DRAINED, READY_TO_SEND, Set.of(), RESUME_SENDING),
                    new Transition(
                            XRC_SEND,
                            SEND_QUEUE_DRAINED,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(
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
                    new Transition(
                            XRC_RECEIVE,
                            RESET,
                            INIT,
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS),
                            Set.of()),
                    new Transition(
                            XRC_RECEIVE,
                            INIT,
                            INIT,
                            Set.of(),
                            Set.of(PARTITION_KEY_INDEX, PORT, ACCESS)),
                    new Transition(
                            XRC_RECEIVE,
                            INIT,
                            READY_TO_RECEIVE,
                            Set.of(
                                    ADDRESS,
                                    PATH_MTU,
                                    DESTINATION_NUMBER,
                                    RECEIVE_SEQUENCE,
                                    MAX_DESTINATION_READS,
                                    RECEIVER_NOT_READY_TIMER),
                            Set.of(ALTERNATE_PATH, ACCESS, PARTITION_KEY_INDEX)),
                    new Transition(
                            XRC_RECEIVE,
                            READY_TO_RECEIVE,
                            READY_TO_SEND,
                            Set.of(TIMEOUT, SEND_SEQUENCE),
                            RESUME_RECEIVING),
                    new Transition(
                            XRC_RECEIVE, READY_TO_SEND, READY_TO_SEND, Set.of(), RESUME_RECEIVING),
                    new Transition(
                            XRC_RECEIVE,
                            READY_TO_SEND,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(DRAIN_NOTIFICATION)),
                    new Transition(
                            XRC_RECEIVE,
                            SEND_QUEUE_DRAINED,
                            READY_TO_SEND,
                            Set.of(),
                            RESUME_RECEIVING),
                    new Transition(
                            XRC_RECEIVE,
                            SEND_QUEUE_DRAINED,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(
                                    PORT,
                                    ADDRESS,
                                    TIMEOUT,
                                    MAX_DESTINATION_READS,
                                    RECEIVER_NOT_READY_TIMER,
                                    ALTERNATE_PATH,
                                    ACCESS,
                                    PARTITION_KEY_INDEX,
                                    PATH_MIGRATION_STATE)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            RESET,
                            INIT,
                            Set.of(PARTITION_KEY_INDEX, PORT, QUEUE_KEY),
                            Set.of()),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            INIT,
                            INIT,
                            Set.of(),
                            Set.of(PARTITION_KEY_INDEX, PORT, QUEUE_KEY)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            INIT,
                            READY_TO_RECEIVE,
                            Set.of(),
                            Set.of(PARTITION_KEY_INDEX, QUEUE_KEY)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            READY_TO_RECEIVE,
                            READY_TO_SEND,
                            Set.of(SEND_SEQUENCE),
                            Set.of(CURRENT_STATE, QUEUE_KEY)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            READY_TO_SEND,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(CURRENT_STATE, QUEUE_KEY)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            READY_TO_SEND,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(DRAIN_NOTIFICATION)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            SEND_QUEUE_DRAINED,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(CURRENT_STATE, QUEUE_KEY)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            SEND_QUEUE_DRAINED,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(PARTITION_KEY_INDEX, QUEUE_KEY)),
                    new Transition(
                            UNRELIABLE_DATAGRAM,
                            SEND_QUEUE_ERROR,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(CURRENT_STATE, QUEUE_KEY)),
                    new Transition(RAW_PACKET, RESET, INIT, Set.of(PORT), Set.of()),
                    new Transition(RAW_PACKET, INIT, READY_TO_RECEIVE, Set.of(), Set.of()),
                    new Transition(
                            RAW_PACKET,
                            READY_TO_RECEIVE,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(RATE_LIMIT)),
                    new Transition(
                            RAW_PACKET,
                            READY_TO_SEND,
                            READY_TO_SEND,
                            Set.of(),
                            Set.of(RATE_LIMIT)));

    static Stream<Transition> transitions() {
        return TRANSITIONS.stream();
    }

    private static EnumSet<QueuePairAttribute> union(
            Set<QueuePairAttribute> left, QueuePairAttribute... right) {
        var union = EnumSet.noneOf(QueuePairAttribute.class);
        union.addAll(left);
        union.addAll(List.of(right));
        return union;
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void shouldAllowATransitionWithItsRequiredAttributes(Transition transition) {
        var all =
                union(transition.required, transition.optional.toArray(QueuePairAttribute[]::new));

        assertThat(violation(transition.type, transition.from, transition.to, transition.required))
                .isEmpty();
        assertThat(
                        violation(
                                transition.type,
                                transition.from,
                                transition.to,
                                union(transition.required, STATE)))
                .isEmpty();
        assertThat(violation(transition.type, transition.from, transition.to, all)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void shouldReportEachMissingAttribute(Transition transition) {
        for (var attribute : transition.required) {
            var changes = union(transition.required, STATE);
            changes.remove(attribute);

            assertThat(violation(transition.type, transition.from, transition.to, changes))
                    .contains("lacks [" + attribute + "]");
        }
    }

    @ParameterizedTest
    @MethodSource("transitions")
    void shouldReportEachInvalidAttribute(Transition transition) {
        var legal =
                union(transition.required, transition.optional.toArray(QueuePairAttribute[]::new));
        legal.add(STATE);
        var illegal = EnumSet.complementOf(legal);

        assertThat(illegal).contains(CAPACITIES);
        for (var attribute : illegal) {
            assertThat(
                            violation(
                                    transition.type,
                                    transition.from,
                                    transition.to,
                                    union(transition.required, attribute)))
                    .contains("must not change [" + attribute + "]");
        }
    }

    @Test
    void shouldReportAllMissingAndInvalidAttributes() {
        assertThat(violation(RELIABLE_CONNECTION, RESET, INIT, Set.of(PORT, TIMEOUT, PATH_MTU)))
                .contains(
                        "lacks [ACCESS, PARTITION_KEY_INDEX] and must not change [PATH_MTU, TIMEOUT]");
    }

    @ParameterizedTest
    @EnumSource
    void shouldRejectEveryOtherTransitionAndReportTheAllowedOnes(QueuePairType type) {
        for (var from : QueuePairState.values()) {
            var reachable = from == RESET ? EnumSet.of(RESET) : EnumSet.of(RESET, ERROR);
            transitions()
                    .filter(transition -> transition.type == type && transition.from == from)
                    .forEach(transition -> reachable.add(transition.to));
            for (var to : EnumSet.complementOf(reachable)) {
                assertThat(violation(type, from, to, Set.of(STATE)))
                        .as("%s to %s", from, to)
                        .contains(
                                "is not a valid queue pair transition; the valid target states are "
                                        + reachable);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAllowResetAndErrorFromEveryState(QueuePairState from) {
        for (var type : QueuePairType.values()) {
            for (var to : from == RESET ? List.of(RESET) : List.of(RESET, ERROR)) {
                assertThat(violation(type, from, to, Set.of(STATE))).isEmpty();
                assertThat(violation(type, from, to, Set.of(STATE, PORT, ACCESS)))
                        .contains("does not allow attributes, but sets [ACCESS, PORT]");
            }
        }
    }
}
