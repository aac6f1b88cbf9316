package org.jrdma.sisci;

/** A map of a segment of this node: plain memory, which peers may be storing into meanwhile. */
public final class LocalMap extends SegmentMap {

    LocalMap(Mapping mapping) {
        super(mapping);
    }
}
