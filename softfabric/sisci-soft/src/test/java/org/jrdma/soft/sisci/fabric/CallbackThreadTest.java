package org.jrdma.soft.sisci.fabric;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class CallbackThreadTest {

    @Test
    void shouldRunTheNextCallbackAfterAnyFailure() throws Exception {
        var next = new CountDownLatch(1);
        try (var callbacks = new CallbackThread(Duration.ZERO)) {
            callbacks.start();
            callbacks.execute(() -> {
                throw new OutOfMemoryError("thrown by a callback, on purpose");
            });
            callbacks.execute(() -> {
                throw new AssertionError("thrown by a callback, on purpose");
            });
            callbacks.execute(next::countDown);

            next.await();
        }
    }
}
