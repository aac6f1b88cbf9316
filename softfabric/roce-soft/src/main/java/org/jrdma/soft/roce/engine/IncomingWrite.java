package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Position;

/**
 * A WRITE message whose packets are arriving. Remembers the remote address, key and length from its
 * first packet, and checks and stores each packet.
 */
final class IncomingWrite {
    private final MemoryRegistry memory;
    private long address;
    private int key;
    private long bytes;

    IncomingWrite(MemoryRegistry memory) {
        this.memory = memory;
    }

    /**
     * Starts to receive a WRITE message, with the RDMA extended header (RETH) of its first packet.
     */
    void begin(IncomingPacket packet) {
        address = packet.rdmaAddress();
        key = packet.rdmaKey();
        bytes = packet.rdmaLength();
    }

    /** Returns the length of the whole message in bytes, as announced by its first packet. */
    long bytes() {
        return bytes;
    }

    /**
     * Returns true if the announced length of the message is valid and matches the packets that
     * have arrived.
     *
     * @param position the position of the last packet in the message
     * @param arrived the number of bytes that have arrived, including that packet
     */
    boolean fitsLength(Position position, long arrived) {
        return bytes <= MessageLimits.MAX_BYTES
                && (position.ends() ? arrived == bytes : arrived < bytes);
    }

    /** Returns true if {@code accessor} may write the whole memory range of the message. */
    boolean isPermitted(AccessIdentity accessor) {
        return bytes == 0 || memory.permits(accessor, key, address, bytes, Access.REMOTE_WRITE);
    }

    /**
     * Writes the payload of a packet to memory. Writes nothing and returns false if {@code
     * accessor} may not write that memory.
     *
     * @param offset the offset of the payload in the message
     */
    boolean write(AccessIdentity accessor, long offset, IncomingPacket packet) {
        var length = packet.payloadBytes();
        return length == 0
                || memory.write(
                        accessor,
                        key,
                        address + offset,
                        Access.REMOTE_WRITE,
                        packet.buffer().memory(),
                        packet.payloadOffset(),
                        length);
    }
}
