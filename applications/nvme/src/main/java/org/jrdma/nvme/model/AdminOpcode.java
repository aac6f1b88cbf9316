package org.jrdma.nvme.model;

/** The opcodes of the admin commands. */
public final class AdminOpcode {

    /** Deletes an I/O submission queue. */
    public static final int DELETE_SUBMISSION_QUEUE = 0x00;

    /** Creates an I/O submission queue. */
    public static final int CREATE_SUBMISSION_QUEUE = 0x01;

    /** Reads a {@linkplain LogPage log page}. */
    public static final int GET_LOG_PAGE = 0x02;

    /** Deletes an I/O completion queue. */
    public static final int DELETE_COMPLETION_QUEUE = 0x04;

    /** Creates an I/O completion queue. */
    public static final int CREATE_COMPLETION_QUEUE = 0x05;

    /** Reads a data structure that describes the controller or a namespace. */
    public static final int IDENTIFY = 0x06;

    /** Aborts a command. */
    public static final int ABORT = 0x08;

    /** Sets a {@linkplain FeatureId feature}. */
    public static final int SET_FEATURES = 0x09;

    /** Reads a {@linkplain FeatureId feature}. */
    public static final int GET_FEATURES = 0x0a;

    /** Requests the report of one {@linkplain AsyncEvent event}. */
    public static final int ASYNC_EVENT_REQUEST = 0x0c;

    /** Reports that the host is alive. */
    public static final int KEEP_ALIVE = 0x18;

    /** Formats a namespace, which destroys its data. */
    public static final int FORMAT = 0x80;

    private AdminOpcode() {}
}
