package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.model.VolumeException;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests that no lock remains which a program does not know of. */
@Timeout(60)
class FileLockTest {

    private static final FilePath FILE = FilePath.of("/file");

    private final LocalCluster cluster;
    private final RecordingConnector connector;
    private final VolumeClient client;
    private final FileHandle file;
    private final FileHandle other;

    /** Runs once when the coordinator has replied to a request for a lock. */
    private final AtomicReference<@Nullable Action> afterLock = new AtomicReference<>();

    @FunctionalInterface
    private interface Action {
        void run() throws FabricException;
    }

    FileLockTest() throws FabricException {
        cluster = new LocalCluster(8192, 1);
        connector =
                new RecordingConnector(cluster.connector()) {
                    @Override
                    void replied(Operation operation) throws FabricException {
                        var action = operation == Operation.LOCK ? afterLock.getAndSet(null) : null;
                        if (action != null) {
                            action.run();
                        }
                    }
                };
        client = cluster.newClient("client", Optional.of(cluster.drive()), connector);
        file = client.open(FILE, Creation.NEW, 0644);
        other = cluster.newClient("other").open(FILE, Creation.EXISTING, 0);
    }

    @AfterEach
    void stop() throws FabricException {
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    private static FutureTask<Throwable> start(Action action) {
        var task =
                new FutureTask<Throwable>(() -> {
                    try {
                        action.run();
                        return new AssertionError("The action has succeeded");
                    } catch (FabricException | IllegalStateException e) {
                        return e;
                    }
                });
        Thread.ofPlatform().start(task);
        return task;
    }

    private static void lock(FileHandle handle) throws FabricException {
        assertThat(handle.lock(0, 10, false, true)).isTrue();
    }

    /** Lets the reply to the next request for a lock get lost, as the thread is interrupted. */
    private void failToLock() {
        afterLock.set(() -> {
            Thread.currentThread().interrupt();
            throw new VolumeException("The reply is lost on purpose");
        });
        assertThatThrownBy(() -> lock(file)).hasMessageContaining("Interrupted");
        assertThat(Thread.interrupted()).isTrue();
    }

    private void assertThatTheFileIsClosedAndUnlocked() throws FabricException {
        assertThat(other.lock(0, 10, false, false)).isTrue();
        var observer = cluster.newClient("observer");
        observer.remove(FILE);
        other.close();
        assertThat(observer.capacity().files()).isEqualTo(1);
    }

    @Test
    void shouldEndTheWaitForALockWhenTheHandleIsClosed() throws Exception {
        lock(other);
        var waiting = start(() -> lock(file));
        while (connector.count(Operation.LOCK) == 0) {
            Thread.sleep(1);
        }
        file.close();

        assertThat(waiting.get()).isInstanceOf(IllegalStateException.class);
        other.unlock(0, 10, false);
        assertThatTheFileIsClosedAndUnlocked();
    }

    @Test
    void shouldReleaseALockThatIsGrantedWhileTheHandleIsClosed() throws Exception {
        var closing =
                start(() -> {
                    while (connector.count(Operation.LOCK) == 0) {
                        Thread.onSpinWait();
                    }
                    file.close();
                    throw new IllegalStateException("closed");
                });
        afterLock.set(() -> {
            try {
                while (true) {
                    var _ = file.size();
                }
            } catch (IllegalStateException _) {
                // the handle is closed
            }
        });
        assertThatThrownBy(() -> lock(file)).isInstanceOf(IllegalStateException.class);

        assertThat(closing.get()).hasMessage("closed");
        assertThatTheFileIsClosedAndUnlocked();
    }

    @Test
    void shouldReleaseALockWhoseReplyWasLost() throws Exception {
        failToLock();

        lock(other);
        assertThat(connector.requests()).contains(Operation.UNLOCK);
        other.unlock(0, 10, false);
        file.close();
        assertThatTheFileIsClosedAndUnlocked();
    }

    @Test
    void shouldKeepALockThatIsRequestedAgainAfterAFailure() throws Exception {
        failToLock();
        lock(file);

        assertThat(connector.requests())
                .containsSubsequence(Operation.LOCK, Operation.UNLOCK, Operation.LOCK);
        assertThat(other.lock(0, 10, false, false)).isFalse();
        file.close();
        assertThatTheFileIsClosedAndUnlocked();
    }

    @Test
    void shouldReleaseALockAgainIfThatHasFailed() throws Exception {
        lock(file);
        connector.refuse(Operation.UNLOCK);
        assertThatThrownBy(() -> file.unlock(0, 10, false)).hasMessageContaining("UNLOCK fails");
        assertThat(other.lock(0, 10, false, false)).isFalse();

        connector.accept(Operation.UNLOCK);
        var another = client.open(FILE, Creation.EXISTING, 0);
        assertThat(another.lock(20, 30, false, false)).isTrue();
        lock(other);
        other.unlock(0, 10, false);
        another.close();
        file.close();
        assertThatTheFileIsClosedAndUnlocked();
    }

    @Test
    void shouldReleaseAllLocksOfAClosedHandleAgainIfThatHasFailed() throws Exception {
        lock(file);
        assertThat(file.lock(20, 30, false, false)).isTrue();
        connector.refuse(Operation.UNLOCK);
        var another = client.open(FILE, Creation.EXISTING, 0);
        assertThatThrownBy(file::close).hasMessageContaining("UNLOCK fails");
        assertThat(other.lock(20, 30, false, false)).isFalse();

        connector.accept(Operation.UNLOCK);
        assertThat(another.lock(0, 30, false, false)).isTrue();
        another.close();
        assertThatTheFileIsClosedAndUnlocked();
    }
}
