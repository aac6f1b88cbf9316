package org.jrdma.soft.roce.abi;

import java.lang.foreign.MemorySegment;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.connection.Enhancement;

/**
 * What an identifier has under way with a peer. Under the connection manager's lock. A step that it
 * does not have is refused.
 */
interface Dialogue {

    /** Accepts what the peer wants, or confirms what it has accepted if there are no parameters. */
    default void accept(long parameters) {
        throw new Refusal(Errno.EINVAL);
    }

    /**
     * Refuses it.
     *
     * @param reason as in {@link org.jrdma.soft.roce.connection.Reason}; not for datagrams, which
     *     have one for all
     */
    default void reject(int reason, long privateData, byte length) {
        throw new Refusal(Errno.EINVAL);
    }

    /** What the peer's driver would add. */
    default Enhancement peersEnhancement() {
        return Enhancement.NONE;
    }

    /** Ends it, or agrees to its end. */
    default void disconnect() {
        throw new Refusal(Errno.EINVAL);
    }

    /** A message has come before the peer's last word. */
    default void establish() {
        throw new Refusal(Errno.EINVAL);
    }

    /** Fills in how a queue pair gets to a state. Returns the mask. */
    int initialize(MemorySegment attributes, int state);

    /** The program has no more use for it. */
    void close();

    /** Refuses a step that came to nothing. */
    static void refuseUnless(boolean done) {
        if (!done) {
            throw new Refusal(Errno.EINVAL);
        }
    }
}
