package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.junit.jupiter.api.Test;

class ConnectResponseDeadlinesTest {

    private static final Duration TIMEOUT = Duration.ofMillis(50);
    private static final InetSocketAddress ADDRESS = listener(1);

    private final ConnectResponseDeadlines listeners = new ConnectResponseDeadlines(TIMEOUT);

    private static InetSocketAddress listener(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), port);
    }

    @Test
    void shouldTimeOutIfTheListenerDoesNotRespond() throws Exception {
        try (var first = listeners.enter(ADDRESS)) {
            Thread.sleep(TIMEOUT);

            assertThat(first.deadline(Deadline.NEVER).hasPassed()).isTrue();
            try (var second = listeners.enter(ADDRESS)) { // A later attempt has its own timeout.
                assertThat(first.deadline(Deadline.NEVER).hasPassed()).isTrue();
                assertThat(second.deadline(Deadline.NEVER).nanoTime())
                        .isGreaterThan(first.deadline(Deadline.NEVER).nanoTime());
            }
        }
    }

    @Test
    void shouldWaitWhileTheListenerRespondsToOthers() throws Exception {
        try (var first = listeners.enter(ADDRESS);
                var second = listeners.enter(ADDRESS)) {
            var before = first.deadline(Deadline.NEVER).nanoTime();

            second.responded();

            assertThat(first.deadline(Deadline.NEVER).nanoTime()).isGreaterThan(before);
            Thread.sleep(TIMEOUT);
            assertThat(first.deadline(Deadline.NEVER).hasPassed()).isTrue();
        }
    }

    @Test
    void shouldNotConfuseTheResponsesOfTwoListeners() throws Exception {
        try (var first = listeners.enter(ADDRESS);
                var second = listeners.enter(listener(2))) {
            Thread.sleep(TIMEOUT);

            second.responded();

            assertThat(first.deadline(Deadline.NEVER).hasPassed()).isTrue();
        }
    }

    @Test
    void shouldNotWaitLongerThanTheProgram() {
        try (var listener = listeners.enter(ADDRESS)) {
            listener.responded();

            assertThat(listener.deadline(Deadline.after(Duration.ZERO)).hasPassed()).isTrue();
        }
    }

    @Test
    void shouldRemoveAListenerThatNoAttemptWaitsFor() {
        try (var _ = listeners.enter(ADDRESS);
                var _ = listeners.enter(ADDRESS)) {
            assertThat(listeners.count()).isOne();
        }
        assertThat(listeners.count()).isZero();
    }
}
