package org.jrdma.sisci.model;

import java.util.List;

/**
 * The entry of the fabric's configuration for a node that has a name.
 *
 * @param nodeIds the ids of the node
 * @param adapter the number of this machine's adapter through which the node is reached
 * @param adapterType the library's number for the type of that adapter; the numbers are not public
 * @param adapterTypeName the library's name for that type; empty if the library has no name for it
 */
public record NodeInfo(
        List<Integer> nodeIds, int adapter, int adapterType, String adapterTypeName) {

    /** Copies the list of ids. */
    public NodeInfo {
        nodeIds = List.copyOf(nodeIds);
    }
}
