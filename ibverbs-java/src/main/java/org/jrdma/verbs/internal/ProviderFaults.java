package org.jrdma.verbs.internal;

import org.jrdma.verbs.model.DeviceAttributes;

/** What a provider is known to do wrong, so that it is not asked to. */
public final class ProviderFaults {

    /** What the driver of the kernel's software RoCE calls its vendor. */
    private static final int RXE = 0xff_ffff;

    private ProviderFaults() {}

    /**
     * Whether a poll that goes on to a next completion may lose one, or unlock what another thread
     * has locked. librxe did the one before rdma-core 55, the other before 59; which version it is
     * cannot be asked.
     */
    public static boolean inNextPoll(DeviceAttributes device) {
        return device.vendorId() == RXE;
    }

    /**
     * Whether the functions of extended posts get lists of pieces wrong. librxe did before
     * rdma-core 64: it sent of several inline pieces nothing, and of others as many bytes as the
     * first piece times their number. And whether their errno may come of a doorbell, when the
     * requests are posted, if it is not ENOSPC.
     */
    public static boolean inExtendedPosts(DeviceAttributes device) {
        return device.vendorId() == RXE;
    }
}
