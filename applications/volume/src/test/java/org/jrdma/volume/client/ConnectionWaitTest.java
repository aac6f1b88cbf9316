package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.Deadline;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests requests that wait while another thread tries to connect to the coordinator. Its attempt
 * does not end during the test, as if no server were reachable.
 */
@Timeout(60)
class ConnectionWaitTest {

    private static final FilePath ROOT = FilePath.of("/");

    private final LocalCluster cluster;
    private final CountDownLatch isAttempting = new CountDownLatch(1);
    private final CountDownLatch isReachable = new CountDownLatch(1);
    private volatile boolean isCut;
    private @Nullable VolumeClient client;

    ConnectionWaitTest() throws Exception {
        cluster = new LocalCluster(8192, 1);
        var _ = cluster.coordinator();
    }

    @AfterEach
    void stop() throws FabricException {
        restore();
        if (client != null) {
            client.close();
        }
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    private ServerConnector.Connection connect(
            List<String> addresses, UnaryOperator<ByteBuffer> incoming, Duration timeout)
            throws FabricException {
        if (isCut) {
            isAttempting.countDown();
            var isInterrupted = false;
            while (isReachable.getCount() > 0) {
                try {
                    isReachable.await();
                } catch (InterruptedException _) {
                    isInterrupted = true;
                }
            }
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return cluster.connector().connect(addresses, incoming, timeout);
    }

    private VolumeClient newClient(Duration retryTimeout) throws FabricException {
        client =
                new VolumeClient(
                        LocalCluster.options(Duration.ofSeconds(5), retryTimeout),
                        new RecordingConnector(this::connect) {
                            @Override
                            void sending(Operation operation) throws FabricException {
                                if (isCut) {
                                    throw new VolumeException("cut on purpose");
                                }
                            }
                        },
                        Optional.of(cluster.drive()));
        return client;
    }

    /** Cuts the connection, and waits for the attempt of another thread to connect again. */
    private void cut() throws InterruptedException {
        isCut = true;
        isAttempting.await(); // the heartbeats notice it
    }

    private void restore() {
        isCut = false;
        isReachable.countDown();
    }

    private static FutureTask<Throwable> request(VolumeClient client) {
        return new FutureTask<>(() -> {
            try {
                var _ = client.attributes(ROOT);
                return new AssertionError("The request was executed");
            } catch (FabricException e) {
                return e;
            }
        });
    }

    @Test
    void shouldEndAfterTheRetryTimeout() throws Exception {
        var waiting = newClient(Duration.ofMillis(300));
        cut();
        var requests = new ArrayList<FutureTask<Throwable>>();
        for (var i = 0; i < 20; i++) {
            var request = request(waiting);
            requests.add(request);
            Thread.ofPlatform().start(request);
        }
        for (var request : requests) {
            assertThat(request.get()).hasMessageContaining("No coordinator answered within");
        }
    }

    @Test
    void shouldEndWhenTheThreadIsInterrupted() throws Exception {
        var waiting = newClient(Duration.ofHours(1));
        cut();
        var request = request(waiting);
        Thread.ofPlatform().start(request).interrupt();

        assertThat(request.get()).hasMessageContaining("Interrupted");
    }

    @Test
    void shouldReportTheFailureOfTheLastAttempt() throws Exception {
        var lock = new ConnectLock();
        lock.lock();
        lock.attempted(new VolumeException("No route on purpose"));
        var waiting =
                new FutureTask<Throwable>(() -> {
                    try {
                        lock.lock(Deadline.after(Duration.ofMillis(1)));
                        return new AssertionError("The lock was acquired");
                    } catch (FabricException e) {
                        return e;
                    }
                });
        Thread.ofPlatform().start(waiting);

        assertThat(waiting.get()).hasMessageContaining("No route on purpose");
        lock.unlock();
    }
}
