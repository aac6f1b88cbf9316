package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.jrdma.verbs.QueuePairAttribute.ACCESS;
import static org.jrdma.verbs.QueuePairAttribute.ADDRESS;
import static org.jrdma.verbs.QueuePairAttribute.ALTERNATE_PATH;
import static org.jrdma.verbs.QueuePairAttribute.CURRENT_STATE;
import static org.jrdma.verbs.QueuePairAttribute.DESTINATION_NUMBER;
import static org.jrdma.verbs.QueuePairAttribute.DRAIN_NOTIFICATION;
import static org.jrdma.verbs.QueuePairAttribute.MAX_DESTINATION_READS;
import static org.jrdma.verbs.QueuePairAttribute.MAX_READS;
import static org.jrdma.verbs.QueuePairAttribute.PARTITION_KEY_INDEX;
import static org.jrdma.verbs.QueuePairAttribute.PATH_MIGRATION_STATE;
import static org.jrdma.verbs.QueuePairAttribute.PATH_MTU;
import static org.jrdma.verbs.QueuePairAttribute.PORT;
import static org.jrdma.verbs.QueuePairAttribute.QUEUE_KEY;
import static org.jrdma.verbs.QueuePairAttribute.RATE_LIMIT;
import static org.jrdma.verbs.QueuePairAttribute.RECEIVER_NOT_READY_RETRIES;
import static org.jrdma.verbs.QueuePairAttribute.RECEIVER_NOT_READY_TIMER;
import static org.jrdma.verbs.QueuePairAttribute.RECEIVE_SEQUENCE;
import static org.jrdma.verbs.QueuePairAttribute.RETRIES;
import static org.jrdma.verbs.QueuePairAttribute.SEND_SEQUENCE;
import static org.jrdma.verbs.QueuePairAttribute.STATE;
import static org.jrdma.verbs.QueuePairAttribute.TIMEOUT;
import static org.jrdma.verbs.QueuePairState.ERROR;
import static org.jrdma.verbs.QueuePairState.INIT;
import static org.jrdma.verbs.QueuePairState.READY_TO_RECEIVE;
import static org.jrdma.verbs.QueuePairState.READY_TO_SEND;
import static org.jrdma.verbs.QueuePairState.RESET;
import static org.jrdma.verbs.QueuePairState.SEND_QUEUE_DRAINED;
import static org.jrdma.verbs.QueuePairTransition.objection;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The table of the specification, written a second time, against the one that the SDK uses. */
class QueuePairTransitionTest {

    record Step(
            QueuePairState from,
            QueuePairState to,
            Set<QueuePairAttribute> required,
            Set<QueuePairAttribute> optional) {

        @Override
        public String toString() {
            return from + " to " + to;
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

    private static final List<Step> STEPS =
            List.of(
                    new Step(RESET, INIT, Set.of(PARTITION_KEY_INDEX, PORT, ACCESS), Set.of()),
                    new Step(INIT, INIT, Set.of(), Set.of(PARTITION_KEY_INDEX, PORT, ACCESS)),
                    new Step(
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
                    new Step(
                            READY_TO_RECEIVE,
                            READY_TO_SEND,
                            Set.of(
                                    TIMEOUT,
                                    RETRIES,
                                    RECEIVER_NOT_READY_RETRIES,
                                    SEND_SEQUENCE,
                                    MAX_READS),
                            RESUME),
                    new Step(READY_TO_SEND, READY_TO_SEND, Set.of(), RESUME),
                    new Step(
                            READY_TO_SEND,
                            SEND_QUEUE_DRAINED,
                            Set.of(),
                            Set.of(CURRENT_STATE, DRAIN_NOTIFICATION)),
                    new Step(SEND_QUEUE_DRAINED, READY_TO_SEND, Set.of(), RESUME),
                    new Step(
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
                                    PATH_MIGRATION_STATE)));

    static Stream<Step> steps() {
        return STEPS.stream();
    }

    private static EnumSet<QueuePairAttribute> union(
            Set<QueuePairAttribute> left, QueuePairAttribute... right) {
        var union = EnumSet.noneOf(QueuePairAttribute.class);
        union.addAll(left);
        union.addAll(List.of(right));
        return union;
    }

    @ParameterizedTest
    @MethodSource("steps")
    void shouldAllowAStepWithWhatItNeeds(Step step) {
        var all = union(step.required, step.optional.toArray(QueuePairAttribute[]::new));

        assertThat(objection(step.from, step.to, step.required)).isEmpty();
        assertThat(objection(step.from, step.to, union(step.required, STATE))).isEmpty();
        assertThat(objection(step.from, step.to, all)).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("steps")
    void shouldNameEachAttributeThatIsMissing(Step step) {
        for (var attribute : step.required) {
            var changes = union(step.required, STATE);
            changes.remove(attribute);

            assertThat(objection(step.from, step.to, changes))
                    .contains("misses [" + attribute + "]");
        }
    }

    @ParameterizedTest
    @MethodSource("steps")
    void shouldNameEachAttributeThatIsIllegal(Step step) {
        var legal = union(step.required, step.optional.toArray(QueuePairAttribute[]::new));
        legal.add(STATE);
        var illegal = EnumSet.complementOf(legal);

        assertThat(illegal).contains(QUEUE_KEY);
        for (var attribute : illegal) {
            assertThat(objection(step.from, step.to, union(step.required, attribute)))
                    .contains("must not change [" + attribute + "]");
        }
    }

    @Test
    void shouldNameAllThatIsMissingAndAllThatIsIllegal() {
        assertThat(objection(RESET, INIT, Set.of(PORT, TIMEOUT, PATH_MTU)))
                .contains(
                        "misses [ACCESS, PARTITION_KEY_INDEX] and must not change [PATH_MTU, TIMEOUT]");
    }

    @Test
    void shouldRefuseEveryOtherStepAndSayWhereItCanGo() {
        for (var from : QueuePairState.values()) {
            var reachable = EnumSet.of(RESET, ERROR);
            steps().filter(step -> step.from == from).forEach(step -> reachable.add(step.to));
            for (var to : EnumSet.complementOf(reachable)) {
                assertThat(objection(from, to, Set.of(STATE)))
                        .as("%s to %s", from, to)
                        .contains(
                                "is no step of a queue pair; from here it can go to " + reachable);
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldGoToResetAndToErrorFromEverywhereWithoutAttributes(QueuePairState from) {
        for (var to : List.of(RESET, ERROR)) {
            assertThat(objection(from, to, Set.of(STATE))).isEmpty();
            assertThat(objection(from, to, Set.of(STATE, PORT, ACCESS)))
                    .contains("takes no attributes; illegal: [ACCESS, PORT]");
        }
    }
}
