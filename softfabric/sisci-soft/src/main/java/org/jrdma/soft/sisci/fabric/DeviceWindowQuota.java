package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.SCI_ERR_MAX_ENTRIES;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.HashMap;
import java.util.Map;
import org.jrdma.soft.sisci.control.Connection;

/**
 * Limits the memory that borrowers have mapped for the devices of this process. Each window is a
 * mapping of this process, of which Linux permits about 65,000 ({@code vm.max_map_count}). A JVM
 * that exceeds this limit cannot start threads any more. Safe for use by multiple threads.
 */
final class DeviceWindowQuota {

    /** The maximum number of windows that one borrowing process may have. */
    static final int MAX_OF_PROCESS = 4096;

    /** The maximum number of windows of all borrowing processes together. */
    private static final int MAX_TOTAL = 16_384;

    private final Map<Connection, Integer> windows = new HashMap<>();
    private int total;

    /**
     * Counts a new window of a borrowing process. Fails with SCI_ERR_MAX_ENTRIES if there are too
     * many.
     */
    synchronized void acquire(Connection process) {
        var count = windows.getOrDefault(process, 0);
        throwIf(count >= MAX_OF_PROCESS || total >= MAX_TOTAL, SCI_ERR_MAX_ENTRIES());
        windows.put(process, count + 1);
        total++;
    }

    synchronized void release(Connection process, int count) {
        total -= count;
        windows.computeIfPresent(process, (_, all) -> all == count ? null : all - count);
    }
}
