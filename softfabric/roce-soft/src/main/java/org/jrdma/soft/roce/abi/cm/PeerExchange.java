package org.jrdma.soft.roce.abi.cm;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.connection.EceOptions;

/**
 * What an identifier has under way with a peer. Under the connection manager's lock. A step that it
 * does not have is refused.
 */
interface PeerExchange {

    /** Accepts what the peer wants, or confirms what it has accepted if there are no parameters. */
    default void accept(long parameters) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /**
     * Refuses it.
     *
     * @param reason as in {@link org.jrdma.soft.roce.connection.RejectionReason}; not for
     *     datagrams, which have one for all
     */
    default void reject(int reason, long privateData, byte length) {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** What the peer's driver would add. */
    default EceOptions peersEnhancement() {
        return EceOptions.NONE;
    }

    /** Ends it, or agrees to its end. */
    default void disconnect() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** A message has come before the peer's last word. */
    default void establish() {
        throw new ErrnoException(Errno.EINVAL);
    }

    /** Fills in how a queue pair gets to a state. Returns the mask. */
    int initialize(MemorySegment attributes, int state);

    /** The program has no more use for it. */
    void close();

    /** Refuses a step that came to nothing. */
    static void refuseUnless(boolean done) {
        ErrnoException.throwIf(!done, Errno.EINVAL);
    }
}
