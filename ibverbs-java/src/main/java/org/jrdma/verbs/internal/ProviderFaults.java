package org.jrdma.verbs.internal;

import org.jrdma.verbs.model.DeviceAttributes;

/** Known defects of providers, which the SDK avoids. */
public final class ProviderFaults {

    /** The vendor identifier of the kernel's software RoCE driver. */
    private static final int RXE = 0xff_ffff;

    private ProviderFaults() {}

    /**
     * Returns true if a poll that continues with another completion may lose a completion, or
     * release a lock that another thread holds. librxe did the former before rdma-core 55 and the
     * latter before rdma-core 59. The version of librxe cannot be queried.
     */
    public static boolean inNextPoll(DeviceAttributes device) {
        return device.vendorId() == RXE;
    }

    /**
     * Returns true if extended posts have two defects, as in librxe before rdma-core 64. Lists of
     * memory pieces are processed wrongly: of several inline pieces nothing is sent, and of other
     * pieces as many bytes as the length of the first piece times their number. Also, an errno
     * other than ENOSPC may come from the doorbell, after the requests have been posted.
     */
    public static boolean inExtendedPosts(DeviceAttributes device) {
        return device.vendorId() == RXE;
    }
}
