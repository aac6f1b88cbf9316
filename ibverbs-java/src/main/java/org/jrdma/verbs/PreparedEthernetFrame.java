package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.queue.PolledWorkQueueSlots;
import org.jrdma.verbs.queue.PostTarget;

/**
 * A prepared send of an Ethernet frame. The local memory contains the complete frame, including its
 * Ethernet header but without its frame check sequence. In C: {@code IBV_WR_SEND}.
 */
public final class PreparedEthernetFrame extends PreparedSendRequest<PreparedEthernetFrame> {

    PreparedEthernetFrame(PostTarget<PolledWorkQueueSlots> post, List<MemorySlice> slices) {
        super(post, Operation.SEND);
        local(slices);
    }

    /**
     * Selects whether the device fills in the checksums of the IPv4, TCP and UDP headers. {@link
     * DeviceCapability#RAW_CHECKSUM} reports whether the device can. In C: {@code
     * IBV_SEND_IP_CSUM}.
     */
    public PreparedEthernetFrame checksummed(boolean wanted) {
        return flag(Send.IP_CHECKSUM, wanted);
    }

    /**
     * Selects whether the post copies the data, so that its memory can be reused immediately. In C:
     * {@code IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if the data is longer than {@link QueuePair#inlineBytes()}
     */
    public PreparedEthernetFrame inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "raw packet of %,d bytes", length());
    }
}
