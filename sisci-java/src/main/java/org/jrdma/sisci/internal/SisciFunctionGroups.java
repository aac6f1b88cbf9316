package org.jrdma.sisci.internal;

/**
 * The functions of an open libsisci, grouped by subject.
 *
 * @param library the library
 * @param nodes the functions for descriptors, nodes and adapters
 * @param segments the functions for segments, maps and sequences
 * @param stores the functions of the hot path
 * @param dma the functions for DMA queues and channels
 * @param interrupts the functions for interrupts
 * @param smartIo the functions for devices of other nodes
 */
public record SisciFunctionGroups(
        SisciLibrary library,
        NodeFunctions nodes,
        SegmentFunctions segments,
        StoreFunctions stores,
        DmaFunctions dma,
        InterruptFunctions interrupts,
        SmartIoFunctions smartIo) {

    public SisciFunctionGroups(SisciLibrary library) {
        this(
                library,
                new NodeFunctions(library),
                new SegmentFunctions(library),
                new StoreFunctions(library),
                new DmaFunctions(library),
                new InterruptFunctions(library),
                new SmartIoFunctions(library));
    }
}
