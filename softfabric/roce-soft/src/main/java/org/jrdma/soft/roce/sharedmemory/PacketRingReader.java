package org.jrdma.soft.roce.sharedmemory;

import org.jrdma.soft.roce.engine.RoceGid;
import org.jrdma.soft.roce.packet.PacketBuffer;

/**
 * The receiving end of a ring of packets from one peer. Does not trust the values in the ring.
 * Confined to one thread at a time.
 */
public final class PacketRingReader {

    private final RoceGid peer;
    private final RoceGid own;
    private final RingMemory memory;

    private long head;

    /** The tail that the peer has published last, as far as it is known. */
    private long tail;

    private boolean broken;

    PacketRingReader(RoceGid peer, RoceGid own, RingMemory memory) {
        this.peer = peer;
        this.own = own;
        this.memory = memory;
    }

    RoceGid peer() {
        return peer;
    }

    /** Returns true if the peer has written an invalid value. */
    boolean isBroken() {
        return broken;
    }

    /** Returns true if the ring has no packet that can be read. */
    boolean isEmpty() {
        return broken || (head == tail && memory.tail() == head);
    }

    /**
     * Copies the next packet out of the ring.
     *
     * @return false if there is none, or the ring contains an invalid value
     */
    public boolean read(PacketBuffer target) {
        if (broken || (head == tail && !readTail())) {
            return false;
        }
        var description = memory.description(head);
        if (description == RingMemory.SKIP) {
            head += RingMemory.bytesToEnd(head);
            description = memory.description(head);
        }
        var length = description & ~RingMemory.UNSEALED;
        var bytes = RingMemory.recordBytes(length);
        if (length == 0
                || length > PacketBuffer.MAX_BYTES
                || bytes > RingMemory.bytesToEnd(head)
                || tail - head < bytes) {
            broken = true;
            return false;
        }
        memory.load(head, target, length);
        target.sealed((description & RingMemory.UNSEALED) == 0);
        target.sourcePort(PacketBuffer.UDP_PORT);
        target.addresses(peer.high(), peer.low(), own.high(), own.low());
        head += bytes;
        return true;
    }

    private boolean readTail() {
        var next = memory.tail();
        broken = !RingMemory.isDistance(next - head);
        tail = next;
        return !broken && head != tail;
    }

    /** Lets the peer use the memory of the packets that were read. */
    public void release() {
        memory.head(head);
    }

    /**
     * Sets whether this process sleeps, so that the peer must wake it up. Returns false if this
     * process must not sleep, because a packet has arrived, or the ring must be closed.
     */
    boolean waiting(boolean waits) {
        memory.waiting(waits);
        return !waits || (!broken && isEmpty());
    }

    void close() {
        memory.close();
    }
}
