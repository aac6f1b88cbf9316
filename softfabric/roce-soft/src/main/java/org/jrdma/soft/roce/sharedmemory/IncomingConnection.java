package org.jrdma.soft.roce.sharedmemory;

import org.jrdma.ffi.FabricException;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection of a peer, which passes one ring and then sends signals. */
final class IncomingConnection {

    /** The maximum number of signals that are received at a time. */
    private static final int MAX_SIGNALS = 16;

    private static final Logger LOG = LoggerFactory.getLogger(IncomingConnection.class);

    private final OpenFile socket;
    private @Nullable PacketRingReader ring;

    /** True if the peer has closed the connection. The ring may still contain packets. */
    private boolean ended;

    /** True if the peer has violated the rules, or its ring cannot be used. */
    private boolean rejected;

    IncomingConnection(OpenFile socket) {
        this.socket = socket;
    }

    int descriptor() {
        return socket.number();
    }

    /** Returns the ring; null before it was received. */
    @Nullable PacketRingReader ring() {
        return ring;
    }

    /** Returns true if no more packets can be received. */
    boolean isFinished() {
        return rejected || (ring == null ? ended : ring.isBroken() || (ended && ring.isEmpty()));
    }

    /**
     * Receives the ring and signals, if they have arrived.
     *
     * @param own the address of the port, to which all packets in the ring are sent
     * @param message the memory for a message
     */
    void receive(RoceGid own, SeqPacketSocket.Packet message) {
        for (var i = 0; i < MAX_SIGNALS && !ended && !rejected; i++) {
            var length = SeqPacketSocket.receive(socket.number(), message);
            if (length < 0) {
                return;
            }
            ended = length == 0;
            var descriptor = message.descriptor();
            if (descriptor < 0) {
                // The kernel omits the descriptor if this process has the maximum number.
                rejected = ring == null;
                continue;
            }
            try (var file = OpenFile.of(descriptor)) {
                var announcement = RingAnnouncement.decode(message.memory(), length);
                if (announcement == null || ring != null) {
                    throw new FabricException("A peer has sent an invalid announcement of a ring.");
                }
                ring = new PacketRingReader(announcement.sender(), own, RingMemory.map(file));
                LOG.debug("Packets from {} to {} use shared memory", announcement.sender(), own);
            } catch (FabricException | OutOfMemoryError e) {
                LOG.debug("Cannot receive packets through shared memory", e);
                rejected = true;
            }
        }
    }

    void close() {
        socket.close();
        if (ring != null) {
            ring.close();
        }
    }
}
