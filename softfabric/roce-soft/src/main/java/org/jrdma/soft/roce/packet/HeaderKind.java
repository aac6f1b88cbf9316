package org.jrdma.soft.roce.packet;

/** The headers that may follow the base transport header, depending on the opcode. */
public enum HeaderKind {
    /** {@link ExtendedHeader}, XRCETH. */
    EXTENDED(ExtendedHeader.BYTES),
    /** {@link RdmaHeader}, RETH. */
    RDMA(RdmaHeader.BYTES),
    /** {@link AtomicHeader}, AtomicETH. */
    ATOMIC(AtomicHeader.BYTES),
    /** {@link AcknowledgeHeader}, AETH. */
    ACKNOWLEDGE(AcknowledgeHeader.BYTES),
    /** {@link AtomicResultHeader}, AtomicAckETH. */
    ATOMIC_RESULT(AtomicResultHeader.BYTES),
    /** {@link DatagramHeader}, DETH. */
    DATAGRAM(DatagramHeader.BYTES),
    /** {@link FlushHeader}, FETH. */
    FLUSH(FlushHeader.BYTES),
    /** {@link ImmediateHeader}, ImmDt. */
    IMMEDIATE(ImmediateHeader.BYTES),
    /** {@link InvalidateHeader}, IETH. */
    INVALIDATE(InvalidateHeader.BYTES);

    private final int bytes;

    HeaderKind(int bytes) {
        this.bytes = bytes;
    }

    /** Returns the length of the header in bytes. */
    public int bytes() {
        return bytes;
    }
}
