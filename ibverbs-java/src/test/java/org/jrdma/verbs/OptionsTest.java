package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import org.jrdma.verbs.model.CompletionField;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class OptionsTest {

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void shouldRefuseACompletionQueueWithoutRoom(int capacity) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CompletionQueueOptions.capacity(capacity))
                .withMessage("A completion queue has room for at least one: " + capacity);
    }

    @Test
    void shouldRefuseANegativeCompletionVector() {
        var options = CompletionQueueOptions.capacity(16);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> options.onVector(-1))
                .withMessage("Completion vectors count from 0: -1");
    }

    @Test
    void shouldKeepWhatWasChosenBefore() {
        var fields = EnumSet.of(CompletionField.BYTES, CompletionField.TIMESTAMP);
        var all =
                CompletionQueueOptions.capacity(16)
                        .telling(fields)
                        .losingWhatOverruns()
                        .singleThreadedUnguarded()
                        .waitableForSolicited()
                        .onVector(3);
        var reversed =
                CompletionQueueOptions.capacity(16)
                        .onVector(3)
                        .waitableForSolicited()
                        .singleThreadedUnguarded()
                        .losingWhatOverruns()
                        .telling(fields);

        assertThat(all)
                .isEqualTo(reversed)
                .isEqualTo(
                        new CompletionQueueOptions(
                                16,
                                true,
                                true,
                                3,
                                Optional.of(fields),
                                true,
                                true,
                                Optional.empty()));
        assertThat(all.waitable())
                .isEqualTo(
                        new CompletionQueueOptions(
                                16,
                                true,
                                false,
                                3,
                                Optional.of(fields),
                                true,
                                true,
                                Optional.empty()));
        assertThat(CompletionQueueOptions.capacity(16))
                .isEqualTo(
                        new CompletionQueueOptions(
                                16,
                                false,
                                false,
                                0,
                                Optional.empty(),
                                false,
                                false,
                                Optional.empty()));
    }

    @Test
    void shouldBeExtendedOnlyWhereThePlainQueueIsNotEnough() {
        var plain = CompletionQueueOptions.capacity(16).waitableForSolicited().onVector(3);

        assertThat(plain.isExtended()).isFalse();
        assertThat(plain.fields()).isEqualTo(CompletionField.STANDARD);
        assertThat(plain.telling(Set.of()).isExtended()).isTrue();
        assertThat(plain.telling(Set.of()).fields()).isEmpty();
        assertThat(plain.losingWhatOverruns().isExtended()).isTrue();
        assertThat(plain.losingWhatOverruns().fields()).isEqualTo(CompletionField.STANDARD);
        assertThat(plain.singleThreadedUnguarded().isExtended()).isTrue();
    }
}
