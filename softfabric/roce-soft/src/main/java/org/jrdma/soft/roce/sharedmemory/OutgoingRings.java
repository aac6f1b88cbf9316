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

/**
 * The rings through which a port sends packets, one for each peer. Confined to one thread at a
 * time.
 */
public final class OutgoingRings {

    /**
     * The capacity of a path through a ring in bytes, as the congestion windows count them. A
     * packet counts more than twice its size, so the requests of this port occupy less than half of
     * the ring. The other half is for responses to the requests of the peer.
     */
    public static final long PATH_BYTES = RingMemory.CAPACITY;

    static final int MAX_RINGS = 256;

    private static final Logger LOG = LoggerFactory.getLogger(OutgoingRings.class);

    private final RoceGid own;
    private final LocalUser user;
    private final Runnable changed;
    private final List<PacketRingWriter> rings = new ArrayList<>(MAX_RINGS);
    private final SeqPacketSocket.Packet message =
            new SeqPacketSocket.Packet(RingAnnouncement.BYTES, Arena.ofAuto());

    /** The number of rings that {@link #removeClosed} has removed. */
    private int removals;

    /** The ring that was used last. */
    private @Nullable PacketRingWriter last;

    OutgoingRings(RoceGid own, LocalUser user, Runnable changed) {
        this.own = own;
        this.user = user;
        this.changed = changed;
    }

    /** Returns the ring for packets to an address, or null if they must be sent over UDP. */
    public @Nullable PacketRingWriter find(long high, long low) {
        if (last != null && last.isTo(high, low)) {
            return last;
        }
        for (var i = 0; i < rings.size(); i++) {
            if (rings.get(i).isTo(high, low)) {
                last = rings.get(i);
                return last;
            }
        }
        return null;
    }

    /**
     * Creates a ring for packets to a peer, unless one exists.
     *
     * @return true if there is a ring; false if the packets must be sent over UDP
     */
    public boolean prepare(RoceGid peer) {
        if (find(peer.high(), peer.low()) != null) {
            return true;
        }
        try {
            last = connect(peer);
            rings.add(last);
            changed.run();
            LOG.debug("Packets from {} to {} use shared memory", own, peer);
            return true;
        } catch (FabricException | OutOfMemoryError e) {
            LOG.debug("Packets from {} to {} use UDP: {}", own, peer, e.getMessage());
            return false;
        }
    }

    private PacketRingWriter connect(RoceGid peer) throws FabricException {
        if (peer.isMulticast() || peer.isLinkLocal() || rings.size() == MAX_RINGS) {
            throw new FabricException(
                    "The address is multicast or link-local, or the port has the maximum number of rings.");
        }
        var socket = OpenFile.of(SeqPacketSocket.connect(RingAnnouncement.socketName(peer)));
        try {
            if (!user.isPeerOf(socket)) {
                throw new FabricException("The peer belongs to another user.");
            }
            try (var file = RingMemory.create()) {
                var memory = RingMemory.map(file);
                try {
                    announce(socket, file);
                    return new PacketRingWriter(peer, socket, memory, message);
                } catch (Throwable e) {
                    memory.close();
                    throw e;
                }
            }
        } catch (Throwable e) {
            socket.close();
            throw e;
        }
    }

    private void announce(OpenFile socket, OpenFile file) throws FabricException {
        new RingAnnouncement(own).encode(message.memory());
        var error =
                SeqPacketSocket.send(
                        socket.number(), message, RingAnnouncement.BYTES, file.number());
        if (error != 0) {
            throw new FabricException("Cannot pass the descriptor of a ring", error, null);
        }
    }

    /** Returns the number of rings that were removed because their peer has ended or failed. */
    public int removals() {
        return removals;
    }

    /** Makes the packets in all rings visible to the peers. */
    public void publish() {
        for (var i = 0; i < rings.size(); i++) {
            rings.get(i).publish();
        }
    }

    int addTo(int[] descriptors, int index) {
        for (var ring : rings) {
            descriptors[index++] = ring.descriptor();
        }
        return index;
    }

    int count() {
        return rings.size();
    }

    /** Returns true if {@link #removeClosed} will remove a ring with invalid values. */
    boolean hasBroken() {
        for (var i = 0; i < rings.size(); i++) {
            if (rings.get(i).isBroken()) {
                return true;
            }
        }
        return false;
    }

    /**
     * Closes the rings whose peer has closed the connection or has written invalid values.
     *
     * @param set the descriptors that were polled
     * @param first the index of the first ring in {@code set}
     */
    void removeClosed(SeqPacketSocket.Set set, int first) {
        for (var i = rings.size() - 1; i >= 0; i--) {
            var ring = rings.get(i);
            if (ring.isBroken() || set.isReady(first + i, SeqPacketSocket.READABLE)) {
                LOG.debug("Packets from {} to {} no longer use shared memory", own, ring.peer());
                rings.remove(i);
                removals++;
                ring.close();
                changed.run();
            }
        }
        if (last != null && !rings.contains(last)) {
            last = null;
        }
    }

    void close() {
        last = null;
        rings.forEach(PacketRingWriter::close);
        rings.clear();
    }
}
