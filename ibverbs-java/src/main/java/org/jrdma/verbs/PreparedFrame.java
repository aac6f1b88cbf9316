package org.jrdma.verbs;

import java.util.List;
import java.util.Locale;
import org.jrdma.verbs.internal.WorkRequest.Operation;
import org.jrdma.verbs.internal.WorkRequest.Send;
import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.DeviceCapability;
import org.jrdma.verbs.queue.PolledPost;
import org.jrdma.verbs.queue.PolledWorkQueue;

/** A whole Ethernet frame, without its check sequence. In C: {@code IBV_WR_SEND}. */
public final class PreparedFrame extends PreparedSendRequest<PreparedFrame> {

    PreparedFrame(PolledPost<PolledWorkQueue> post, List<MemorySlice> pieces) {
        super(post, Operation.SEND);
        local(pieces);
    }

    /**
     * Whether the device fills in the checksums of the IPv4, TCP and UDP headers; where it can is
     * said by {@link DeviceCapability#RAW_CHECKSUM}. In C: {@code IBV_SEND_IP_CSUM}.
     */
    public PreparedFrame checksummed(boolean wanted) {
        return flag(Send.IP_CHECKSUM, wanted);
    }

    /**
     * Whether the data is copied during the post, so that its memory is free at once. In C: {@code
     * IBV_SEND_INLINE}.
     *
     * @throws IllegalArgumentException if it is more than {@link QueuePair#inlineBytes()}
     */
    public PreparedFrame inline(boolean wanted) {
        return copied(wanted);
    }

    @Override
    String describe() {
        return String.format(Locale.ROOT, "raw packet of %,d bytes", length());
    }
}
