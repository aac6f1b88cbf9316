package org.jrdma.sisci.model;

import java.util.OptionalInt;

/**
 * An event of a segment.
 *
 * @param type the kind of event
 * @param node the node id of the peer, for CONNECTED and DISCONNECTED of a local segment
 * @param adapter the number of the adapter, for events of a local segment
 * @param code the library's error code; 0 for no error
 */
public record SegmentEvent(Type type, OptionalInt node, OptionalInt adapter, int code) {

    /** The kind of an event. In C: {@code sci_segment_cb_reason_t}. */
    public enum Type {
        /** A peer has connected. */
        CONNECTED,
        /**
         * For a local segment: a peer has disconnected. For a remote segment: the owner has
         * disconnected this side, or requests a disconnect.
         */
        DISCONNECTED,
        /** The link is down, perhaps temporarily. Stores are lost, and loads return all ones. */
        NOT_OPERATIONAL,
        /** The link is up again. */
        OPERATIONAL,
        /** The connection is lost permanently: close the segment and connect again. */
        LOST,
        /** The library reported a reason that has no publicly known meaning. */
        UNKNOWN
    }
}
