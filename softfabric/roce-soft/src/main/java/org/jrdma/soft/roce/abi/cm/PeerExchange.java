package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.connection.EceOptions;

/**
 * The exchange of an identifier with a peer. Guarded by the connection manager's lock. Operations
 * that an exchange does not support fail with EINVAL.
 */
interface PeerExchange {

    /** Accepts a request, or confirms a reply if {@code parameters} is NULL. */
    default void accept(long parameters) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /**
     * Rejects the request or the reply.
     *
     * @param reason the code of the reason, see {@link
     *     org.jrdma.soft.roce.connection.RejectionReason}; ignored for datagrams, which have only
     *     one
     */
    default void reject(int reason, long privateData, byte length) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** The ECE options of the peer. */
    default EceOptions peersEnhancement() {
        return EceOptions.NONE;
    }

    /** Disconnects, or replies to the disconnect request of the peer. */
    default void disconnect() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** Handles a message that arrived before the confirmation of the peer. */
    default void establish() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** Fills in the attributes that move a queue pair to a state. Returns the mask. */
    int initialize(MemorySegment attributes, int state);

    /** Closes the exchange on behalf of the program. */
    void close();

    /** Throws EINVAL if an operation was not valid in the current state. */
    static void requireValid(boolean done) {
        ErrnoException.throwIf(!done, Errno.EINVAL);
    }
}
