package org.jrdma.sisci.model;

/**
 * What a DMA engine can do. In C: {@code sci_dma_capabilities_t}.
 *
 * @param channels how many channels it has
 * @param maxTransferBytes how long a transfer can be
 * @param maxVectorLength how many pieces a transfer can have
 * @param pushes whether it moves memory to the fabric
 * @param pulls whether it moves the fabric to memory
 * @param forwards whether it moves the fabric to the fabric
 * @param minAlignment what addresses and sizes must be multiples of, in bytes
 * @param suggestedAlignment what they had better be multiples of, in bytes
 */
public record DmaCapabilities(
        int channels,
        long maxTransferBytes,
        int maxVectorLength,
        boolean pushes,
        boolean pulls,
        boolean forwards,
        int minAlignment,
        int suggestedAlignment) {}
