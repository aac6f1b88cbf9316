package org.jrdma.soft.roce.packet;

/** The headers that may follow the base transport header, depending on the opcode. */
public enum HeaderKind {
    /** The {@link XrcHeader} (XRCETH). */
    EXTENDED(XrcHeader.BYTES),
    /** The {@link RdmaHeader} (RETH). */
    RDMA(RdmaHeader.BYTES),
    /** The {@link AtomicHeader} (AtomicETH). */
    ATOMIC(AtomicHeader.BYTES),
    /** The {@link AcknowledgeHeader} (AETH). */
    ACKNOWLEDGE(AcknowledgeHeader.BYTES),
    /** The {@link AtomicResultHeader} (AtomicAckETH). */
    ATOMIC_RESULT(AtomicResultHeader.BYTES),
    /** The {@link DatagramHeader} (DETH). */
    DATAGRAM(DatagramHeader.BYTES),
    /** The {@link FlushHeader} (FETH). */
    FLUSH(FlushHeader.BYTES),
    /** The {@link ImmediateHeader} (ImmDt). */
    IMMEDIATE(ImmediateHeader.BYTES),
    /** The {@link InvalidateHeader} (IETH). */
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
