package org.jrdma.soft.roce.sharedmemory;

import org.jrdma.ffi.Errno;
import org.jrdma.ffi.linkage.OpenFile;
import org.jrdma.ffi.linkage.SeqPacketSocket;
import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * The sending end of a ring of packets to one peer. If the ring is full, packets are dropped, as by
 * a full socket buffer. Confined to one thread at a time.
 */
public final class PacketRingWriter {

    /**
     * The maximum number of packets that are appended before they are published, so that the peer
     * works at the same time as this process.
     */
    private static final int MAX_UNPUBLISHED = 8;

    private final RoceGid peer;
    private final OpenFile socket;
    private final RingMemory memory;
    private final SeqPacketSocket.Packet signal;

    private long tail;

    /** The number of packets between the published tail and the tail. */
    private int unpublished;

    /** The head that the peer has published last, as far as it is known. */
    private long head;

    private boolean broken;

    PacketRingWriter(
            RoceGid peer, OpenFile socket, RingMemory memory, SeqPacketSocket.Packet signal) {
        this.peer = peer;
        this.socket = socket;
        this.memory = memory;
        this.signal = signal;
    }

    boolean isTo(long high, long low) {
        return peer.low() == low && peer.high() == high;
    }

    RoceGid peer() {
        return peer;
    }

    int descriptor() {
        return socket.number();
    }

    /** Returns true if the peer has written an invalid value or cannot be woken up. */
    boolean isBroken() {
        return broken;
    }

    /** Appends a packet. The peer receives it at the latest after {@link #publish()}. */
    public void append(PacketBuffer packet) {
        var bytes = RingMemory.recordBytes(packet.length());
        var toEnd = RingMemory.bytesToEnd(tail);
        var skipped = toEnd < bytes ? toEnd : 0;
        if (!hasSpace(skipped + bytes)) {
            return;
        }
        if (skipped > 0) {
            memory.skip(tail);
            tail += skipped;
        }
        memory.store(tail, packet);
        tail += bytes;
        unpublished++;
        if (unpublished == MAX_UNPUBLISHED) {
            publish();
        }
    }

    private boolean hasSpace(int bytes) {
        if (tail + bytes - head <= RingMemory.CAPACITY) {
            return true;
        }
        var next = memory.head();
        if (next - head < 0 || !RingMemory.isDistance(tail - next)) {
            broken = true;
            return false;
        }
        head = next;
        return tail + bytes - head <= RingMemory.CAPACITY;
    }

    /** Makes the appended packets visible to the peer, and wakes it up if it sleeps. */
    public void publish() {
        if (unpublished == 0) {
            return;
        }
        unpublished = 0;
        memory.tail(tail);
        if (memory.takeWaiting()) {
            var error =
                    SeqPacketSocket.send(
                            socket.number(), signal, 1, SeqPacketSocket.Packet.NO_DESCRIPTOR);
            // If the socket is full, the peer has signals to receive and does not sleep.
            broken |= error != 0 && error != Errno.EAGAIN;
        }
    }

    void close() {
        socket.close();
        memory.close();
    }
}
