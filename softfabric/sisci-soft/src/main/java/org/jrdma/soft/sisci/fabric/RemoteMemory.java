package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The memory of a remote segment: the connection to the segment, or to each member of a group, and
 * the state of the link. Safe for use by multiple threads.
 */
final class RemoteMemory {

    /** The state of the link. */
    enum Link {
        UP,
        DOWN,
        LOST
    }

    private final boolean isGroup;
    private final boolean isLoopback;
    private final List<SegmentConnection> connections = new CopyOnWriteArrayList<>();

    /** Members of the group that have ended; a copy to all members may still use them. */
    private final List<SegmentConnection> former = new CopyOnWriteArrayList<>();

    private volatile Link link = Link.UP;

    /** The number of times that stores could get lost: a change between two checks says so. */
    private volatile int cuts;

    private volatile long bytes;
    private int users;
    private boolean disconnected;

    /**
     * A memory without a connection.
     *
     * @param isLoopback whether the memory is of this very node, so that there is no link
     */
    RemoteMemory(boolean isGroup, boolean isLoopback) {
        this.isGroup = isGroup;
        this.isLoopback = isLoopback;
    }

    boolean isGroup() {
        return isGroup;
    }

    boolean isLoopback() {
        return isLoopback;
    }

    /** The size; of a group, that of the smallest member. */
    long bytes() {
        return bytes;
    }

    /** Reduces the size. */
    void limit(long newBytes) {
        bytes = newBytes;
    }

    /** Adds a connection. */
    synchronized void add(SegmentConnection connection) {
        connections.add(connection);
        bytes = bytes == 0 ? connection.bytes() : Math.min(bytes, connection.bytes());
    }

    List<SegmentConnection> connections() {
        return connections;
    }

    Link link() {
        return link;
    }

    int cuts() {
        return cuts;
    }

    /** Changes the state of the link. */
    synchronized void link(Link newLink) {
        link = newLink; // first, so that no check finds the link up when stores are lost
        if (newLink != Link.UP) {
            cuts++;
        }
    }

    /** Removes a member of a group that has ended. */
    synchronized void remove(SegmentConnection member) {
        if (connections.remove(member)) {
            cuts++;
            member.lose();
            former.add(member);
        }
    }

    /** Prevents a disconnect until {@link #release}. */
    synchronized void hold() {
        throwIf(disconnected, SCI_ERR_ILLEGAL_PARAMETER());
        users++;
    }

    synchronized void release() {
        users--;
    }

    /** Ends the use of the memory, unless it is held. */
    synchronized void disconnect() {
        throwIf(disconnected, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(users > 0, SCI_ERR_BUSY());
        disconnected = true;
    }

    /** Closes all connections. */
    void close() {
        connections.forEach(SegmentConnection::close);
        former.forEach(SegmentConnection::close);
    }
}
