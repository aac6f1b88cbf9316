package org.jrdma.verbs.internal;

import org.jrdma.verbs.model.DeviceAttributes;

/**
 * Reports which providers (the user-space drivers behind libibverbs) have known defects, which the
 * SDK works around.
 */
public final class ProviderDefects {

    /** The vendor id that librxe, the provider of the kernel's software RoCE, reports. */
    private static final int RXE = 0xff_ffff;

    private ProviderDefects() {}

    /**
     * Returns true if {@code ibv_next_poll} is defective: it may lose a completion (librxe before
     * rdma-core 55) or release a lock that another thread holds (librxe before rdma-core 59).
     * Returns true for every version of librxe, because the version cannot be queried.
     */
    public static boolean inNextPoll(DeviceAttributes device) {
        return device.vendorId() == RXE;
    }

    /**
     * Returns true if extended posts are defective, as in librxe before rdma-core 64. Returns true
     * for every version of librxe, because the version cannot be queried. There are two defects:
     *
     * <ul>
     *   <li>Requests with several memory slices are processed incorrectly. If the slices are
     *       inline, no data is sent. Otherwise, the number of bytes sent is the length of the first
     *       slice multiplied by the number of slices.
     *   <li>An errno other than ENOSPC may come from the doorbell. In this case, the requests have
     *       been posted.
     * </ul>
     */
    public static boolean inExtendedPosts(DeviceAttributes device) {
        return device.vendorId() == RXE;
    }
}
