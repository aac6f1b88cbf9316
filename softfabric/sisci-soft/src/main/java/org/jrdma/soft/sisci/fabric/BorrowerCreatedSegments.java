package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.soft.sisci.control.ObjectAnnouncementFile;
import org.jrdma.soft.sisci.host.Mapping;
import org.jrdma.soft.sisci.host.SystemCalls;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The segments of device memory that borrowers of one device have created, by the ids that the
 * borrowers have chosen. All segments are removed together. Safe for use by multiple threads.
 */
final class BorrowerCreatedSegments {

    static final int MAX_SEGMENTS = 256;
    static final long MAX_BYTES = 1L << 30;

    private static final Logger LOG = LoggerFactory.getLogger(BorrowerCreatedSegments.class);
    private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

    private final PeerLookupAndRequests fabric;

    /** The memory by id; empty for a segment that is being created. */
    private final Map<Integer, Optional<Memory>> byId = new HashMap<>();

    private long totalBytes;
    private boolean closed;

    private record Memory(ObjectAnnouncementFile entry, int file, long bytes) {}

    BorrowerCreatedSegments(PeerLookupAndRequests fabric) {
        this.fabric = fabric;
    }

    /**
     * Creates a segment. Fails if the id is in use, or if the total size of the segments would
     * exceed the limit.
     */
    void create(int id, long bytes) {
        throwIf(bytes <= 0, SCI_ERR_SIZE_ALIGNMENT());
        throwIf(bytes > MAX_BYTES, SCI_ERR_NOSPC());
        var rounded = Mapping.wholePages(bytes);
        synchronized (this) {
            throwIf(closed, SCI_ERR_NOT_AVAILABLE());
            throwIf(byId.containsKey(id), SCI_ERR_SEGMENTID_USED());
            throwIf(
                    byId.size() >= MAX_SEGMENTS || rounded > MAX_BYTES - totalBytes,
                    SCI_ERR_NOSPC());
            byId.put(id, Optional.empty());
            totalBytes += rounded;
        }
        // The monitor is not held here, because another process may hold the lock of the directory.
        var created = Optional.<Memory>empty();
        try {
            created = Optional.of(SciException.translate(() -> allocate(bytes, rounded)));
        } finally {
            finish(id, rounded, created);
        }
    }

    private Memory allocate(long bytes, long rounded) throws FabricException {
        var directory = fabric.directory();
        var entry =
                new ObjectAnnouncementFile(
                        fabric.node(),
                        ObjectAnnouncementFile.Kind.DEVICE_SEGMENT,
                        LAST_NUMBER.incrementAndGet(),
                        fabric.number());
        return directory.locked(
                () -> new Memory(entry, directory.createMemory(entry, rounded), bytes));
    }

    private synchronized void finish(int id, long rounded, Optional<Memory> created) {
        if (created.isPresent() && !closed) {
            byId.put(id, created);
            return;
        }
        byId.remove(id);
        totalBytes -= rounded;
        created.ifPresent(this::free);
        throwIf(closed, SCI_ERR_NOT_AVAILABLE());
    }

    /** Returns the memory of a segment, as a new descriptor that the caller must close. */
    synchronized PeerLookupAndRequests.SharedMemory share(int id) {
        var found =
                byId.getOrDefault(id, Optional.empty())
                        .orElseThrow(() -> new SciException(SCI_ERR_NO_SUCH_SEGMENT()));
        return new PeerLookupAndRequests.SharedMemory(
                SciException.translate(() -> LinuxCalls.duplicate(found.file())), found.bytes());
    }

    /** Removes all segments. Borrowers that have mapped their memory keep the maps. */
    synchronized void close() {
        closed = true;
        byId.values().forEach(memory -> memory.ifPresent(this::free));
        byId.clear();
    }

    private void free(Memory memory) {
        SystemCalls.close(memory.file());
        try {
            fabric.directory().delete(memory.entry());
        } catch (FabricException e) {
            LOG.warn("Cannot delete the file of memory at a device: {}", e.getMessage());
        }
    }
}
