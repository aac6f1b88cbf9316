package org.jrdma.sisci.model;

import java.util.List;

/**
 * What the fabric's configuration says of a node that it gives a name.
 *
 * @param nodeIds the node's ids
 * @param adapter the number of this machine's adapter by which it is reached
 * @param adapterType the library's number for the type of that adapter; which there are is not
 *     public
 * @param adapterTypeName the library's name for that type; empty where it tells none
 */
public record NodeInfo(
        List<Integer> nodeIds, int adapter, int adapterType, String adapterTypeName) {

    /** Keeps a copy of the ids. */
    public NodeInfo {
        nodeIds = List.copyOf(nodeIds);
    }
}
