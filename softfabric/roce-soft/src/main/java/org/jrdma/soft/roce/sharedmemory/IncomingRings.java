package org.jrdma.soft.roce.sharedmemory;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The rings through which a port receives packets. Confined to one thread at a time. */
final class IncomingRings {

    static final int MAX_CONNECTIONS = 256;

    /** The maximum number of signals that are received from one peer at a time. */
    private static final int MAX_SIGNALS = 16;

    private static final Logger LOG = LoggerFactory.getLogger(IncomingRings.class);

    /** A connection of a peer. It has a ring after the announcement was received. */
    private static final class Connection {

        private final OpenFile socket;
        private @Nullable PacketRingReader ring;

        /** True if the peer has closed the connection. The ring may still contain packets. */
        private boolean ended;

        private Connection(OpenFile socket) {
            this.socket = socket;
        }

        private boolean isFinished() {
            return ring == null ? ended : ring.isBroken() || (ended && ring.isEmpty());
        }

        private void close() {
            socket.close();
            if (ring != null) {
                ring.close();
            }
        }
    }

    private final RoceGid own;
    private final OpenFile listener;
    private final LocalUser user;
    private final Runnable changed;
    private final List<Connection> connections = new ArrayList<>();
    private final SeqPacketSocket.Packet message =
            new SeqPacketSocket.Packet(RingAnnouncement.BYTES, Arena.ofAuto());

    /** The rings of the connections. The array is never modified but replaced. */
    private PacketRingReader[] rings = {};

    IncomingRings(RoceGid own, OpenFile listener, LocalUser user, Runnable changed) {
        this.own = own;
        this.listener = listener;
        this.user = user;
        this.changed = changed;
    }

    PacketRingReader[] rings() {
        return rings;
    }

    void addTo(SeqPacketSocket.Set set) {
        set.add(listener.number(), SeqPacketSocket.READABLE);
        for (var i = 0; i < connections.size(); i++) {
            set.add(connections.get(i).socket.number(), SeqPacketSocket.READABLE);
        }
    }

    int addTo(int[] descriptors, int index) {
        descriptors[index++] = listener.number();
        for (var connection : connections) {
            descriptors[index++] = connection.socket.number();
        }
        return index;
    }

    int count() {
        return connections.size();
    }

    /**
     * Receives announcements and signals, removes the connections of peers that have ended, and
     * accepts connections.
     *
     * @param set the descriptors that were polled, in the order of {@link #addTo}
     * @return true if a signal was received, which may have been intended for a sleeping thread
     */
    boolean process(SeqPacketSocket.Set set) {
        var signaled = false;
        var isListenerReady = set.isReady(0, SeqPacketSocket.READABLE);
        for (var i = connections.size() - 1; i >= 0; i--) {
            if (set.isReady(i + 1, SeqPacketSocket.READABLE)) {
                receive(connections.get(i));
                signaled = true;
            }
        }
        removeFinished();
        if (isListenerReady) {
            accept();
            removeFinished();
        }
        return signaled;
    }

    private void receive(Connection connection) {
        for (var i = 0; i < MAX_SIGNALS && !connection.ended; i++) {
            var length = SeqPacketSocket.receive(connection.socket.number(), message);
            if (length < 0) {
                return;
            }
            connection.ended = length == 0;
            var descriptor = message.descriptor();
            if (descriptor >= 0) {
                try (var file = OpenFile.of(descriptor)) {
                    receive(connection, length, file);
                } catch (FabricException | OutOfMemoryError e) {
                    LOG.debug("Cannot receive packets through shared memory", e);
                    connection.ended = true;
                }
            }
        }
    }

    private void receive(Connection connection, long length, OpenFile file) throws FabricException {
        var announcement = RingAnnouncement.decode(message.memory(), length);
        if (announcement == null || connection.ring != null) {
            throw new FabricException("A peer has sent an invalid announcement of a ring.");
        }
        connection.ring = new PacketRingReader(announcement.sender(), own, RingMemory.map(file));
        LOG.debug("Packets from {} to {} use shared memory", announcement.sender(), own);
        updateRings();
    }

    /** Closes the connections that have ended and whose packets were received. */
    private void removeFinished() {
        for (var i = connections.size() - 1; i >= 0; i--) {
            var connection = connections.get(i);
            if (connection.isFinished()) {
                connections.remove(i);
                updateRings(); // first, because it may throw OutOfMemoryError
                connection.close();
            }
        }
    }

    private void updateRings() {
        rings =
                connections.stream()
                        .filter(connection -> connection.ring != null)
                        .map(connection -> connection.ring)
                        .toArray(PacketRingReader[]::new);
        changed.run();
    }

    private void accept() {
        for (var socket = SeqPacketSocket.accept(listener.number());
                socket >= 0;
                socket = SeqPacketSocket.accept(listener.number())) {
            var connection = new Connection(OpenFile.of(socket));
            try {
                user.check(connection.socket);
                if (connections.size() == MAX_CONNECTIONS) {
                    throw new FabricException("The port has the maximum number of connections.");
                }
            } catch (FabricException e) {
                LOG.debug("Rejected a connection for packets through shared memory", e);
                connection.close();
                continue;
            }
            connections.add(connection);
            changed.run();
            receive(connection);
        }
    }

    void close() {
        listener.close();
        connections.forEach(Connection::close);
        connections.clear();
        rings = new PacketRingReader[0];
    }
}
