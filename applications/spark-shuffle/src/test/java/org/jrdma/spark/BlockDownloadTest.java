package org.jrdma.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.spark.network.buffer.FileSegmentManagedBuffer;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.VerbsException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the download of blocks into files, in pieces. */
@Timeout(60)
class BlockDownloadTest extends BlockTransferFixture {

    /** A block of three pieces. */
    private static final String BLOCK = "shuffle_0_1_4_7";

    private static final int BLOCK_BYTES = 3 * PARTITION_BYTES;
    private static final int PIECE_BYTES = 12_000;

    private Path downloads;

    @BeforeEach
    void createFolder() throws Exception {
        downloads = Files.createDirectory(folder.resolve("downloads"));
        write(0, 1);
    }

    private FakeDownloadFiles files(FakeDownloadFiles.BeforeWrite beforeWrite) {
        return new FakeDownloadFiles(downloads, beforeWrite);
    }

    private Task download(FakeDownloadFiles files) throws InterruptedException {
        return fetch(peer, files.forBlocksAbove(PARTITION_BYTES, PIECE_BYTES), BLOCK);
    }

    @Test
    void shouldDownloadABlockInPieces() throws Exception {
        var lastWrite = new AtomicInteger();

        var task = download(files(lastWrite::set));

        assertThat(task.stock).isEmpty();
        assertThat(lastWrite).hasValue(3);
        var bytes = task.bytes(BLOCK);
        assertThat(bytes).hasSize(BLOCK_BYTES);
        for (var i = 0; i < BLOCK_BYTES; i++) {
            assertThat(bytes[i]).isEqualTo((byte) (4 + i / PARTITION_BYTES));
        }
        assertThat(value(Metric.BLOCKS_READ)).isOne();
        assertThat(value(Metric.BYTES_READ)).isEqualTo(BLOCK_BYTES);
        awaitReturnOfBuffers();
    }

    @Test
    void shouldUseAFileOnlyForABlockThatAloneExceedsTheLimit() throws Exception {
        var files = files(_ -> {});
        var small =
                IntStream.range(0, PARTITIONS)
                        .mapToObj("shuffle_0_1_%d"::formatted)
                        .toArray(String[]::new);
        var limited = files.forBlocksAbove(PARTITION_BYTES, PIECE_BYTES);

        var blocks = fetch(peer, limited, small);

        assertThat(blocks.blocks).containsOnlyKeys(small);
        for (var i = 0; i < PARTITIONS; i++) {
            assertThat(blocks.bytes(small[i])).hasSize(PARTITION_BYTES).containsOnly(i);
        }
        assertThat(files.remaining()).isEmpty();
        blocks.release();

        var mixed = fetch(peer, limited, BLOCK, small[0]);

        assertThat(mixed.blocks.get(BLOCK)).isInstanceOf(FileSegmentManagedBuffer.class);
        assertThat(mixed.blocks.get(small[0])).isInstanceOf(FetchedBlock.class);
        assertThat(files.remaining()).hasSize(1);
        mixed.release();
        awaitReturnOfBuffers();
    }

    @Test
    void shouldLeaveABlockToStockIfThereIsNoBufferForItsSecondPiece() throws Exception {
        var held = new CompletableFuture<PooledBuffer>();
        var files = files(_ -> takeAllBuffersAfterWrite(held));

        var task = download(files);

        assertThat(task.stock).containsExactly(BLOCK);
        assertThat(files.remaining()).isEmpty();
        held.get().release();
        awaitReturnOfBuffers();
        assertThat(download(files(_ -> {})).stock).isEmpty();
        assertThat(connections).hasValue(1);
    }

    /**
     * Takes all buffers when the write has released its own. Until then, the lock keeps the thread
     * of the peer from taking a buffer for the next piece, because this thread first polls for new
     * fetches.
     */
    private void takeAllBuffersAfterWrite(CompletableFuture<PooledBuffer> held) {
        runWithPeerLocked(() -> held.complete(takeAllBuffers()));
    }

    private PooledBuffer takeAllBuffers() {
        try {
            var buffer = buffers.tryTake(POOL_BYTES);
            while (buffer == null) {
                Thread.onSpinWait();
                buffer = buffers.tryTake(POOL_BYTES);
            }
            return buffer;
        } catch (VerbsException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldReconnectOnlyOnceIfTheChannelAlwaysFailsAfterTheFirstPiece() throws Exception {
        var files = files(_ -> server.closeChannels());

        var task = download(files);

        assertThat(task.stock).containsExactly(BLOCK);
        assertThat(connections).hasValue(2);
        assertThat(value(Metric.CONNECTION_FAILURES)).isOne();
        assertThat(files.remaining()).isEmpty();
        awaitReturnOfBuffers();
    }

    @Test
    void shouldLeaveABlockToStockAndKeepTheChannelIfAWriteFails() throws Exception {
        var files =
                files(number -> {
                    if (number == 2) {
                        throw new IOException("No space left on device");
                    }
                });

        var task = download(files);

        assertThat(task.stock).containsExactly(BLOCK);
        assertThat(files.remaining()).isEmpty();
        awaitReturnOfBuffers();
        assertThat(download(files(_ -> {})).stock).isEmpty();
        assertThat(connections).hasValue(1);
        assertThat(value(Metric.CONNECTION_FAILURES)).isZero();
        assertThat(avoidance.isAvoided(SERVER)).isFalse();
    }

    @Test
    void shouldLeaveABlockToStockAndKeepTheChannelIfThereIsNoFolderForTheFile() throws Exception {
        var missing = new FakeDownloadFiles(folder.resolve("missing"), _ -> {});

        assertThat(download(missing).stock).containsExactly(BLOCK);

        awaitReturnOfBuffers();
        assertThat(download(files(_ -> {})).stock).isEmpty();
        assertThat(connections).hasValue(1);
    }
}
