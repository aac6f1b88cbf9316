package org.jrdma.sisci;

/**
 * A map of a segment of this node. The map is ordinary memory, except that peers may store into it
 * at any time.
 */
public final class LocalMap extends SegmentMap {

    LocalMap(Mapping mapping) {
        super(mapping);
    }
}
