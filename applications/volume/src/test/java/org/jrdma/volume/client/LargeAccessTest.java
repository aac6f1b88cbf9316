package org.jrdma.volume.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.jrdma.ffi.FabricException;
import org.jrdma.volume.client.VolumeClient.Creation;
import org.jrdma.volume.protocol.FilePath;
import org.jrdma.volume.protocol.Operation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests accesses that are so large that other clients must not wait for their end. */
@Timeout(60)
class LargeAccessTest {

    private static final FilePath FILE = FilePath.of("/file");
    private static final int BYTES = (9 << 20) + 10;

    private final LocalCluster cluster;
    private final RecordingConnector connector;
    private final FileHandle file;
    private final FileHandle other;

    /** Runs once during the next access to the drive. */
    private final AtomicReference<@Nullable Action> duringAccess = new AtomicReference<>();

    /** The thread that executes a recall. */
    private volatile @Nullable Thread recall;

    @FunctionalInterface
    private interface Action {
        void run() throws FabricException;
    }

    LargeAccessTest() throws Exception {
        cluster = new LocalCluster(8192, 1);
        connector =
                new RecordingConnector((addresses, incoming, timeout) ->
                        cluster.connector()
                                .connect(
                                        addresses,
                                        request -> executeRecall(incoming, request),
                                        timeout));
        file =
                cluster.newClient("client", Optional.of(new HookedDrive()), connector)
                        .open(FILE, Creation.NEW, 0644);
        other = cluster.newClient("other").open(FILE, Creation.EXISTING, 0);
    }

    private ByteBuffer executeRecall(UnaryOperator<ByteBuffer> incoming, ByteBuffer request) {
        recall = Thread.currentThread();
        return incoming.apply(request);
    }

    @AfterEach
    void stop() throws FabricException {
        file.close();
        other.close();
        assertThat(cluster.stopAndCheck()).isEmpty();
    }

    private final class HookedDrive extends LocalCluster.CutDrive {

        HookedDrive() {
            super(cluster.drive());
        }

        @Override
        public void read(long block, MemorySegment target) throws FabricException {
            runHook();
            super.read(block, target);
        }

        @Override
        public void write(long block, MemorySegment source) throws FabricException {
            runHook();
            super.write(block, source);
        }

        private void runHook() throws FabricException {
            var action = duringAccess.getAndSet(null);
            if (action != null) {
                action.run();
            }
        }
    }

    /** Starts an access of the other client. Returns when the recall waits for this client. */
    private CompletableFuture<Void> startAccessOfAnotherClient(Action access) {
        recall = null;
        var running =
                CompletableFuture.runAsync(
                        () -> {
                            try {
                                access.run();
                            } catch (FabricException e) {
                                throw new CompletionException(e);
                            }
                        },
                        task -> Thread.ofPlatform().start(task));
        for (var thread = recall;
                thread == null || thread.getState() != Thread.State.WAITING;
                thread = recall) {
            assertThat(running.isDone()).as("the access did not wait").isFalse();
            Thread.onSpinWait();
        }
        return running;
    }

    private static MemorySegment bytes(int count, char value) {
        return MemorySegment.ofArray(new byte[count]).fill((byte) value);
    }

    private static MemorySegment read(FileHandle handle) throws FabricException {
        var all = new byte[(int) handle.size() + 1];
        var count = handle.read(0, MemorySegment.ofArray(all));
        return MemorySegment.ofArray(all).asSlice(0, count);
    }

    @Test
    void shouldLetAnotherClientReadDuringAWrite() throws Exception {
        var accesses = new CompletableFuture<CompletableFuture<Void>>();
        var target = bytes(1, '?');
        duringAccess.set(() ->
                accesses.complete(
                        startAccessOfAnotherClient(() -> {
                            var _ = other.read(0, target);
                        })));
        file.write(0, bytes(BYTES, 'a'));

        assertThat(connector.count(Operation.LEASE)).isGreaterThan(1);
        accesses.get().get();
        assertThat(target.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 'a');
        assertThat(read(other).mismatch(bytes(BYTES, 'a'))).isEqualTo(-1);
    }

    @Test
    void shouldKeepTheLeaseDuringAnAccessOfLessThanFourMebibytes() throws Exception {
        file.truncate(0); // under a lease for writing
        var before = connector.count(Operation.LEASE);
        var accesses = new CompletableFuture<CompletableFuture<Void>>();
        duringAccess.set(() ->
                accesses.complete(
                        startAccessOfAnotherClient(() -> {
                            var _ = other.size();
                        })));
        file.write(4000, bytes((4 << 20) - 100, 'a'));

        assertThat(connector.count(Operation.LEASE)).isEqualTo(before);
        accesses.get().get();
    }

    @Test
    void shouldLetAnotherClientWriteDuringARead() throws Exception {
        file.write(0, bytes(BYTES, 'a'));
        var _ = read(other); // so that the client has only a lease for reading
        var before = connector.count(Operation.LEASE);
        var accesses = new CompletableFuture<CompletableFuture<Void>>();
        duringAccess.set(() ->
                accesses.complete(
                        startAccessOfAnotherClient(() -> other.write(BYTES - 1, bytes(1, 'b')))));
        var target = bytes(BYTES, '?');
        assertThat(file.read(0, target)).isEqualTo(BYTES);

        assertThat(connector.count(Operation.LEASE)).isGreaterThan(before);
        accesses.get().get();
        assertThat(target.asSlice(0, BYTES - 1).mismatch(bytes(BYTES - 1, 'a'))).isEqualTo(-1);
        assertThat(target.get(ValueLayout.JAVA_BYTE, BYTES - 1)).isEqualTo((byte) 'b');
    }

    @Test
    void shouldKeepTheBytesOfAnAppendTogether() throws Exception {
        file.write(0, bytes(5, '-'));
        var accesses = new CompletableFuture<CompletableFuture<Void>>();
        duringAccess.set(() ->
                accesses.complete(
                        startAccessOfAnotherClient(() -> {
                            var _ = other.append(bytes(7, 'b'));
                        })));
        assertThat(file.append(bytes(BYTES, 'a'))).isEqualTo(5 + BYTES);

        accesses.get().get();
        var expected = bytes(5 + BYTES + 7, 'a');
        var _ = expected.asSlice(0, 5).fill((byte) '-');
        var _ = expected.asSlice(5 + BYTES).fill((byte) 'b');
        assertThat(read(other).mismatch(expected)).isEqualTo(-1);
    }

    @Test
    void shouldEndAtTheEndOfTheFileAndAcceptNoBytes() throws Exception {
        file.write(3, bytes(BYTES, 'a'));

        assertThat(file.read(BYTES, bytes(BYTES, '?'))).isEqualTo(3);
        assertThat(file.read(3 + BYTES, bytes(BYTES, '?'))).isZero();
        assertThat(file.read(0, bytes(0, '?'))).isZero();
        file.write(0, bytes(0, '?'));
        assertThat(file.size()).isEqualTo(3 + BYTES);
    }
}
