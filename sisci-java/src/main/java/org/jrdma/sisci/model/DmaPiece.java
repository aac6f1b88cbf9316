package org.jrdma.sisci.model;

import java.util.Locale;

/**
 * A piece of a DMA transfer. In C: {@code dis_dma_vec_t}, whose numbers have 32 bits.
 *
 * @param localOffset the offset in the local segment
 * @param remoteOffset the offset in the remote segment
 * @param bytes the size
 */
public record DmaPiece(long localOffset, long remoteOffset, long bytes) {

    private static final long LIMIT = 1L << 32;

    /** Checks the numbers. */
    public DmaPiece {
        if (localOffset < 0
                || localOffset >= LIMIT
                || remoteOffset < 0
                || remoteOffset >= LIMIT
                || bytes <= 0
                || bytes >= LIMIT) {
            throw new IllegalArgumentException(
                    String.format(
                            Locale.ROOT,
                            "%,d bytes from %,d to %,d: numbers of a piece have 32 bits",
                            bytes,
                            localOffset,
                            remoteOffset));
        }
    }
}
