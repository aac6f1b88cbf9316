package org.jrdma.verbs;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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
        assertThat(CompletionQueueOptions.capacity(16).onVector(3).waitable())
                .isEqualTo(new CompletionQueueOptions(16, true, false, 3));
        assertThat(CompletionQueueOptions.capacity(16).waitableForSolicited().onVector(2))
                .isEqualTo(new CompletionQueueOptions(16, true, true, 2));
    }
}
