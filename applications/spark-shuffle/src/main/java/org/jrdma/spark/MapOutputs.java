package org.jrdma.spark;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registered map outputs of this executor. An output is registered when another executor first
 * asks for one of its blocks. If the limit is reached, the least recently used outputs that no
 * executor reads are deregistered. Safe for use by multiple threads.
 */
final class MapOutputs implements AutoCloseable {

    /** Finds the files of a map output. */
    interface Files {
        MapOutputFile find(MapOutputFile.Key key) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(MapOutputs.class);

    private static final int LOCKS = 64;
    private static final float LOAD_FACTOR = 0.75f;

    private final ProtectionDomain domain;
    private final Files files;
    private final long maxBytes;
    private final boolean onDemandPaging;
    private final ShuffleMetrics metrics;

    /** A thread holds one of these locks while it registers a map output, to do so only once. */
    private final List<Object> registrationLocks =
            IntStream.range(0, LOCKS).mapToObj(_ -> new Object()).toList();

    // Guarded by this.
    private final LinkedHashMap<MapOutputFile.Key, MapOutput> outputs =
            new LinkedHashMap<>(LOCKS, LOAD_FACTOR, true);
    private long pinnedBytes;
    private long openFiles;
    private boolean closed;

    /** The number of calls of {@link #forget}. */
    private long forgets;

    /**
     * @param onDemandPaging whether the device supports on-demand paging, and outputs beyond the
     *     limit are registered in this way
     */
    MapOutputs(
            ProtectionDomain domain,
            Files files,
            long maxBytes,
            boolean onDemandPaging,
            ShuffleMetrics metrics) {
        this.domain = domain;
        this.files = files;
        this.maxBytes = maxBytes;
        this.onDemandPaging = onDemandPaging;
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

    /**
     * Returns a registered map output, which stays registered until {@link #release}.
     *
     * @return empty if the limit is reached
     * @throws IOException if the output does not exist or cannot be registered
     */
    Optional<MapOutput> acquire(MapOutputFile.Key key) throws IOException {
        var open = acquireOpen(key);
        if (open.isPresent()) {
            return open;
        }
        synchronized (registrationLocks.get(Math.floorMod(key.hashCode(), LOCKS))) {
            open = acquireOpen(key);
            return open.isPresent() ? open : register(key);
        }
    }

    private synchronized Optional<MapOutput> acquireOpen(MapOutputFile.Key key) {
        var output = outputs.get(key);
        if (output != null) {
            output.users++;
        }
        return Optional.ofNullable(output);
    }

    private Optional<MapOutput> register(MapOutputFile.Key key) throws IOException {
        var forgetsBefore = forgets();
        var file = files.find(key);
        var isPinned = reserve(file.length());
        if (!isPinned && !onDemandPaging) {
            return Optional.empty();
        }
        MapOutput output;
        try {
            output = new MapOutput(file, region(file, isPinned), isPinned);
        } catch (Throwable e) {
            unreserve(isPinned ? file.length() : 0);
            throw e;
        }
        metrics.add(Metric.REGISTRATIONS, 1);
        LOG.debug("Registered {} bytes of {}", file.length(), file.data());
        add(key, output, forgetsBefore);
        return Optional.of(output);
    }

    private MemoryRegion region(MapOutputFile file, boolean isPinned) throws IOException {
        try (var channel = FileChannel.open(file.data())) {
            return isPinned
                    ? domain.registerMapped(channel, 0, file.length(), Access.REMOTE_READ)
                    : domain.registerMapped(
                            channel, 0, file.length(), Access.REMOTE_READ, Access.ON_DEMAND);
        }
    }

    private synchronized long forgets() {
        return forgets;
    }

    private synchronized void add(MapOutputFile.Key key, MapOutput output, long forgetsBefore) {
        output.users++;
        openFiles++;
        // The shuffle may have been forgotten since the file was found.
        output.isForgotten = closed || forgets != forgetsBefore;
        if (!output.isForgotten) {
            outputs.put(key, output);
        }
    }

    /** Reserves bytes within the limit, for which unused outputs are closed. */
    private boolean reserve(long bytes) {
        var evicted = new ArrayList<MapOutput>();
        synchronized (this) {
            if (pinnedBytes - evictableBytes() + bytes > maxBytes) {
                return false; // without an eviction, which would not help
            }
            var candidates = outputs.values().iterator();
            while (pinnedBytes + bytes > maxBytes) {
                var output = candidates.next();
                if (isEvictable(output)) {
                    candidates.remove();
                    closing(output);
                    evicted.add(output);
                }
            }
            pinnedBytes += bytes;
        }
        evicted.forEach(MapOutput::close);
        metrics.add(Metric.EVICTIONS, evicted.size());
        return true;
    }

    /** Guarded by this. */
    private long evictableBytes() {
        return outputs.values().stream()
                .filter(MapOutputs::isEvictable)
                .mapToLong(MapOutput::pinnedBytes)
                .sum();
    }

    private static boolean isEvictable(MapOutput output) {
        return output.users == 0 && output.pinnedBytes() > 0;
    }

    private synchronized void unreserve(long bytes) {
        pinnedBytes -= bytes;
    }

    /** Ends the use of an output by a request. */
    void release(MapOutput output) {
        synchronized (this) {
            if (--output.users > 0 || !output.isForgotten) {
                return;
            }
            closing(output);
        }
        output.close();
    }

    /** Guarded by this. */
    private void closing(MapOutput output) {
        pinnedBytes -= output.pinnedBytes();
        openFiles--;
    }

    /** Closes the outputs of a shuffle, those in use when their last user has finished. */
    void forget(int shuffle) {
        var unused = new ArrayList<MapOutput>();
        synchronized (this) {
            forgets++;
            for (var entries = outputs.entrySet().iterator(); entries.hasNext(); ) {
                var entry = entries.next();
                if (entry.getKey().shuffle() == shuffle) {
                    entries.remove();
                    var output = entry.getValue();
                    output.isForgotten = true;
                    if (output.users == 0) {
                        closing(output);
                        unused.add(output);
                    }
                }
            }
        }
        unused.forEach(MapOutput::close);
    }

    /** Closes all outputs, also those in use. */
    @Override
    public void close() {
        List<MapOutput> open;
        synchronized (this) {
            closed = true;
            open = List.copyOf(outputs.values());
            outputs.clear();
        }
        open.forEach(MapOutput::close);
    }

    /** Reports that an output cannot be offered, which only costs time. */
    static void logRefusal(MapOutputFile.Key key, Exception cause) {
        if (cause instanceof VerbsException) {
            LOG.warn("Cannot register map output {}. Its blocks are sent over TCP.", key, cause);
        } else {
            LOG.debug("Cannot offer map output {}", key, cause);
        }
    }
}
