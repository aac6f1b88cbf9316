package org.jrdma.sisci.internal;

/**
 * The functions of an open libsisci, by what they are about.
 *
 * @param library its names and numbers
 * @param nodes descriptors, nodes, adapters
 * @param segments segments, maps, sequences
 * @param stores what is called between stores
 * @param dma DMA queues and channels
 * @param interrupts interrupts
 */
public record SisciFunctions(
        SisciLibrary library,
        NodeFunctions nodes,
        SegmentFunctions segments,
        StoreFunctions stores,
        DmaFunctions dma,
        InterruptFunctions interrupts) {

    /** The functions of a library. */
    public SisciFunctions(SisciLibrary library) {
        this(
                library,
                new NodeFunctions(library),
                new SegmentFunctions(library),
                new StoreFunctions(library),
                new DmaFunctions(library),
                new InterruptFunctions(library));
    }
}
