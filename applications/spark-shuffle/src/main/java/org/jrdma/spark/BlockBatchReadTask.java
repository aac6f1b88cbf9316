package org.jrdma.spark;

import java.util.ArrayList;
import java.util.List;
import org.jrdma.verbs.memory.PooledBuffer;
import org.jrdma.verbs.model.RemoteMemory;
import org.jspecify.annotations.Nullable;

/** Reads blocks into one buffer, and delivers each block when its read has completed. */
final class BlockBatchReadTask implements RdmaBlockReadTask {

    private final LocationRequest request;
    private final ShuffleMetrics metrics;
    private final List<Fetch.Block> blocks = new ArrayList<>();
    private final List<RemoteMemory> locations = new ArrayList<>();
    private final List<Long> offsets = new ArrayList<>();
    private long bytes;
    private int open;
    private @Nullable PooledBuffer buffer;

    BlockBatchReadTask(LocationRequest request, ShuffleMetrics metrics) {
        this.request = request;
        this.metrics = metrics;
    }

    void add(Fetch.Block block, RemoteMemory location) {
        blocks.add(block);
        locations.add(location);
        offsets.add(bytes);
        bytes += location.length();
        open++;
    }

    @Override
    public LocationRequest request() {
        return request;
    }

    @Override
    public long bufferBytes() {
        return bytes;
    }

    @Override
    public List<Read> start(PooledBuffer buffer) {
        this.buffer = buffer;
        var reads = new ArrayList<Read>();
        for (var i = 0; i < blocks.size(); i++) {
            var location = locations.get(i);
            var local = buffer.slice(offsets.get(i), location.length());
            reads.add(new Read(this, i, local, location));
        }
        return reads;
    }

    @Override
    public Progress completed(int index) {
        var length = locations.get(index).length();
        metrics.add(Metric.BLOCKS_READ, 1);
        metrics.add(Metric.BYTES_READ, length);
        var content = new FetchedBlock(buffer, offsets.get(index), length);
        if (--open == 0) {
            abandon();
        }
        request.fetch().deliver(blocks.get(index), content);
        return open == 0 ? Progress.FINISHED : Progress.READING;
    }

    @Override
    public void leaveToStock() {
        request.fetch().leaveToStock(blocks);
    }

    @Override
    public void abandon() {
        if (buffer != null) {
            buffer.release();
            buffer = null;
        }
    }
}
