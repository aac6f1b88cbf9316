package org.jrdma.sisci.model;

/**
 * The capabilities of a DMA engine. In C: {@code sci_dma_capabilities_t}.
 *
 * @param channels the number of channels
 * @param maxTransferBytes the maximum size of a transfer in bytes
 * @param maxVectorLength the maximum number of pieces of a transfer
 * @param pushes true if the engine copies memory to the fabric
 * @param pulls true if the engine copies from the fabric to memory
 * @param forwards true if the engine copies from the fabric to the fabric
 * @param minAlignment the alignment that addresses and sizes must have, in bytes
 * @param suggestedAlignment the alignment of addresses and sizes that makes transfers faster, in
 *     bytes
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
