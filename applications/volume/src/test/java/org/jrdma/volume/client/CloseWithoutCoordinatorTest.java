package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.volume.nio.VolumeFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CloseWithoutCoordinatorTest {

    private static final Duration RETRY_TIMEOUT = Duration.ofSeconds(4);

    private final Thread closer = Thread.currentThread();
    private final AtomicInteger attempts = new AtomicInteger();
    private volatile boolean isCoordinatorKilled;

    @Test
    void shouldWaitForTheCoordinatorOnceForAllFiles() throws Exception {
        try (var cluster = new LocalCluster(8192, 1)) {
            var coordinator = cluster.coordinator();
            var connector = cluster.connector();
            var options = LocalCluster.options(Duration.ofSeconds(5), RETRY_TIMEOUT);
            ServerConnector slow =
                    (addresses, incoming, timeout) -> {
                        if (isCoordinatorKilled) {
                            attemptLongerThanTheTimeout();
                        }
                        return connector.connect(addresses, incoming, timeout);
                    };
            var client = new VolumeClient(options, slow, Optional.of(cluster.drive()));
            var volume = new VolumeFileSystem("volume", client, () -> {});
            for (var name : new String[] {"a", "b", "c", "d", "e"}) {
                FileChannel.open(
                                volume.getPath(name),
                                StandardOpenOption.CREATE,
                                StandardOpenOption.WRITE)
                        .write(ByteBuffer.allocate(10));
            }
            coordinator.kill();
            isCoordinatorKilled = true;

            volume.close();

            assertThat(attempts).hasValueLessThanOrEqualTo(1);
        }
    }

    /** Counts only the attempts of this thread, because the heartbeats connect, too. */
    private void attemptLongerThanTheTimeout() {
        if (Thread.currentThread() == closer) {
            attempts.incrementAndGet();
            try {
                Thread.sleep(RETRY_TIMEOUT);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
