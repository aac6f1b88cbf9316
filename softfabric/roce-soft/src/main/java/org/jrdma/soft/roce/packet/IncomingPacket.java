package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A packet taken apart: its base transport header, and where the rest stands. One object serves
 * packet after packet, so that receiving allocates nothing.
 */
public final class IncomingPacket {

    private @Nullable PacketBuffer buffer;
    private OpCode opCode = OpCode.RC_ACKNOWLEDGE;
    private boolean solicited;
    private int partitionKey;
    private int destinationQueuePair;
    private boolean acknowledge;
    private int sequence;
    private int payloadOffset;
    private int payloadBytes;

    /**
     * Takes {@code packet} apart. Its checksum is not looked at.
     *
     * @throws MalformedPacketException if it is none; then nothing else here has a meaning
     */
    public void decode(PacketBuffer packet) throws MalformedPacketException {
        var length = packet.length();
        if (length < BaseTransportHeader.BYTES + InvariantCrc.BYTES) {
            throw new MalformedPacketException("shorter than its headers");
        }
        if (length > PacketBuffer.MAXIMUM_BYTES) {
            throw new MalformedPacketException("longer than a packet can be");
        }
        if ((length & 3) != 0) {
            throw new MalformedPacketException("not padded to four bytes");
        }
        var memory = packet.memory();
        var found = BaseTransportHeader.opCode(memory, PacketBuffer.START);
        var headerBytes = BaseTransportHeader.BYTES + found.headerBytes();
        var padding = BaseTransportHeader.padding(memory, PacketBuffer.START);
        var payload = length - headerBytes - padding - InvariantCrc.BYTES;
        if (payload < 0) {
            throw new MalformedPacketException("shorter than its headers");
        }
        if (length != headerBytes + InvariantCrc.BYTES && !found.hasPayload()) {
            throw new MalformedPacketException("payload where the opcode has none");
        }
        buffer = packet;
        opCode = found;
        solicited = BaseTransportHeader.solicited(memory, PacketBuffer.START);
        partitionKey = BaseTransportHeader.partitionKey(memory, PacketBuffer.START);
        destinationQueuePair = BaseTransportHeader.destinationQueuePair(memory, PacketBuffer.START);
        acknowledge = BaseTransportHeader.acknowledge(memory, PacketBuffer.START);
        sequence = BaseTransportHeader.sequence(memory, PacketBuffer.START);
        payloadOffset = PacketBuffer.START + headerBytes;
        payloadBytes = payload;
    }

    /** Where it stands. */
    public PacketBuffer buffer() {
        if (buffer == null) {
            throw new IllegalStateException("nothing decoded yet");
        }
        return buffer;
    }

    private MemorySegment memory() {
        return buffer().memory();
    }

    public OpCode opCode() {
        return opCode;
    }

    /** Whether the receiver's completion should wake those who wait for solicited ones. */
    public boolean solicited() {
        return solicited;
    }

    public int partitionKey() {
        return partitionKey;
    }

    public int destinationQueuePair() {
        return destinationQueuePair;
    }

    /** Whether the requester asks for an acknowledgement. */
    public boolean acknowledge() {
        return acknowledge;
    }

    public int sequence() {
        return sequence;
    }

    /** Where the payload begins in the buffer's memory. */
    public int payloadOffset() {
        return payloadOffset;
    }

    /** The length of the payload without padding. */
    public int payloadBytes() {
        return payloadBytes;
    }

    /** Its {@link Header#RDMA}, which the opcode must announce; so for the others. */
    public RdmaHeader rdma() {
        var flushes = opCode.operation() == Operation.FLUSH;
        return RdmaHeader.decode(memory(), firstHeader() + (flushes ? FlushHeader.BYTES : 0));
    }

    public FlushHeader flush() {
        return FlushHeader.decode(memory(), firstHeader());
    }

    public AtomicHeader atomic() {
        return AtomicHeader.decode(memory(), firstHeader());
    }

    public AcknowledgeHeader acknowledgement() {
        return AcknowledgeHeader.decode(memory(), firstHeader());
    }

    public AtomicResultHeader atomicResult() {
        return AtomicResultHeader.decode(memory(), firstHeader() + AcknowledgeHeader.BYTES);
    }

    public DatagramHeader datagram() {
        return DatagramHeader.decode(memory(), firstHeader());
    }

    /** Its {@link Header#IMMEDIATE}, always the last. */
    public ImmediateHeader immediate() {
        return ImmediateHeader.decode(memory(), payloadOffset - ImmediateHeader.BYTES);
    }

    /** Its {@link Header#INVALIDATE}, always the last. */
    public InvalidateHeader invalidate() {
        return InvalidateHeader.decode(memory(), payloadOffset - InvalidateHeader.BYTES);
    }

    /** Its {@link Header#EXTENDED}, always the first. */
    public ExtendedHeader extended() {
        return ExtendedHeader.decode(memory(), PacketBuffer.START + BaseTransportHeader.BYTES);
    }

    /** Behind that, where there is one. */
    private int firstHeader() {
        return PacketBuffer.START
                + BaseTransportHeader.BYTES
                + (opCode.hasExtended() ? ExtendedHeader.BYTES : 0);
    }
}
