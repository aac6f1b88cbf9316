package org.jrdma.soft.roce.connection;

/** The codes of the reasons for which this implementation rejects connections. */
public final class RejectionReason {

    public static final int TIMEOUT = 4;
    public static final int INVALID_COMMUNICATION_ID = 6;
    public static final int NO_LISTENER = 8;
    public static final int INVALID_TRANSPORT = 9;
    public static final int STALE_CONNECTION = 10;
    public static final int INVALID_GID = 12;
    public static final int INVALID_MTU = 26;
    public static final int CONSUMER = 28;
    public static final int VENDOR_OPTION_NOT_SUPPORTED = 35;

    private RejectionReason() {}
}
