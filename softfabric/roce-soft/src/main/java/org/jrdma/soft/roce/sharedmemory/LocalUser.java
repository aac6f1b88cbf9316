package org.jrdma.soft.roce.sharedmemory;

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

    /** Returns true if the process at the other end of a connection has this user. */
    boolean isPeerOf(OpenFile socket) {
        return isKnown() && SeqPacketSocket.peerUser(socket.number()) == id;
    }
}
