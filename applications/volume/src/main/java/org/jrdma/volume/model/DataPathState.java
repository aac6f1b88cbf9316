package org.jrdma.volume.model;

import java.util.Optional;

/**
 * The path of a client to the blocks of a volume at one moment.
 *
 * @param kind the kind of the path
 * @param connection the connection to the server that accesses the drive; empty unless redirected
 * @param reason the reason of the last switch
 * @param switches the number of switches since the client started
 */
public record DataPathState(
        Kind kind, Optional<ConnectionDescription> connection, String reason, int switches) {

    /** The kinds of paths. The order is part of the protocol. */
    public enum Kind {
        /** The client has not accessed the data since it started, or since its path failed. */
        NONE,
        /** The client accesses the drive itself. */
        DIRECT,
        /** A server accesses the drive. */
        REDIRECTED
    }
}
