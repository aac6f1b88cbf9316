package org.jrdma.soft.sisci.fabric;

/**
 * An event of a segment.
 *
 * @param reason the SISCI constant for the reason
 * @param node the node id of the peer
 * @param adapter the number of this node's adapter
 */
public record SegmentEvent(int reason, int node, int adapter) {}
