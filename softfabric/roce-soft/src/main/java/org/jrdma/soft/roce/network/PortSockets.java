package org.jrdma.soft.roce.network;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jrdma.ffi.FabricException;
import org.jrdma.soft.roce.engine.Address;

/**
 * The sockets of a port: one for its address, and one for each multicast group that it has joined.
 * Guarded by the port's lock.
 */
final class PortSockets {

    private final UdpSocket own;
    private final LocalInterface localInterface;
    private final int socketBuffer;
    private final SystemCalls calls;
    private final Map<Address, Integer> memberships = new HashMap<>();

    /**
     * The socket of the address, followed by those of groups. The array is replaced when it
     * changes, because a thread may be waiting for its sockets.
     */
    private UdpSocket[] sockets;

    PortSockets(UdpSocket own, LocalInterface localInterface, int socketBuffer, SystemCalls calls) {
        this.own = own;
        this.localInterface = localInterface;
        this.socketBuffer = socketBuffer;
        this.calls = calls;
        this.sockets = new UdpSocket[] {own};
    }

    /** Returns all sockets, in an array that never changes. */
    UdpSocket[] all() {
        return sockets;
    }

    boolean areClosed() {
        return sockets.length == 0;
    }

    /** Joins a multicast group. Returns true if a socket was added. */
    boolean join(Address group) throws FabricException {
        if (memberships.merge(group, 1, Integer::sum) > 1 || areClosed()) {
            return false;
        }
        try {
            var added = UdpSocket.ofGroup(group, localInterface, socketBuffer, calls);
            var next = Arrays.copyOf(sockets, sockets.length + 1);
            next[sockets.length] = added;
            sockets = next;
            return true;
        } catch (FabricException e) {
            memberships.remove(group);
            throw e;
        }
    }

    /** Reverts one {@link #join}. Returns true if a socket was removed. */
    boolean leave(Address group) {
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
