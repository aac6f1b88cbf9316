package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.util.HashMap;
import java.util.Map;

/** The DMA channels that are in use on the adapters of a process. */
final class DmaChannelAllocator {

    static final int CHANNELS = 4;

    /** A channel in use, with the properties that the program requested. */
    record Allocation(int adapter, int type, int number, boolean isShared) {}

    private final Map<Allocation, Integer> users = new HashMap<>();

    synchronized Allocation allocate(int adapter, int type, int number, boolean isShared) {
        var any = number == SCI_DMA_CHANNEL_ID_DONTCARE();
        for (var i = 0; i < CHANNELS; i++) {
            if (any || i == number) {
                var requested = new Allocation(adapter, type, i, isShared);
                var conflicting = new Allocation(adapter, type, i, !isShared);
                if (!users.containsKey(conflicting)
                        && (isShared || !users.containsKey(requested))) {
                    users.merge(requested, 1, Integer::sum);
                    return requested;
                }
            }
        }
        throw new SciException(SCI_ERR_BUSY());
    }

    synchronized void release(Allocation allocation) {
        users.computeIfPresent(allocation, (_, count) -> count == 1 ? null : count - 1);
    }
}
