package org.jrdma.sockets.bypass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.junit.jupiter.api.Test;

class BypassConnectorTest {

    /** Fails as it is told to, on the thread that begins. */
    private static final class Failing extends BypassConnector {

        private final Throwable failure;

        Failing(Throwable failure, Consumer<String> refused) {
            super(Runnable::run, refused);
            this.failure = failure;
        }

        @Override
        protected BypassStream connect(Deadline deadline) throws IOException {
            switch (failure) {
                case Error error -> throw error;
                case IOException exception -> throw exception;
                default -> throw new AssertionError(failure);
            }
        }
    }

    /** Or many that connect at once would take the last of them for absent. */
    @Test
    void shouldNotCountTheTimeInWhichNoThreadIsThereAsTimeWithoutAnAnswer() {
        var threads = new ArrayDeque<Runnable>();
        var asked = new ArrayList<String>();
        var connecting =
                new BypassConnector(threads::add, _ -> {}) {
                    @Override
                    protected BypassStream connect(Deadline deadline) throws IOException {
                        throw new IOException("nobody is there");
                    }
                };

        connecting.begin(() -> {
            asked.add("how long");
            return Deadline.NEVER;
        });
        assertThat(asked).isEmpty();
        threads.remove().run();

        assertThat(asked).containsExactly("how long");
        assertThat(connecting.isDone()).isTrue();
    }

    @Test
    void shouldHaveAnOutcomeAfterAnError() {
        var reasons = new ArrayList<String>();
        var connecting = new Failing(new NoClassDefFoundError("of a broken jar"), reasons::add);

        connecting.begin(() -> Deadline.NEVER);

        assertThat(connecting.isDone()).isTrue();
        assertThat(connecting.take()).isEmpty();
        assertThat(connecting.reason()).isEqualTo("of a broken jar");
        assertThat(reasons).containsExactly("of a broken jar");
    }

    @Test
    void shouldHaveAnOutcomeWhereWhoIsToldOfTheReasonFails() {
        var connecting =
                new Failing(
                        new IOException("nobody is there"),
                        _ -> {
                            throw new IllegalStateException("nor here");
                        });

        assertThatThrownBy(() -> connecting.begin(() -> Deadline.NEVER)).hasMessage("nor here");

        assertThat(connecting.isDone()).isTrue();
        assertThat(connecting.reason()).isEqualTo("nobody is there");
    }
}
