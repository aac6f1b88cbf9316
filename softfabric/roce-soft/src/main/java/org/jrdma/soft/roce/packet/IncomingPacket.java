package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A decoded packet: the fields of its base transport header, and the location of the rest. The
 * object is reused for each packet, so that receiving does not allocate.
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
     * Decodes a packet without checking its checksum.
     *
     * @throws MalformedPacketException if the bytes are not a packet; the fields of this object are
     *     then unspecified
     */
    public void decode(PacketBuffer packet) throws MalformedPacketException {
        var length = packet.length();
        if (length < BaseTransportHeader.BYTES + InvariantCrc.BYTES) {
            throw new MalformedPacketException("shorter than its headers");
        }
        if (length > PacketBuffer.MAX_BYTES) {
            throw new MalformedPacketException("longer than the maximum packet");
        }
        if ((length & 3) != 0) {
            throw new MalformedPacketException("length is not a multiple of four");
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
            throw new MalformedPacketException("unexpected payload for the opcode");
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

    /** Returns the buffer that contains the packet. */
    public PacketBuffer buffer() {
        if (buffer == null) {
            throw new IllegalStateException("No packet was decoded.");
        }
        return buffer;
    }

    private MemorySegment memory() {
        return buffer().memory();
    }

    public OpCode opCode() {
        return opCode;
    }

    /** Returns true if the receiver's completion raises a solicited event. */
    public boolean solicited() {
        return solicited;
    }

    public int partitionKey() {
        return partitionKey;
    }

    public int destinationQueuePair() {
        return destinationQueuePair;
    }

    /** Returns true if the requester requests an acknowledgement. */
    public boolean acknowledge() {
        return acknowledge;
    }

    public int sequence() {
        return sequence;
    }

    /** Returns the offset of the payload in the buffer's memory. */
    public int payloadOffset() {
        return payloadOffset;
    }

    /** Returns the length of the payload without padding. */
    public int payloadBytes() {
        return payloadBytes;
    }

    /**
     * Decodes {@link HeaderKind#RDMA}. As for the following methods, the opcode must have the
     * header.
     */
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

    /**
     * Returns true if the {@link #acknowledgement()} is not a NAK. Does not decode the header,
     * because the compiler does not always remove the allocation.
     */
    public boolean isAcknowledged() {
        return AcknowledgeHeader.isAcknowledgement(BigEndian.unsignedByte(memory(), firstHeader()));
    }

    public AtomicResultHeader atomicResult() {
        return AtomicResultHeader.decode(memory(), firstHeader() + AcknowledgeHeader.BYTES);
    }

    public DatagramHeader datagram() {
        return DatagramHeader.decode(memory(), firstHeader());
    }

    /** Decodes {@link HeaderKind#IMMEDIATE}, always the last header. */
    public ImmediateHeader immediate() {
        return ImmediateHeader.decode(memory(), payloadOffset - ImmediateHeader.BYTES);
    }

    /** Decodes {@link HeaderKind#INVALIDATE}, always the last header. */
    public InvalidateHeader invalidate() {
        return InvalidateHeader.decode(memory(), payloadOffset - InvalidateHeader.BYTES);
    }

    /** Decodes {@link HeaderKind#EXTENDED}, always the first header. */
    public ExtendedHeader extended() {
        return ExtendedHeader.decode(memory(), PacketBuffer.START + BaseTransportHeader.BYTES);
    }

    /** Returns the offset of the first header after the extended header, if there is one. */
    private int firstHeader() {
        return PacketBuffer.START
                + BaseTransportHeader.BYTES
                + (opCode.hasExtended() ? ExtendedHeader.BYTES : 0);
    }
}
