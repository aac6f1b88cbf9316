package org.jrdma.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;

/**
 * The map outputs that are registered, within limits. Registering an output closes the least
 * recently used outputs that no executor reads, if a limit requires it. Safe for use by multiple
 * threads.
 */
final class RegisteredMapOutputTable implements AutoCloseable {

    private static final int INITIAL_CAPACITY = 64;
    private static final float LOAD_FACTOR = 0.75f;

    private final long maxPinnedBytes;
    private final int maxFiles;
    private final ShuffleMetrics metrics;

    /**
     * Held while unused outputs are closed, so that their memory is available to the thread that
     * closes them. Acquired before the monitor of this object.
     */
    private final Object evicting = new Object();

    // Guarded by this.
    private final LinkedHashMap<MapOutputIndex.Key, RegisteredMapOutput> outputs =
            new LinkedHashMap<>(INITIAL_CAPACITY, LOAD_FACTOR, true);
    private long pinnedBytes;
    private long openFiles;
    private boolean closed;

    /** The number of calls of {@link #forget}. */
    private long forgets;

    /**
     * @param maxPinnedBytes the maximum number of bytes whose memory is locked
     * @param maxFiles the maximum number of files, each of which is a memory mapping
     */
    RegisteredMapOutputTable(long maxPinnedBytes, int maxFiles, ShuffleMetrics metrics) {
        this.maxPinnedBytes = maxPinnedBytes;
        this.maxFiles = maxFiles;
        this.metrics = metrics;
        metrics.define(Metric.REGISTERED_BYTES, this::pinnedBytes);
        metrics.define(Metric.REGISTERED_FILES, this::openFiles);
    }

    private synchronized long pinnedBytes() {
        return pinnedBytes;
    }

    private synchronized long openFiles() {
        return openFiles;
    }

    /** Starts the use of an output; empty if it is not registered. */
    synchronized Optional<RegisteredMapOutput> acquire(MapOutputIndex.Key key) {
        var output = outputs.get(key);
        if (output != null) {
            output.users++;
        }
        return Optional.ofNullable(output);
    }

    synchronized long forgets() {
        return forgets;
    }

    /**
     * Reserves a file and bytes within the limits, for which unused outputs are closed.
     *
     * @return false if the outputs in use leave no room
     */
    boolean reserve(long bytes) {
        synchronized (evicting) {
            List<RegisteredMapOutput> evicted;
            synchronized (this) {
                var excessBytes = pinnedBytes + bytes - maxPinnedBytes;
                var excessFiles = openFiles + 1 - maxFiles;
                evicted = leastRecentlyUsed(excessBytes, excessFiles);
                var evictedBytes =
                        evicted.stream().mapToLong(RegisteredMapOutput::pinnedBytes).sum();
                if (evictedBytes < excessBytes || evicted.size() < excessFiles) {
                    return false; // without an eviction, which would not help
                }
                remove(evicted);
            }
            closeEvicted(evicted);
            synchronized (this) {
                pinnedBytes += bytes;
                openFiles++;
            }
            return true;
        }
    }

    synchronized void unreserve(long bytes) {
        pinnedBytes -= bytes;
        openFiles--;
    }

    /**
     * Closes unused outputs whose memory is locked, until a number of bytes is released.
     *
     * @return false if there is no such output
     */
    boolean evict(long bytes) {
        synchronized (evicting) {
            List<RegisteredMapOutput> evicted;
            synchronized (this) {
                evicted = leastRecentlyUsed(bytes, 0);
                remove(evicted);
            }
            closeEvicted(evicted);
            return !evicted.isEmpty();
        }
    }

    /**
     * Returns unused outputs with a number of bytes and files, or fewer if there are not enough.
     * Guarded by this.
     */
    private List<RegisteredMapOutput> leastRecentlyUsed(long bytes, long files) {
        var found = new ArrayList<RegisteredMapOutput>();
        var missingBytes = bytes;
        for (var output : outputs.values()) {
            if (missingBytes <= 0 && found.size() >= files) {
                break;
            }
            if (output.users == 0 && (output.pinnedBytes() > 0 || found.size() < files)) {
                found.add(output);
                missingBytes -= output.pinnedBytes();
            }
        }
        return found;
    }

    /** Guarded by this. */
    private void remove(List<RegisteredMapOutput> evicted) {
        evicted.forEach(output -> outputs.remove(output.key()));
    }

    private void closeEvicted(List<RegisteredMapOutput> evicted) {
        evicted.forEach(this::close);
        metrics.add(Metric.EVICTIONS, evicted.size());
    }

    /**
     * Adds an output for which {@link #reserve} was called, and starts its use.
     *
     * @param forgetsBefore the value of {@link #forgets} before the output was found
     */
    synchronized void add(RegisteredMapOutput output, long forgetsBefore) {
        output.users++;
        // The shuffle may have been forgotten since the index was found.
        output.isForgotten = closed || forgets != forgetsBefore;
        if (!output.isForgotten) {
            outputs.put(output.key(), output);
        }
    }

    /** Ends the use of an output by a request. */
    void release(RegisteredMapOutput output) {
        synchronized (this) {
            if (--output.users > 0 || !output.isForgotten) {
                return;
            }
        }
        close(output);
    }

    private void close(RegisteredMapOutput output) {
        output.close();
        unreserve(output.pinnedBytes()); // not earlier, because the memory was locked
    }

    /** Closes the outputs of a shuffle, those in use when their last user has finished. */
    void forget(int shuffle) {
        var unused = new ArrayList<RegisteredMapOutput>();
        synchronized (this) {
            forgets++;
            for (var all = outputs.values().iterator(); all.hasNext(); ) {
                var output = all.next();
                if (output.key().shuffle() == shuffle) {
                    all.remove();
                    output.isForgotten = true;
                    if (output.users == 0) {
                        unused.add(output);
                    }
                }
            }
        }
        unused.forEach(this::close);
    }

    /** Closes all outputs, also those in use. */
    @Override
    public void close() {
        List<RegisteredMapOutput> open;
        synchronized (this) {
            closed = true;
            open = List.copyOf(outputs.values());
            outputs.clear();
        }
        open.forEach(RegisteredMapOutput::close);
    }
}
