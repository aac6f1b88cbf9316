package org.jrdma.nvme.model;

/**
 * The configuration that a driver gives to a controller: the register CC.
 *
 * @param enabled true to start the controller, false to reset it (EN)
 * @param commandSet the I/O command set; 0 for NVM (CSS)
 * @param pageShift the base two logarithm of the page size (MPS + 12)
 * @param arbitration the arbitration of queues; 0 for round robin (AMS)
 * @param shutdown the requested shutdown: 0 none, 1 normal, 2 abrupt (SHN)
 * @param submissionEntryShift the base two logarithm of the size of a command (IOSQES)
 * @param completionEntryShift the base two logarithm of the size of a completion (IOCQES)
 */
public record Configuration(
        boolean enabled,
        int commandSet,
        int pageShift,
        int arbitration,
        int shutdown,
        int submissionEntryShift,
        int completionEntryShift) {

    /** The base two logarithm of {@link #PAGE_BYTES}, the smallest value of {@link #pageShift}. */
    public static final int PAGE_SHIFT = 12;

    /** The size of a page for the driver and for the software controller. */
    public static final int PAGE_BYTES = 1 << PAGE_SHIFT;

    /** An enabled controller with the NVM command set and pages of 4 KiB. */
    public static final Configuration ENABLED = new Configuration(true, 0, PAGE_SHIFT, 0, 0, 6, 4);

    /** The value of {@link #shutdown} for a normal shutdown. */
    public static final int NORMAL_SHUTDOWN = 1;

    /** Decodes the register. */
    public static Configuration decode(int register) {
        return new Configuration(
                (register & 1) != 0,
                register >>> 4 & 7,
                (register >>> 7 & 0xf) + PAGE_SHIFT,
                register >>> 11 & 7,
                register >>> 14 & 3,
                register >>> 16 & 0xf,
                register >>> 20 & 0xf);
    }

    /** Encodes the register. */
    public int encode() {
        return (enabled ? 1 : 0)
                | commandSet << 4
                | (pageShift - PAGE_SHIFT) << 7
                | arbitration << 11
                | shutdown << 14
                | submissionEntryShift << 16
                | completionEntryShift << 20;
    }

    /** Returns a copy with another {@link #enabled()}. */
    public Configuration enabled(boolean value) {
        return new Configuration(
                value,
                commandSet,
                pageShift,
                arbitration,
                shutdown,
                submissionEntryShift,
                completionEntryShift);
    }

    /** Returns a copy with another {@link #shutdown()}. */
    public Configuration shutdown(int value) {
        return new Configuration(
                enabled,
                commandSet,
                pageShift,
                arbitration,
                value,
                submissionEntryShift,
                completionEntryShift);
    }
}
