package org.jrdma.sockets.bypass;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jrdma.ffi.Deadline;
import org.junit.jupiter.api.Test;

class BypassConnectorTest {

    /** A connector whose attempt runs on the calling thread, and fails with a given exception. */
    private static final class FailingConnector extends BypassConnector {

        private final Throwable failure;

        FailingConnector(Throwable failure, Consumer<String> refused) {
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

    /**
     * The timeout of an attempt must start when a thread runs the attempt. Otherwise, attempts that
     * wait for a free thread would time out before they start.
     */
    @Test
    void shouldNotCountTheWaitForAThreadAsTimeWithoutAResponse() {
        var threads = new ArrayDeque<Runnable>();
        var deadlineRequests = new ArrayList<String>();
        var connector =
                new BypassConnector(threads::add, _ -> {}) {
                    @Override
                    protected BypassStream connect(Deadline deadline) throws IOException {
                        throw new IOException("no peer");
                    }
                };

        connector.start(() -> {
            deadlineRequests.add("deadline");
            return Deadline.NEVER;
        });
        assertThat(deadlineRequests).isEmpty();
        threads.remove().run();

        assertThat(deadlineRequests).containsExactly("deadline");
        assertThat(connector.isDone()).isTrue();
    }

    @Test
    void shouldCompleteAfterAnError() {
        var reasons = new ArrayList<String>();
        var connector = new FailingConnector(new NoClassDefFoundError("invalid jar"), reasons::add);

        connector.start(() -> Deadline.NEVER);

        assertThat(connector.isDone()).isTrue();
        assertThat(connector.take()).isEmpty();
        assertThat(connector.reason()).isEqualTo("invalid jar");
        assertThat(reasons).containsExactly("invalid jar");
    }

    @Test
    void shouldCompleteIfNoThreadCanBeStarted() {
        var reasons = new ArrayList<String>();
        var connector =
                new BypassConnector(
                        _ -> {
                            throw new OutOfMemoryError("no thread");
                        },
                        reasons::add) {
                    @Override
                    protected BypassStream connect(Deadline deadline) {
                        throw new AssertionError();
                    }
                };

        connector.start(() -> Deadline.NEVER);

        assertThat(connector.isDone()).isTrue();
        assertThat(reasons).containsExactly("no thread");
    }

    @Test
    void shouldWakeUpAllWaitingThreadsAfterAWakeUpHasFailed() {
        var failures = new ArrayDeque<>(List.of(1, 2));
        var wakeUps = new AtomicInteger();
        var connector = new FailingConnector(new IOException("no peer"), _ -> {});
        connector.add(() -> {
            if (failures.poll() != null) {
                throw new OutOfMemoryError("no memory for a wake-up");
            }
        });
        connector.add(wakeUps::incrementAndGet);

        connector.start(() -> Deadline.NEVER);

        assertThat(wakeUps).hasValue(1);
        assertThat(connector.reason()).isEqualTo("no peer");
    }

    @Test
    void shouldCompleteIfTheFailureCallbackFails() {
        var connector =
                new FailingConnector(
                        new IOException("no peer"),
                        _ -> {
                            throw new IllegalStateException("callback failed");
                        });

        assertThatThrownBy(() -> connector.start(() -> Deadline.NEVER))
                .hasMessage("callback failed");

        assertThat(connector.isDone()).isTrue();
        assertThat(connector.reason()).isEqualTo("no peer");
    }
}
