package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;

import java.util.HashMap;
import java.util.Map;

/** The DMA channels of the adapters of a process that are in use. */
final class DmaChannelAllocator {

    static final int CHANNELS = 4;

    /** A channel as a program requested it. */
    record Allocation(int adapter, int type, int number, boolean isShared) {}

    private final Map<Allocation, Integer> users = new HashMap<>();

    synchronized Allocation allocate(int adapter, int type, int number, boolean isShared) {
        var any = number == SCI_DMA_CHANNEL_ID_DONTCARE();
        for (var i = 0; i < CHANNELS; i++) {
            if (any || i == number) {
                var wanted = new Allocation(adapter, type, i, isShared);
                var other = new Allocation(adapter, type, i, !isShared);
                if (!users.containsKey(other) && (isShared || !users.containsKey(wanted))) {
                    users.merge(wanted, 1, Integer::sum);
                    return wanted;
                }
            }
        }
        throw new SciException(SCI_ERR_BUSY());
    }

    synchronized void release(Allocation allocation) {
        users.computeIfPresent(allocation, (_, count) -> count == 1 ? null : count - 1);
    }
}
