package org.jrdma.soft.roce.sharedmemory;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;

/** The rings through which a port receives packets. Confined to one thread at a time. */
final class IncomingRings {

    static final int MAX_CONNECTIONS = 256;

    /**
     * The maximum number of connections that are accepted at a time, because the caller holds a
     * lock, and a process of any user can connect repeatedly.
     */
    static final int MAX_ACCEPTED = 4;

    private final RoceGid own;
    private final RingListener listener;
    private final LocalUser user;
    private final Runnable changed;
    private final List<IncomingConnection> connections = new ArrayList<>(MAX_CONNECTIONS);
    private final SeqPacketSocket.Packet message =
            new SeqPacketSocket.Packet(RingAnnouncement.BYTES, Arena.ofAuto());

    /** The rings of the connections; null after a change. The array is never modified. */
    private PacketRingReader @Nullable [] rings;

    IncomingRings(RoceGid own, RingListener listener, LocalUser user, Runnable changed) {
        this.own = own;
        this.listener = listener;
        this.user = user;
        this.changed = changed;
    }

    PacketRingReader[] rings() {
        var current = rings;
        if (current == null) {
            current =
                    connections.stream()
                            .map(IncomingConnection::ring)
                            .filter(Objects::nonNull)
                            .toArray(PacketRingReader[]::new);
            rings = current;
        }
        return current;
    }

    private void change() {
        rings = null;
        changed.run();
    }

    int addTo(int[] descriptors, int index) {
        descriptors[index++] = listener.descriptor();
        for (var connection : connections) {
            descriptors[index++] = connection.descriptor();
        }
        return index;
    }

    /** Returns the time at which {@link #process} must be called although nothing has happened. */
    long nextDeadline() {
        return listener.reopens();
    }

    /** Returns the number of descriptors. */
    int count() {
        return 1 + connections.size();
    }

    /**
     * Receives announcements and signals, removes the connections of peers that have ended, and
     * accepts connections.
     *
     * @param set the descriptors that were polled, in the order of {@link #addTo}
     * @return true if a signal was received, which may have been intended for a sleeping thread
     */
    boolean process(SeqPacketSocket.Set set, long now) {
        var signaled = false;
        for (var i = connections.size() - 1; i >= 0; i--) {
            if (set.isReady(i + 1, SeqPacketSocket.READABLE)) {
                receive(connections.get(i));
                signaled = true;
            }
        }
        removeFinished();
        if (set.isReady(0, SeqPacketSocket.READABLE) || listener.reopen(now)) {
            accept(now);
            removeFinished();
        }
        return signaled;
    }

    private void receive(IncomingConnection connection) {
        var before = connection.ring();
        connection.receive(own, message);
        if (connection.ring() != before) {
            change();
        }
    }

    /** Closes the connections that have ended and whose packets were received. */
    private void removeFinished() {
        for (var i = connections.size() - 1; i >= 0; i--) {
            if (connections.get(i).isFinished()) {
                change();
                connections.remove(i).close();
            }
        }
    }

    private void accept(long now) {
        change();
        for (var i = 0; i < MAX_ACCEPTED; i++) {
            var socket = listener.accept(now);
            if (socket == null) {
                return;
            }
            if (connections.size() < MAX_CONNECTIONS && user.isPeerOf(socket)) {
                var connection = new IncomingConnection(socket);
                connections.add(connection);
                receive(connection);
            } else {
                socket.close();
            }
        }
    }

    void close() {
        listener.close();
        connections.forEach(IncomingConnection::close);
        connections.clear();
        rings = null;
    }
}
