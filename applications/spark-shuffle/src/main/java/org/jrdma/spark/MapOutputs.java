package org.jrdma.spark;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.jrdma.ffi.Errno;
import org.jrdma.verbs.ProtectionDomain;
import org.jrdma.verbs.memory.MemoryRegion;
import org.jrdma.verbs.model.Access;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The map outputs of this executor. An output is registered when another executor first asks for
 * one of its blocks. Safe for use by multiple threads.
 */
final class MapOutputs implements AutoCloseable {

    /** Finds the index of a map output. */
    interface Indexes {
        MapOutputIndex find(MapOutputIndex.Key key) throws IOException;
    }

    /** Registers the data file of a map output for reading by peers. */
    interface Registration {

        /**
         * Registers a file.
         *
         * @param isPinned false for on-demand paging
         * @throws VerbsException if the device cannot register the file, for example because no
         *     more memory can be locked
         */
        MemoryRegion register(MapOutputIndex index, boolean isPinned) throws IOException;

        /** Returns a registration in a protection domain. */
        static Registration in(ProtectionDomain domain) {
            return (index, isPinned) -> {
                var access =
                        isPinned
                                ? new Access[] {Access.REMOTE_READ}
                                : new Access[] {Access.REMOTE_READ, Access.ON_DEMAND};
                try (var channel = FileChannel.open(index.dataFile())) {
                    return domain.registerMapped(channel, 0, index.dataLength(), access);
                }
            };
        }
    }

    /**
     * The limits for the outputs that are registered at the same time.
     *
     * @param pinnedBytes the maximum number of bytes whose memory is locked
     * @param files the maximum number of files, each of which is a memory mapping
     * @param onDemandPaging whether the device supports on-demand paging, and outputs whose memory
     *     cannot be locked are registered in this way
     */
    record Limits(long pinnedBytes, int files, boolean onDemandPaging) {

        /** A process has at most 65,530 mappings by default (vm.max_map_count). */
        static final int MAX_FILES = 16_384;
    }

    private static final Logger LOG = LoggerFactory.getLogger(MapOutputs.class);

    private static final int LOCKS = 64;

    /** The time after which a failed registration of an output is repeated. */
    static final Duration FAILURE_PAUSE = Duration.ofSeconds(30);

    private final Registration registration;
    private final Indexes indexes;
    private final boolean onDemandPaging;
    private final ShuffleMetrics metrics;
    private final RegisteredMapOutputTable registered;
    private final WarningLimiter failures = new WarningLimiter();
    private final LongSupplier nanoTime;

    /** The time of the last failure of each output that could not be registered. */
    private final Map<MapOutputIndex.Key, Long> failed = new ConcurrentHashMap<>();

    /** A thread holds one of these locks while it registers a map output, to do so only once. */
    private final List<Object> registrationLocks =
            IntStream.range(0, LOCKS).mapToObj(_ -> new Object()).toList();

    MapOutputs(Registration registration, Indexes indexes, Limits limits, ShuffleMetrics metrics) {
        this(registration, indexes, limits, metrics, System::nanoTime);
    }

    /**
     * @param nanoTime a clock such as {@link System#nanoTime()}
     */
    MapOutputs(
            Registration registration,
            Indexes indexes,
            Limits limits,
            ShuffleMetrics metrics,
            LongSupplier nanoTime) {
        this.registration = registration;
        this.indexes = indexes;
        this.onDemandPaging = limits.onDemandPaging();
        this.metrics = metrics;
        this.nanoTime = nanoTime;
        this.registered =
                new RegisteredMapOutputTable(limits.pinnedBytes(), limits.files(), metrics);
    }

    /**
     * Returns a registered map output, which stays registered until {@link #release}.
     *
     * @return empty if a limit is reached, or if the registration has failed recently
     * @throws IOException if the output does not exist or cannot be registered
     */
    Optional<RegisteredMapOutput> acquire(MapOutputIndex.Key key) throws IOException {
        var open = registered.acquire(key);
        if (open.isPresent()) {
            return open;
        }
        synchronized (registrationLocks.get(Math.floorMod(key.hashCode(), LOCKS))) {
            open = registered.acquire(key);
            return open.isPresent() || hasFailedRecently(key) ? open : register(key);
        }
    }

    /**
     * Returns true if the registration of an output must not be repeated yet. Without this pause,
     * it would be repeated for each block of the output, and could close other outputs each time.
     */
    private boolean hasFailedRecently(MapOutputIndex.Key key) {
        var time = failed.get(key);
        return time != null && nanoTime.getAsLong() - time < FAILURE_PAUSE.toNanos();
    }

    private Optional<RegisteredMapOutput> register(MapOutputIndex.Key key) throws IOException {
        var forgetsBefore = registered.forgets();
        try {
            var output = register(key, indexes.find(key));
            failed.remove(key);
            output.ifPresent(found -> registered.add(found, forgetsBefore));
            return output;
        } catch (VerbsException e) {
            failed.put(key, nanoTime.getAsLong());
            throw e;
        }
    }

    private Optional<RegisteredMapOutput> register(MapOutputIndex.Key key, MapOutputIndex index)
            throws IOException {
        @Nullable VerbsException failure = null;
        var bytes = index.dataLength();
        for (var isRetry = false; registered.reserve(bytes); isRetry = true) {
            try {
                return Optional.of(registerReserved(key, index, true));
            } catch (VerbsException e) {
                failure = e;
                if (isRetry || e.code() != Errno.ENOMEM || !registered.evict(bytes)) {
                    break;
                }
            }
        }
        if (onDemandPaging && registered.reserve(0)) {
            return Optional.of(registerReserved(key, index, false));
        }
        if (failure != null) {
            throw failure;
        }
        return Optional.empty();
    }

    /** Registers an output within the limits, which the caller has reserved. */
    private RegisteredMapOutput registerReserved(
            MapOutputIndex.Key key, MapOutputIndex index, boolean isPinned) throws IOException {
        MemoryRegion region;
        try {
            region = registration.register(index, isPinned);
        } catch (Throwable e) {
            registered.unreserve(isPinned ? index.dataLength() : 0);
            throw e;
        }
        metrics.add(Metric.REGISTRATIONS, 1);
        LOG.debug("Registered {} bytes of {}", index.dataLength(), index.dataFile());
        return new RegisteredMapOutput(key, index, region, isPinned);
    }

    /** Ends the use of an output by a request. */
    void release(RegisteredMapOutput output) {
        registered.release(output);
    }

    /** Closes the outputs of a shuffle, those in use when their last user has finished. */
    void forget(int shuffle) {
        registered.forget(shuffle);
        failed.keySet().removeIf(key -> key.shuffle() == shuffle);
    }

    /** Closes all outputs, also those in use. */
    @Override
    public void close() {
        registered.close();
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
