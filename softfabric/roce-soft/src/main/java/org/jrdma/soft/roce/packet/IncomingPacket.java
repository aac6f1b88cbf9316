package org.jrdma.soft.roce.packet;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * A decoded packet: the fields of its base transport header, and the location of the other headers
 * and of the payload. One object is reused for all packets, so that receiving a packet allocates
 * nothing.
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
     * Decodes a packet. Does not verify the checksum.
     *
     * @throws MalformedPacketException if the bytes are not a valid packet; the fields of this
     *     object are then unspecified
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
        var start = packet.start();
        var found = BaseTransportHeader.opCode(memory, start);
        var headerBytes = BaseTransportHeader.BYTES + found.headerBytes();
        var padding = BaseTransportHeader.padding(memory, start);
        var payload = length - headerBytes - padding - InvariantCrc.BYTES;
        if (payload < 0) {
            throw new MalformedPacketException("shorter than its headers");
        }
        if (length != headerBytes + InvariantCrc.BYTES && !found.hasPayload()) {
            throw new MalformedPacketException("unexpected payload for the opcode");
        }
        buffer = packet;
        opCode = found;
        solicited = BaseTransportHeader.solicited(memory, start);
        partitionKey = BaseTransportHeader.partitionKey(memory, start);
        destinationQueuePair = BaseTransportHeader.destinationQueuePair(memory, start);
        acknowledge = BaseTransportHeader.acknowledge(memory, start);
        sequence = BaseTransportHeader.sequence(memory, start);
        payloadOffset = start + headerBytes;
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

    /** Returns true if the completion at the receiver must raise a solicited event. */
    public boolean solicited() {
        return solicited;
    }

    public int partitionKey() {
        return partitionKey;
    }

    public int destinationQueuePair() {
        return destinationQueuePair;
    }

    /** Returns true if the packet requests an acknowledgement. */
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
     * Returns the address in the header {@link HeaderKind#RDMA}. As with the following methods, the
     * caller must ensure that the opcode has this header.
     */
    public long rdmaAddress() {
        return RdmaHeader.address(memory(), rdmaHeader());
    }

    public int rdmaKey() {
        return RdmaHeader.key(memory(), rdmaHeader());
    }

    /** Returns the length of the remote memory in bytes. */
    public long rdmaLength() {
        return RdmaHeader.length(memory(), rdmaHeader());
    }

    private int rdmaHeader() {
        return firstHeader() + (opCode.operation() == Operation.FLUSH ? FlushHeader.BYTES : 0);
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
     * Returns true if the acknowledgement of the packet is positive. This method is preferred to
     * {@link #acknowledgement()} on the hot path, because it creates no object.
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

    /** Decodes the header {@link HeaderKind#IMMEDIATE}, which is always the last one. */
    public ImmediateHeader immediate() {
        return ImmediateHeader.decode(memory(), payloadOffset - ImmediateHeader.BYTES);
    }

    /** Decodes the header {@link HeaderKind#INVALIDATE}, which is always the last one. */
    public InvalidateHeader invalidate() {
        return InvalidateHeader.decode(memory(), payloadOffset - InvalidateHeader.BYTES);
    }

    /**
     * Decodes the header {@link HeaderKind#EXTENDED}, which is always the first after the base
     * transport header.
     */
    public XrcHeader extended() {
        return XrcHeader.decode(memory(), buffer().start() + BaseTransportHeader.BYTES);
    }

    /**
     * Returns the offset of the first header after the base transport header and the extended
     * header, if the packet has an extended header.
     */
    private int firstHeader() {
        return buffer().start()
                + BaseTransportHeader.BYTES
                + (opCode.hasExtended() ? XrcHeader.BYTES : 0);
    }
}
