package org.jrdma.soft.sisci.fabric;

/**
 * Something that happened to a segment.
 *
 * @param reason SISCI's number
 * @param node the other node
 * @param adapter by which adapter of this node
 */
public record SegmentEvent(int reason, int node, int adapter) {}
