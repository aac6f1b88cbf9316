package org.jrdma.sockets.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ActiveAcceptsTest {

    private final ActiveAccepts numbers = new ActiveAccepts();

    @Test
    void shouldNotAcceptAtAClosedListener() {
        assertThat(numbers.enter(7, () -> false)).isFalse();

        numbers.awaitNone(7);
    }

    /** Otherwise the thread of the old listener would take a client of the new one. */
    @Test
    void shouldAllowTheReuseOfANumberAfterTheAcceptHasReturned() throws Exception {
        assertThat(numbers.enter(7, () -> true)).isTrue();
        assertThat(numbers.enter(8, () -> true)).isTrue();
        var usedAgain = new CountDownLatch(1);
        var listening =
                Thread.ofPlatform()
                        .start(() -> {
                            numbers.awaitNone(7);
                            usedAgain.countDown();
                        });
        while (listening.getState() != Thread.State.WAITING) {
            assertThat(usedAgain.getCount()).isOne();
            Thread.sleep(1);
        }
        numbers.leave(8);
        Thread.sleep(20);
        assertThat(usedAgain.getCount()).isOne();

        numbers.leave(7);

        usedAgain.await();
        listening.join();
    }
}
