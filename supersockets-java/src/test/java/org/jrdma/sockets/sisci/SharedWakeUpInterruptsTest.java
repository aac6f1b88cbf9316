package org.jrdma.sockets.sisci;

import static java.time.Duration.ofSeconds;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import org.jrdma.sisci.Sisci;
import org.jrdma.soft.sisci.SoftSisci;
import org.jrdma.soft.sisci.SoftSisciOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class SharedWakeUpInterruptsTest {

    private static final int UNUSED_NUMBER = 4_711;

    private static CompletableFuture<SharedWakeUpInterrupts.WakeUp> take(
            SharedWakeUpInterrupts wakeUps, int node, int number) {
        var result = new CompletableFuture<SharedWakeUpInterrupts.WakeUp>();
        Thread.ofPlatform()
                .daemon()
                .start(() -> {
                    try {
                        result.complete(wakeUps.take(node, number, ofSeconds(2)));
                    } catch (IOException e) {
                        result.completeExceptionally(e);
                    }
                });
        return result;
    }

    @Test
    void shouldNotDelayOneProcessByAnother(@TempDir Path folder) throws Exception {
        try (var node = Sisci.from(new SoftSisci(SoftSisciOptions.in(folder))).open();
                var interrupt = node.newInterrupt()) {
            var wakeUps = new SharedWakeUpInterrupts(node);
            var waiting = take(wakeUps, node.id(), UNUSED_NUMBER);
            Thread.sleep(200);

            var taken = take(wakeUps, node.id(), interrupt.number());

            assertThat(taken)
                    .succeedsWithin(ofSeconds(1))
                    .satisfies(SharedWakeUpInterrupts.WakeUp::release);
            assertThat(waiting).isNotDone();
            assertThat(waiting).failsWithin(ofSeconds(5));
        }
    }
}
