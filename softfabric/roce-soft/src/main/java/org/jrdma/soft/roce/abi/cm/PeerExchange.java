package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.connection.EceOptions;

/**
 * The exchange of an identifier with a peer. Guarded by the connection manager's lock. Actions that
 * do not exist for an exchange fail with EINVAL.
 */
interface PeerExchange {

    /** Accepts a request, or confirms a reply if there are no parameters. */
    default void accept(long parameters) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /**
     * Rejects the request or the reply.
     *
     * @param reason as in {@link org.jrdma.soft.roce.connection.RejectionReason}; not for
     *     datagrams, which have one for all
     */
    default void reject(int reason, long privateData, byte length) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** The ECE options of the peer. */
    default EceOptions peersEnhancement() {
        return EceOptions.NONE;
    }

    /** Disconnects, or answers the disconnect request of the peer. */
    default void disconnect() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** Handles a message that came before the confirmation of the peer. */
    default void establish() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** Fills in the attributes that move a queue pair to a state. Returns the mask. */
    int initialize(MemorySegment attributes, int state);

    /** Closes the exchange on behalf of the program. */
    void close();

    /** Fails with EINVAL if an action was not valid. */
    static void refuseUnless(boolean done) {
        ErrnoException.throwIf(!done, Errno.EINVAL);
    }
}
