package org.jrdma.soft.sisci.fabric;

import java.util.HashMap;
import java.util.Map;
import org.jrdma.abi.sisci.sisci_h;

/** Which DMA channels of a process's adapters are taken. */
final class DmaChannelAllocator {

    static final int CHANNELS = 4;

    /** One, as a program asked for it. */
    record Taken(int adapter, int type, int number, boolean isShared) {}

    private final Map<Taken, Integer> users = new HashMap<>();

    synchronized Taken take(int adapter, int type, int number, boolean isShared) {
        var any = number == sisci_h.SCI_DMA_CHANNEL_ID_DONTCARE();
        for (var i = 0; i < CHANNELS; i++) {
            if (any || i == number) {
                var wanted = new Taken(adapter, type, i, isShared);
                var other = new Taken(adapter, type, i, !isShared);
                if (!users.containsKey(other) && (isShared || !users.containsKey(wanted))) {
                    users.merge(wanted, 1, Integer::sum);
                    return wanted;
                }
            }
        }
        throw new SciException(sisci_h.SCI_ERR_BUSY());
    }

    synchronized void giveBack(Taken taken) {
        users.computeIfPresent(taken, (_, count) -> count == 1 ? null : count - 1);
    }
}
