package org.jrdma.soft.roce.engine;

import org.jrdma.soft.roce.memory.Access;
import org.jrdma.soft.roce.memory.AccessIdentity;
import org.jrdma.soft.roce.memory.MemoryRegistry;
import org.jrdma.soft.roce.packet.IncomingPacket;
import org.jrdma.soft.roce.packet.Position;

/** A WRITE message that is arriving: the memory that it names, and the checks of its packets. */
final class IncomingWrite {
    private final MemoryRegistry memory;
    private long address;
    private int key;
    private long bytes;

    IncomingWrite(MemoryRegistry memory) {
        this.memory = memory;
    }

    /** Starts a message with its first packet. */
    void begin(IncomingPacket packet) {
        var header = packet.rdma();
        address = header.address();
        key = header.key();
        bytes = Integer.toUnsignedLong(header.length());
    }

    /** The length of the message. */
    long bytes() {
        return bytes;
    }

    /**
     * Whether the length of the message fits a packet after which {@code arrived} bytes are there.
     */
    boolean fitsLength(Position position, long arrived) {
        return bytes <= MessageLimits.MAX_BYTES
                && (position.ends() ? arrived == bytes : arrived < bytes);
    }

    /** Whether the memory of the whole message may be written. */
    boolean isPermitted(AccessIdentity accessor) {
        return bytes == 0 || memory.permits(accessor, key, address, bytes, Access.REMOTE_WRITE);
    }

    /**
     * Writes the payload of a packet. Returns false, with nothing written, if that is not
     * permitted.
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
