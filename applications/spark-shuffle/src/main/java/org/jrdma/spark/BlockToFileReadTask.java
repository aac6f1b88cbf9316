package org.jrdma.spark;

import java.io.IOException;
import java.util.List;
import org.apache.spark.network.shuffle.DownloadFile;
import org.apache.spark.network.shuffle.DownloadFileWritableChannel;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.RemoteMemory;
import org.jspecify.annotations.Nullable;

/** Reads a block that is too large for memory into a file, piece by piece. */
final class BlockToFileReadTask implements RdmaBlockReadTask {

    private final LocationRequest request;
    private final Fetch.Block block;
    private final RemoteMemory location;
    private final TemporaryBlockFiles files;
    private final ShuffleMetrics metrics;

    private long written;
    private @Nullable PooledBuffer buffer;
    private @Nullable DownloadFile file;
    private @Nullable DownloadFileWritableChannel channel;

    BlockToFileReadTask(
            LocationRequest request,
            Fetch.Block block,
            RemoteMemory location,
            TemporaryBlockFiles files,
            ShuffleMetrics metrics) {
        this.request = request;
        this.block = block;
        this.location = location;
        this.files = files;
        this.metrics = metrics;
    }

    @Override
    public LocationRequest request() {
        return request;
    }

    @Override
    public long bufferBytes() {
        return Math.min(files.pieceBytes(), location.length() - written);
    }

    @Override
    public List<Read> start(PooledBuffer buffer) {
        this.buffer = buffer;
        var piece = location.slice(written, buffer.length());
        return List.of(new Read(this, 0, buffer.slice(), piece));
    }

    @Override
    public Progress completed(int index) throws IOException {
        if (channel == null) {
            file = files.newFile();
            channel = file.openForWriting();
        }
        var bytes = buffer.segment().asByteBuffer();
        written += bytes.remaining();
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
        buffer.release();
        buffer = null;
        if (written < location.length()) {
            return Progress.NEEDS_BUFFER;
        }
        var content = channel.closeAndRead();
        channel = null;
        metrics.add(Metric.BLOCKS_READ, 1);
        metrics.add(Metric.BYTES_READ, written);
        var delivered = file;
        file = null;
        request.fetch().deliver(block, content);
        files.deleteWithTask(delivered);
        return Progress.FINISHED;
    }

    @Override
    public void leaveToStock() {
        abandon();
        request.fetch().leaveToStock(List.of(block));
    }

    @Override
    public void abandon() {
        if (buffer != null) {
            buffer.release();
            buffer = null;
        }
        if (file != null) {
            file.delete();
            file = null;
        }
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (IOException e) {
            // The file was deleted, so its content does not matter.
        }
        channel = null;
    }
}
