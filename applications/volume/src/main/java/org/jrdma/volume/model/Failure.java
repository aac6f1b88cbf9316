package org.jrdma.volume.model;

/** The reason for which a volume rejects or fails an operation. */
public enum Failure {
    /** A drive, a connection or a node failed. */
    UNAVAILABLE,
    /** A file or folder does not exist. */
    NOT_FOUND,
    /** A file or folder exists already. */
    EXISTS,
    /** A folder is not empty. */
    NOT_EMPTY,
    /** The path leads through a file, or the operation needs a folder. */
    NOT_A_FOLDER,
    /** The operation needs a file. */
    IS_A_FOLDER,
    /** The volume has not enough space for data or metadata. */
    NO_SPACE,
    /** A name, size or other argument is invalid. */
    INVALID,
    /** Another session holds a lock. */
    LOCKED,
    /** The session has ended, and with it the leases and locks of the client. */
    SESSION_LOST,
    /** This node is not the coordinator. */
    NOT_COORDINATOR,
    /** The stored or received data are damaged. */
    MALFORMED,
    /** The drive has lost data that was not durable. */
    DATA_LOST
}
