package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.EnumSet;
import java.util.Set;
import org.jrdma.verbs.model.CompletionField;
import org.jrdma.verbs.model.QueuePairChange;
import org.jrdma.verbs.model.QueuePairState;
import org.jrdma.verbs.model.QueuePairType;
import org.jrdma.verbs.queue.NativeCompletionQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void shouldRejectACapacityBelowOne(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CompletionQueueOptions.capacity(capacity))
                .withMessage(
                        "The capacity of a completion queue must be at least 1, but is "
                                + capacity);
    }

    @Test
    void shouldRejectANegativeCompletionVector() {
        var options = CompletionQueueOptions.capacity(16);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.vector(-1))
                .withMessage("The completion vector must not be negative, but is -1");
    }

    @Test
    void shouldKeepOptionsThatWereSetBefore() {
        var fields = EnumSet.of(CompletionField.BYTES, CompletionField.TIMESTAMP);
        var all =
                CompletionQueueOptions.capacity(16)
                        .fields(fields)
                        .ignoreOverrun()
                        .singleThreadedUnguarded()
                        .waitableForSolicited()
                        .vector(3);
        var reversed =
                CompletionQueueOptions.capacity(16)
                        .vector(3)
                        .waitableForSolicited()
                        .singleThreadedUnguarded()
                        .ignoreOverrun()
                        .fields(fields);

        assertThat(all.config())
                .isEqualTo(reversed.config())
                .isEqualTo(
                        new NativeCompletionQueue.Config(
                                16, true, true, 3, true, fields, true, true, null));
        assertThat(all.waitable().config())
                .isEqualTo(
                        new NativeCompletionQueue.Config(
                                16, true, false, 3, true, fields, true, true, null));
        assertThat(CompletionQueueOptions.capacity(16).config())
                .isEqualTo(
                        new NativeCompletionQueue.Config(
                                16,
                                false,
                                false,
                                0,
                                false,
                                CompletionField.STANDARD,
                                false,
                                false,
                                null));
    }

    @Test
    void shouldUseAnExtendedQueueOnlyIfAnOptionRequiresIt() {
        assertThat(baseOptions().config().extended()).isFalse();
        assertThat(baseOptions().fields()).isEqualTo(CompletionField.STANDARD);
        assertThat(baseOptions().fields(Set.of()).config().extended()).isTrue();
        assertThat(baseOptions().fields(Set.of()).fields()).isEmpty();
        assertThat(baseOptions().ignoreOverrun().config().extended()).isTrue();
        assertThat(baseOptions().ignoreOverrun().fields()).isEqualTo(CompletionField.STANDARD);
        assertThat(baseOptions().singleThreadedUnguarded().config().extended()).isTrue();
    }

    @Test
    void shouldReturnACopyAndKeepTheOptions() {
        var base = baseOptions();
        var before = base.config();

        var _ = base.waitable().vector(7).fields(Set.of()).ignoreOverrun();

        assertThat(base.config()).isEqualTo(before);
    }

    @Test
    void shouldKeepTheDefaultOptionsOfAConnection() {
        var before = DirectConnectOptions.DEFAULT.toInit(QueuePairType.RELIABLE_CONNECTION, 1);

        var changed = DirectConnectOptions.DEFAULT.partitionKeyIndex(3).access();

        assertThat(changed.toInit(QueuePairType.RELIABLE_CONNECTION, 1))
                .hasToString("{STATE=INIT, ACCESS=[], PARTITION_KEY_INDEX=3, PORT=1}");
        assertThat(DirectConnectOptions.DEFAULT.toInit(QueuePairType.RELIABLE_CONNECTION, 1))
                .hasToString(before.toString());
    }

    @Test
    void shouldKeepAQueuePairChange() {
        var change = QueuePairChange.to(QueuePairState.INIT).port(1);

        var other = change.port(2).partitionKeyIndex(3);

        assertThat(change).hasToString("{STATE=INIT, PORT=1}");
        assertThat(other).hasToString("{STATE=INIT, PARTITION_KEY_INDEX=3, PORT=2}");
    }

    private static CompletionQueueOptions baseOptions() {
        return CompletionQueueOptions.capacity(16).waitableForSolicited().vector(3);
    }
}
