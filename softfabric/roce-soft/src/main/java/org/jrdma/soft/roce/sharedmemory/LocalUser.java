package org.jrdma.soft.roce.sharedmemory;

import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.LinuxCalls;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SeqPacketSocket;

/**
 * The user of this process, with whose other processes memory may be shared.
 *
 * @param id the effective user id
 */
record LocalUser(int id) {

    /**
     * The user id that the kernel reports for all users without an id in the user namespace of this
     * process. Two users with this id are not necessarily the same user.
     */
    private static final int UNKNOWN = 65_534;

    static LocalUser ofThisProcess() {
        return new LocalUser(LinuxCalls.effectiveUser());
    }

    boolean isKnown() {
        return id != UNKNOWN;
    }

    /**
     * Checks the user of the process at the other end of a connection.
     *
     * @throws FabricException if the process has another user
     */
    void check(OpenFile socket) throws FabricException {
        var peer = SeqPacketSocket.peerUser(socket.number());
        if (peer != id || !isKnown()) {
            throw new FabricException(
                    "The peer belongs to the user %s, and this process to the user %s."
                            .formatted(
                                    Integer.toUnsignedString(peer), Integer.toUnsignedString(id)));
        }
    }
}
