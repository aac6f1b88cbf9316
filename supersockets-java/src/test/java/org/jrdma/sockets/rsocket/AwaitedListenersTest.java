package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jrdma.ffi.Deadline;
import org.junit.jupiter.api.Test;

class AwaitedListenersTest {

    private static final Duration TIMEOUT = Duration.ofMillis(50);
    private static final InetSocketAddress HERE = listener(1);

    private final AwaitedListeners listeners = new AwaitedListeners(TIMEOUT);

    private static InetSocketAddress listener(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("192.0.2.1"), port);
    }

    @Test
    void shouldGiveUpWhereNobodyIsAnswered() throws Exception {
        try (var first = listeners.enter(HERE)) {
            Thread.sleep(TIMEOUT);

            assertThat(first.until(Deadline.NEVER).hasPassed()).isTrue();
            try (var second = listeners.enter(HERE)) { // whoever comes later waits as long
                assertThat(first.until(Deadline.NEVER).hasPassed()).isTrue();
                assertThat(second.until(Deadline.NEVER).nanoTime())
                        .isGreaterThan(first.until(Deadline.NEVER).nanoTime());
            }
        }
    }

    @Test
    void shouldWaitForAsLongAsOthersAreAnswered() throws Exception {
        try (var one = listeners.enter(HERE);
                var other = listeners.enter(HERE)) {
            var before = one.until(Deadline.NEVER).nanoTime();

            other.hasAnswered();

            assertThat(one.until(Deadline.NEVER).nanoTime()).isGreaterThan(before);
            Thread.sleep(TIMEOUT);
            assertThat(one.until(Deadline.NEVER).hasPassed()).isTrue();
        }
    }

    @Test
    void shouldNotTakeTheAnswerOfOneListenerForAnothers() throws Exception {
        try (var here = listeners.enter(HERE);
                var there = listeners.enter(listener(2))) {
            Thread.sleep(TIMEOUT);

            there.hasAnswered();

            assertThat(here.until(Deadline.NEVER).hasPassed()).isTrue();
        }
    }

    @Test
    void shouldWaitNoLongerThanTheProgramDoes() {
        try (var listener = listeners.enter(HERE)) {
            listener.hasAnswered();

            assertThat(listener.until(Deadline.after(Duration.ZERO)).hasPassed()).isTrue();
        }
    }

    @Test
    void shouldForgetWhomNobodyWaitsFor() {
        try (var _ = listeners.enter(HERE);
                var _ = listeners.enter(HERE)) {
            assertThat(listeners.count()).isOne();
        }
        assertThat(listeners.count()).isZero();
    }
}
