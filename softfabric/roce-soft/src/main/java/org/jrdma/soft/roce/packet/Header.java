package org.jrdma.soft.roce.packet;

/** The headers that an opcode may announce behind the base transport header. */
public enum Header {
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

    Header(int bytes) {
        this.bytes = bytes;
    }

    /** Its length. */
    public int bytes() {
        return bytes;
    }
}
