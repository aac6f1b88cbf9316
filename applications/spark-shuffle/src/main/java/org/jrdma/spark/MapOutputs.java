package org.jrdma.spark;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The registered map outputs of this executor. An output is registered when another executor first
 * asks for one of its blocks. If the limit is reached, the least recently used outputs that no
 * executor reads are deregistered. Safe for use by multiple threads.
 */
final class MapOutputs implements AutoCloseable {

    /** Finds the index of a map output. */
    interface Indexes {
        MapOutputIndex find(MapOutputIndex.Key key) throws IOException;
    }

    private static final Logger LOG = LoggerFactory.getLogger(MapOutputs.class);

    private static final int LOCKS = 64;
    private static final float LOAD_FACTOR = 0.75f;

    private final ProtectionDomain domain;
    private final Indexes indexes;
    private final long maxBytes;
    private final boolean onDemandPaging;
    private final ShuffleMetrics metrics;
    private final WarningLimiter failures = new WarningLimiter();

    /** A thread holds one of these locks while it registers a map output, to do so only once. */
    private final List<Object> registrationLocks =
            IntStream.range(0, LOCKS).mapToObj(_ -> new Object()).toList();

    // Guarded by this.
    private final LinkedHashMap<MapOutputIndex.Key, RegisteredMapOutput> outputs =
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
            Indexes indexes,
            long maxBytes,
            boolean onDemandPaging,
            ShuffleMetrics metrics) {
        this.domain = domain;
        this.indexes = indexes;
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
    Optional<RegisteredMapOutput> acquire(MapOutputIndex.Key key) throws IOException {
        var open = acquireOpen(key);
        if (open.isPresent()) {
            return open;
        }
        synchronized (registrationLocks.get(Math.floorMod(key.hashCode(), LOCKS))) {
            open = acquireOpen(key);
            return open.isPresent() ? open : register(key);
        }
    }

    private synchronized Optional<RegisteredMapOutput> acquireOpen(MapOutputIndex.Key key) {
        var output = outputs.get(key);
        if (output != null) {
            output.users++;
        }
        return Optional.ofNullable(output);
    }

    private Optional<RegisteredMapOutput> register(MapOutputIndex.Key key) throws IOException {
        var forgetsBefore = forgets();
        var index = indexes.find(key);
        var isPinned = reserve(index.dataLength());
        if (!isPinned && !onDemandPaging) {
            return Optional.empty();
        }
        RegisteredMapOutput output;
        try {
            output = new RegisteredMapOutput(index, region(index, isPinned), isPinned);
        } catch (Throwable e) {
            unreserve(isPinned ? index.dataLength() : 0);
            throw e;
        }
        metrics.add(Metric.REGISTRATIONS, 1);
        LOG.debug("Registered {} bytes of {}", index.dataLength(), index.dataFile());
        add(key, output, forgetsBefore);
        return Optional.of(output);
    }

    private MemoryRegion region(MapOutputIndex index, boolean isPinned) throws IOException {
        try (var channel = FileChannel.open(index.dataFile())) {
            return isPinned
                    ? domain.registerMapped(channel, 0, index.dataLength(), Access.REMOTE_READ)
                    : domain.registerMapped(
                            channel, 0, index.dataLength(), Access.REMOTE_READ, Access.ON_DEMAND);
        }
    }

    private synchronized long forgets() {
        return forgets;
    }

    private synchronized void add(
            MapOutputIndex.Key key, RegisteredMapOutput output, long forgetsBefore) {
        output.users++;
        openFiles++;
        // The shuffle may have been forgotten since the index was found.
        output.isForgotten = closed || forgets != forgetsBefore;
        if (!output.isForgotten) {
            outputs.put(key, output);
        }
    }

    /** Reserves bytes within the limit, for which unused outputs are closed. */
    private boolean reserve(long bytes) {
        var evicted = new ArrayList<RegisteredMapOutput>();
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
        evicted.forEach(RegisteredMapOutput::close);
        metrics.add(Metric.EVICTIONS, evicted.size());
        return true;
    }

    /** Guarded by this. */
    private long evictableBytes() {
        return outputs.values().stream()
                .filter(MapOutputs::isEvictable)
                .mapToLong(RegisteredMapOutput::pinnedBytes)
                .sum();
    }

    private static boolean isEvictable(RegisteredMapOutput output) {
        return output.users == 0 && output.pinnedBytes() > 0;
    }

    private synchronized void unreserve(long bytes) {
        pinnedBytes -= bytes;
    }

    /** Ends the use of an output by a request. */
    void release(RegisteredMapOutput output) {
        synchronized (this) {
            if (--output.users > 0 || !output.isForgotten) {
                return;
            }
            closing(output);
        }
        output.close();
    }

    /** Guarded by this. */
    private void closing(RegisteredMapOutput output) {
        pinnedBytes -= output.pinnedBytes();
        openFiles--;
    }

    /** Closes the outputs of a shuffle, those in use when their last user has finished. */
    void forget(int shuffle) {
        var unused = new ArrayList<RegisteredMapOutput>();
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
        unused.forEach(RegisteredMapOutput::close);
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

    /**
     * Logs that an output cannot be offered. If locked memory is exhausted, this may happen for
     * each block, so the number of warnings is limited. There is no warning if the output does not
     * exist, for example because its shuffle has been removed, or if this executor ends.
     */
    void logRefusal(MapOutputIndex.Key key, Exception cause) {
        var isUnexpected = cause instanceof IOException && !(cause instanceof NoSuchFileException);
        var suppressed = isUnexpected ? failures.tryLog() : OptionalLong.empty();
        if (suppressed.isPresent()) {
            LOG.warn(
                    "Cannot register map output {}. Its blocks are sent over TCP. {} earlier failures were not logged: this warning is logged at most once per minute.",
                    key,
                    suppressed.getAsLong(),
                    cause);
        } else {
            LOG.debug("Cannot offer map output {}", key, cause);
        }
    }
}
