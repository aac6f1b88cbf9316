package org.jrdma.sisci;

/** A map of a segment of this node: ordinary memory, into which peers may store at any time. */
public final class LocalMap extends SegmentMap {

    LocalMap(Mapping mapping) {
        super(mapping);
    }
}
