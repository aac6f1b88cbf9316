package org.jrdma.soft.roce.network;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.RoceGid;

/**
 * The sockets of a port: one for the address of the port, and one for each multicast group that it
 * has joined. Guarded by the lock of the {@link Port}.
 */
final class PortAndMulticastSockets {

    private final UdpSocket own;
    private final LocalInterface localInterface;
    private final int socketBuffer;
    private final SystemCalls calls;

    /** The number of calls of {@link #join} without a {@link #leave}, by multicast group. */
    private final Map<RoceGid, Integer> memberships = new HashMap<>();

    /**
     * The socket for the address of the port, followed by the sockets for multicast groups. The
     * array is never modified but replaced, because the daemon thread may be waiting for the
     * sockets in it.
     */
    private UdpSocket[] sockets;

    PortAndMulticastSockets(
            UdpSocket own, LocalInterface localInterface, int socketBuffer, SystemCalls calls) {
        this.own = own;
        this.localInterface = localInterface;
        this.socketBuffer = socketBuffer;
        this.calls = calls;
        this.sockets = new UdpSocket[] {own};
    }

    /** Returns all sockets, in an array that is never modified. */
    UdpSocket[] all() {
        return sockets;
    }

    boolean areClosed() {
        return sockets.length == 0;
    }

    /**
     * Joins a multicast group. Returns true if this has added a socket. If the port had joined the
     * group before, it already has the socket.
     */
    boolean join(RoceGid group) throws FabricException {
        if (memberships.merge(group, 1, Integer::sum) > 1 || areClosed()) {
            return false;
        }
        try {
            var next = Arrays.copyOf(sockets, sockets.length + 1);
            next[sockets.length] = UdpSocket.ofGroup(group, localInterface, socketBuffer, calls);
            sockets = next;
            return true;
        } catch (Throwable e) {
            memberships.remove(group);
            throw e;
        }
    }

    /**
     * Leaves a multicast group: reverts one call of {@link #join}. Returns true if this has removed
     * the socket of the group, because all calls for the group are reverted.
     */
    boolean leave(RoceGid group) {
        if (memberships.computeIfPresent(group, (_, count) -> count == 1 ? null : count - 1) != null
                || areClosed()) {
            return false;
        }
        for (var socket : sockets) {
            if (socket != own && socket.address().equals(group)) {
                socket.close();
                sockets =
                        Arrays.stream(sockets)
                                .filter(other -> other != socket)
                                .toArray(UdpSocket[]::new);
                return true;
            }
        }
        return false;
    }

    void close() {
        for (var socket : sockets) {
            socket.close();
        }
        sockets = new UdpSocket[0];
    }
}
