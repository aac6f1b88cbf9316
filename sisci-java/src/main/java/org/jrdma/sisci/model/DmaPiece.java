package org.jrdma.sisci.model;

import java.util.Locale;

/**
 * A piece of a DMA transfer. In C: {@code dis_dma_vec_t}, whose numbers have 32 bits.
 *
 * @param localOffset the offset in the local segment, in bytes
 * @param remoteOffset the offset in the remote segment, in bytes
 * @param bytes the size in bytes
 */
public record DmaPiece(long localOffset, long remoteOffset, long bytes) {

    private static final long LIMIT = 1L << 32;

    /** Checks that the offsets and the size fit into 32 bits, and that the size is not 0. */
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
                            "Invalid piece of a DMA transfer: %,d bytes, local offset %,d, remote offset %,d. Sizes and offsets have 32 bits, and the size is not 0.",
                            bytes,
                            localOffset,
                            remoteOffset));
        }
    }
}
