package org.jrdma.spark;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.spark.network.buffer.ManagedBuffer;
import org.apache.spark.network.shuffle.BlockFetchingListener;
import org.jspecify.annotations.Nullable;

/**
 * The blocks of one executor that a task has requested together. After it was submitted, confined
 * to the thread of the {@link PeerFetcher}.
 */
final class Fetch {

    /** A block and its name, by which Spark identifies it. */
    record Block(String name, PartitionRange range) {}

    private final Map<String, Block> missing = new LinkedHashMap<>();
    private final BlockFetchingListener listener;
    private final Consumer<String[]> stock;
    private final @Nullable TemporaryBlockFiles files;

    /**
     * @param stock fetches blocks with Spark's own client
     * @param files creates files for long blocks; null if all blocks are read into memory. Spark
     *     allows files if the blocks together are too long for memory
     */
    Fetch(
            List<Block> blocks,
            BlockFetchingListener listener,
            Consumer<String[]> stock,
            @Nullable TemporaryBlockFiles files) {
        blocks.forEach(block -> missing.put(block.name(), block));
        this.listener = listener;
        this.stock = stock;
        this.files = files;
    }

    @Nullable TemporaryBlockFiles files() {
        return files;
    }

    /** The blocks that were neither delivered nor left to Spark's client. */
    List<Block> missing() {
        return List.copyOf(missing.values());
    }

    boolean isDone() {
        return missing.isEmpty();
    }

    /** Delivers a block to the task, which retains it. */
    void deliver(Block block, ManagedBuffer content) {
        missing.remove(block.name());
        listener.onBlockFetchSuccess(block.name(), content);
        content.release();
    }

    /** Leaves missing blocks to Spark's own client. */
    void leaveToStock(Collection<Block> blocks) {
        var names = new ArrayList<String>();
        for (var block : blocks) {
            if (missing.remove(block.name()) != null) {
                names.add(block.name());
            }
        }
        if (!names.isEmpty()) {
            // Spark's client may wait for the driver or for a connection.
            Thread.startVirtualThread(() -> fetchFromStock(names));
        }
    }

    private void fetchFromStock(List<String> names) {
        try {
            stock.accept(names.toArray(String[]::new));
        } catch (RuntimeException | Error e) { // The task would wait for the blocks forever.
            names.forEach(name -> listener.onBlockFetchFailure(name, e));
        }
    }

    /** Fails the missing blocks, because this executor shuts down. */
    void fail(Throwable cause) {
        missing.keySet().forEach(name -> listener.onBlockFetchFailure(name, cause));
        missing.clear();
    }
}
