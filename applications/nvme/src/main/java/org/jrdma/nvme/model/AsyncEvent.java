package org.jrdma.nvme.model;

/**
 * An event that a controller reports by completing an asynchronous event request.
 *
 * @param type the type of the event, such as {@link #ERROR}
 * @param information the event within its type
 * @param logPage the {@linkplain LogPage log page} that the driver reads to acknowledge the event
 */
public record AsyncEvent(int type, int information, int logPage) {

    /** The type of errors of queues and of the controller. */
    public static final int ERROR = 0;

    /** The type of health events. */
    public static final int SMART = 1;

    /** The type of notices, such as that of a changed namespace. */
    public static final int NOTICE = 2;

    /** The type of events of the I/O command set, which are reservation notifications. */
    public static final int COMMAND_SET = 6;

    /** A store to a doorbell of a queue that does not exist. */
    public static final AsyncEvent UNKNOWN_DOORBELL = new AsyncEvent(ERROR, 0, LogPage.ERRORS);

    /** A store of an invalid value to a doorbell. */
    public static final AsyncEvent INVALID_DOORBELL_VALUE =
            new AsyncEvent(ERROR, 1, LogPage.ERRORS);

    /** A persistent failure, such as of a queue whose memory is not accessible. */
    public static final AsyncEvent PERSISTENT_ERROR = new AsyncEvent(ERROR, 3, LogPage.ERRORS);

    /** A temperature beyond its threshold. */
    public static final AsyncEvent TEMPERATURE = new AsyncEvent(SMART, 1, LogPage.SMART);

    /** A namespace that was added, resized or removed. */
    public static final AsyncEvent NAMESPACE_CHANGED =
            new AsyncEvent(NOTICE, 0, LogPage.CHANGED_NAMESPACES);

    /** A new reservation notification. */
    public static final AsyncEvent RESERVATION =
            new AsyncEvent(COMMAND_SET, 0, LogPage.RESERVATION_NOTIFICATION);

    /** Decodes the result of an asynchronous event request. */
    public static AsyncEvent decode(int result) {
        return new AsyncEvent(result & 7, result >>> 8 & 0xff, result >>> 16 & 0xff);
    }

    /** Encodes the result of an asynchronous event request. */
    public int encode() {
        return type | information << 8 | logPage << 16;
    }
}
