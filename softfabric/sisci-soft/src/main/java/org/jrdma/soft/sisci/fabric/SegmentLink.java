package org.jrdma.soft.sisci.fabric;

import static org.jrdma.abi.sisci.sisci_h.*;
import static org.jrdma.soft.sisci.fabric.SciException.throwIf;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * The link to a remote segment: the connection to the segment, or the connections to the members of
 * a group, the state of the link, and the number of its cuts. Safe for use by multiple threads.
 */
final class SegmentLink {

    enum State {
        UP,
        DOWN,
        LOST
    }

    private final boolean isGroup;
    private final boolean isLoopback;
    private final List<RemoteSegmentConnection> connections = new CopyOnWriteArrayList<>();

    /**
     * The connections to members that have left the group. Their maps are kept, because a
     * concurrent copy to all members may access them.
     */
    private final List<RemoteSegmentConnection> former = new CopyOnWriteArrayList<>();

    private volatile State state = State.UP;

    /**
     * The number of times that this link was cut. Each cut may have lost stores. A sequence detects
     * lost stores by comparing this number with that of its previous check.
     */
    private volatile int cuts;

    private volatile long bytes;
    private int users;
    private boolean disconnected;

    /**
     * Creates a link without connections.
     *
     * @param isLoopback true if the segment belongs to this node, so that no adapter is involved
     */
    SegmentLink(boolean isGroup, boolean isLoopback) {
        this.isGroup = isGroup;
        this.isLoopback = isLoopback;
    }

    boolean isGroup() {
        return isGroup;
    }

    boolean isLoopback() {
        return isLoopback;
    }

    /** Returns the size in bytes; for a group, the size of the smallest member. */
    long bytes() {
        return bytes;
    }

    void limit(long newBytes) {
        bytes = newBytes;
    }

    synchronized void add(RemoteSegmentConnection connection) {
        connections.add(connection);
        bytes = bytes == 0 ? connection.bytes() : Math.min(bytes, connection.bytes());
    }

    List<RemoteSegmentConnection> connections() {
        return connections;
    }

    State state() {
        return state;
    }

    int cuts() {
        return cuts;
    }

    synchronized void state(State newState) {
        // The state is set before the number of cuts is incremented, so that a check that reads the
        // new number also reads the new state.
        state = newState;
        if (newState != State.UP) {
            cuts++;
        }
    }

    /** Removes the connection to a member that has left this group. */
    synchronized void remove(RemoteSegmentConnection member) {
        if (connections.remove(member)) {
            cuts++;
            member.lose();
            former.add(member);
        }
    }

    /** Prevents a disconnect until {@link #release} is called. */
    synchronized void hold() {
        throwIf(disconnected, SCI_ERR_ILLEGAL_PARAMETER());
        users++;
    }

    synchronized void release() {
        users--;
    }

    synchronized boolean isDisconnected() {
        return disconnected;
    }

    /** Marks the link as disconnected. Fails with SCI_ERR_BUSY if {@link #hold} prevents it. */
    synchronized void disconnect() {
        throwIf(disconnected, SCI_ERR_ILLEGAL_PARAMETER());
        throwIf(users > 0, SCI_ERR_BUSY());
        disconnected = true;
    }

    void close() {
        connections.forEach(RemoteSegmentConnection::close);
        former.forEach(RemoteSegmentConnection::close);
    }
}
