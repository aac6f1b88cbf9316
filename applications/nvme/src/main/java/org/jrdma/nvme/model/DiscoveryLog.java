package org.jrdma.nvme.model;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The log page by which a target describes its subsystems.
 *
 * @param generation the number of changes of the log page
 * @param entries the subsystems
 */
public record DiscoveryLog(long generation, List<DiscoveryEntry> entries) {

    /** The size of the part before the entries in bytes. */
    public static final int HEADER_BYTES = 1024;

    /** The largest number of entries that a decoder returns. */
    public static final int MAX_ENTRIES = 1024;

    /** Decodes the log page. Entries that do not fit in the memory are omitted. */
    public static DiscoveryLog decode(MemorySegment data) {
        var entries = new ArrayList<DiscoveryEntry>();
        var count = entryCount(data);
        for (var i = 0; i < count && offset(i + 1) <= data.byteSize(); i++) {
            entries.add(DiscoveryEntry.decode(data, offset(i)));
        }
        return new DiscoveryLog(data.get(Fields.LONG, 0), List.copyOf(entries));
    }

    /** Returns the number of entries from the header, at most {@link #MAX_ENTRIES}. */
    public static int entryCount(MemorySegment data) {
        var count = data.get(Fields.LONG, 8);
        return count < 0 || count > MAX_ENTRIES ? MAX_ENTRIES : (int) count;
    }

    private static long offset(int index) {
        return HEADER_BYTES + (long) index * DiscoveryEntry.BYTES;
    }

    /** Returns the size of a log page with a number of entries in bytes. */
    public static int bytes(int entries) {
        return HEADER_BYTES + entries * DiscoveryEntry.BYTES;
    }

    /** Encodes the log page into zeroed memory of the size that {@link #bytes} returns. */
    public void encode(MemorySegment data) {
        data.set(Fields.LONG, 0, generation);
        data.set(Fields.LONG, 8, entries.size());
        for (var i = 0; i < entries.size(); i++) {
            entries.get(i).encode(data, offset(i));
        }
    }
}
