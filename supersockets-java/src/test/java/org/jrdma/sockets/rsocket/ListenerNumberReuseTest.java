package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ListenerNumberReuseTest {

    private final ActiveAccepts numbers = new ActiveAccepts();

    @Test
    void shouldNotAcceptAtAClosedListener() {
        assertThat(numbers.enter(7, () -> false)).isFalse();

        numbers.awaitNone(7);
    }

    /**
     * The number of a closed listener must not be reused while a thread accepts with it. Otherwise,
     * that thread would accept a client of the new listener.
     */
    @Test
    void shouldAllowTheReuseOfANumberAfterTheAcceptHasReturned() throws Exception {
        assertThat(numbers.enter(7, () -> true)).isTrue();
        assertThat(numbers.enter(8, () -> true)).isTrue();
        var reused = new CountDownLatch(1);
        var listening =
                Thread.ofPlatform()
                        .start(() -> {
                            numbers.awaitNone(7);
                            reused.countDown();
                        });
        while (listening.getState() != Thread.State.WAITING) {
            assertThat(reused.getCount()).isOne();
            Thread.sleep(1);
        }
        numbers.leave(8);
        Thread.sleep(20);
        assertThat(reused.getCount()).isOne();

        numbers.leave(7);

        reused.await();
        listening.join();
    }
}
