package org.jrdma.nvme.model;

/** The identifiers of log pages. */
public final class LogPage {

    /** {@linkplain ErrorLogEntry Errors} of commands, the newest first. */
    public static final int ERRORS = 0x01;

    /** The {@link SmartLog}. */
    public static final int SMART = 0x02;

    /** The revisions of the firmware. */
    public static final int FIRMWARE_SLOTS = 0x03;

    /** The ids of the namespaces that have changed since this page was read. */
    public static final int CHANGED_NAMESPACES = 0x04;

    /** The {@link DiscoveryLog}. */
    public static final int DISCOVERY = 0x70;

    /** The oldest {@link ReservationNotification}. */
    public static final int RESERVATION_NOTIFICATION = 0x80;

    private LogPage() {}
}
