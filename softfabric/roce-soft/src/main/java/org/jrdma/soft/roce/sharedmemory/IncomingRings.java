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

    /**
     * The maximum number of connections that are accepted at a time, because the caller holds a
     * lock, and a process of any user can connect repeatedly.
     */
    static final int MAX_ACCEPTED = 4;

    private static final long LISTEN_NANOS = 1_000_000_000;

    private static final Logger LOG = LoggerFactory.getLogger(IncomingRings.class);

    /** A connection of a peer. It has a ring after the announcement was received. */
    private static final class Connection {

        private final OpenFile socket;
        private @Nullable PacketRingReader ring;

        /** True if the peer has closed the connection. The ring may still contain packets. */
        private boolean ended;

        /** True if the peer has violated the rules, or its ring cannot be used. */
        private boolean rejected;

        private Connection(OpenFile socket) {
            this.socket = socket;
        }

        private boolean isFinished() {
            return rejected
                    || (ring == null ? ended : ring.isBroken() || (ended && ring.isEmpty()));
        }

        private void close() {
            socket.close();
            if (ring != null) {
                ring.close();
            }
        }
    }

    private final RoceGid own;
    private final LocalUser user;
    private final Runnable changed;
    private final List<Connection> connections = new ArrayList<>(MAX_CONNECTIONS);
    private final SeqPacketSocket.Packet message =
            new SeqPacketSocket.Packet(RingAnnouncement.BYTES, Arena.ofAuto());

    /** The listening socket; null while no connections can be accepted. */
    private @Nullable OpenFile listener;

    /** The time at which the next listening socket is created if there is none. */
    private long nextListen;

    /** The rings of the connections. The array is never modified but replaced. */
    private PacketRingReader[] rings = {};

    IncomingRings(RoceGid own, OpenFile listener, LocalUser user, Runnable changed) {
        this.own = own;
        this.listener = listener;
        this.user = user;
        this.changed = changed;
    }

    /** Creates the listening socket of the port at an address. */
    static OpenFile listen(RoceGid own) throws FabricException {
        return OpenFile.of(SeqPacketSocket.listen(RingAnnouncement.socketName(own)));
    }

    PacketRingReader[] rings() {
        return rings;
    }

    /** Returns the descriptor of the listening socket, or a negative number, which poll ignores. */
    private int listenerNumber() {
        return listener == null ? -1 : listener.number();
    }

    void addTo(SeqPacketSocket.Set set) {
        set.add(listenerNumber(), SeqPacketSocket.READABLE);
        for (var i = 0; i < connections.size(); i++) {
            set.add(connections.get(i).socket.number(), SeqPacketSocket.READABLE);
        }
    }

    int addTo(int[] descriptors, int index) {
        descriptors[index++] = listenerNumber();
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
    boolean process(SeqPacketSocket.Set set, long now) {
        var signaled = false;
        var isListenerReady = set.isReady(0, SeqPacketSocket.READABLE);
        for (var i = connections.size() - 1; i >= 0; i--) {
            if (set.isReady(i + 1, SeqPacketSocket.READABLE)) {
                receive(connections.get(i));
                signaled = true;
            }
        }
        removeFinished();
        if (listener == null) {
            listenAgain(now);
        } else if (isListenerReady) {
            accept(listener, now);
            removeFinished();
        }
        return signaled;
    }

    private void receive(Connection connection) {
        for (var i = 0; i < MAX_SIGNALS && !connection.ended && !connection.rejected; i++) {
            var length = SeqPacketSocket.receive(connection.socket.number(), message);
            if (length < 0) {
                return;
            }
            connection.ended = length == 0;
            var descriptor = message.descriptor();
            if (descriptor < 0) {
                // The kernel omits the descriptor if this process has the maximum number.
                connection.rejected = connection.ring == null;
            } else {
                try (var file = OpenFile.of(descriptor)) {
                    receive(connection, length, file);
                } catch (FabricException | OutOfMemoryError e) {
                    LOG.debug("Cannot receive packets through shared memory", e);
                    connection.rejected = true;
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
        rings = ringsWithout(null);
        changed.run();
        LOG.debug("Packets from {} to {} use shared memory", announcement.sender(), own);
    }

    /** Closes the connections that have ended and whose packets were received. */
    private void removeFinished() {
        for (var i = connections.size() - 1; i >= 0; i--) {
            var connection = connections.get(i);
            if (connection.isFinished()) {
                // First, because it may throw OutOfMemoryError, and is then repeated.
                rings = ringsWithout(connection);
                connections.remove(i);
                connection.close();
                changed.run();
            }
        }
    }

    private PacketRingReader[] ringsWithout(@Nullable Connection excluded) {
        return connections.stream()
                .filter(connection -> connection != excluded && connection.ring != null)
                .map(connection -> connection.ring)
                .toArray(PacketRingReader[]::new);
    }

    private void accept(OpenFile listening, long now) {
        for (var i = 0; i < MAX_ACCEPTED; i++) {
            var socket = SeqPacketSocket.accept(listening.number());
            if (socket == SeqPacketSocket.CANNOT_ACCEPT) {
                stopListening(listening, now);
            }
            if (socket < 0) {
                return;
            }
            var connection = new Connection(OpenFile.of(socket));
            if (connections.size() < MAX_CONNECTIONS && user.isPeerOf(connection.socket)) {
                connections.add(connection);
                changed.run();
                receive(connection);
            } else {
                connection.close();
            }
        }
    }

    /**
     * Closes the listening socket. A connection that cannot be accepted would end each wait of the
     * port at once, and its peer would send packets that are never received. The kernel now reports
     * the end of the pending connections, and their peers use UDP.
     */
    private void stopListening(OpenFile listening, long now) {
        if (nextListen == 0) {
            LOG.warn(
                    "The port {} cannot accept packets through shared memory: the process has no descriptor or no memory for another connection. New peers use UDP. Raise the limits of the process; see \"ulimit -n\".",
                    own);
        }
        listening.close();
        listener = null;
        nextListen = now + LISTEN_NANOS;
        changed.run();
    }

    private void listenAgain(long now) {
        if (now < nextListen) {
            return;
        }
        try {
            listener = listen(own);
            changed.run();
        } catch (FabricException e) {
            nextListen = now + LISTEN_NANOS;
        }
    }

    void close() {
        if (listener != null) {
            listener.close();
        }
        connections.forEach(Connection::close);
        connections.clear();
        rings = new PacketRingReader[0];
    }
}
