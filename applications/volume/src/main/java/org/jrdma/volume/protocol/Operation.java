package org.jrdma.volume.protocol;

/** The operations of requests. The order is part of the protocol. */
public enum Operation {
    /** Opens a session, or continues one after a takeover. */
    HELLO,
    /** Reports an open file of a session that is continued. */
    RECLAIM,
    /** Ends the reports of {@link #RECLAIM}. */
    RECLAIMED,
    /** Extends the session, and returns the addresses of the data servers. */
    HEARTBEAT,
    /** Excludes the client from the drive until it registers again. */
    EXCLUDE,
    /** Ends the session. */
    GOODBYE,
    /** Returns the capacity of the volume. */
    CAPACITY,
    /** Returns the attributes of a path. */
    LOOKUP,
    /** Returns names in a folder. */
    LIST,
    /** Creates a folder. */
    CREATE_FOLDER,
    /** Removes a file or an empty folder. */
    REMOVE,
    /** Moves a file or folder. */
    RENAME,
    /** Sets the mode and the time of modification. */
    SET_ATTRIBUTES,
    /** Opens a file, and creates it if requested. */
    OPEN,
    /** Closes a file, and releases its lease. */
    CLOSE,
    /** Requests a lease. */
    LEASE,
    /** Returns further extents of a file. */
    EXTENTS,
    /** Reserves blocks for new extents. */
    ALLOCATE,
    /** Adds extents, and sets the size of a file. */
    COMMIT,
    /** Changes the size of a file. */
    TRUNCATE,
    /** Locks a range of bytes. */
    LOCK,
    /** Unlocks a range of bytes. */
    UNLOCK,
    /** Asks whether a session is valid, for a data server. */
    VALIDATE,
    /** From the coordinator: returns a lease, or commits the data written under it. */
    RECALL,
    /** From the coordinator: ends the service for a session. */
    REVOKE,
    /** Reads blocks over a data server. */
    READ_BLOCKS,
    /** Writes blocks over a data server. */
    WRITE_BLOCKS,
    /** Flushes the drive of a data server. */
    FLUSH_BLOCKS,
    /** Returns the state of a server. Needs no session. */
    SERVER_STATE,
    /** Returns the states of clients. Needs no session. */
    CLIENT_STATES,
    /** Lets a standby forward the further requests of this connection to the coordinator. */
    REDIRECT,
    /** From a data server that may not write to its drive: writes blocks over the coordinator. */
    FORWARDED_WRITE,
    /** From a data server that may not write to its drive: flushes the drive. */
    FORWARDED_FLUSH
}
