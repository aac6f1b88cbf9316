package org.jrdma.sisci.model;

import java.util.OptionalInt;

/**
 * An event of a segment.
 *
 * @param type the kind of event
 * @param node the peer, for CONNECTED and DISCONNECTED of a local segment
 * @param adapter the adapter, for events of a local segment
 * @param code the library's error code; 0 for no error
 */
public record SegmentEvent(Type type, OptionalInt node, OptionalInt adapter, int code) {

    /** The kind of an event. In C: {@code sci_segment_cb_reason_t}. */
    public enum Type {
        /** A peer has connected. */
        CONNECTED,
        /** A peer has disconnected; for a remote segment, the owner requests a disconnect. */
        DISCONNECTED,
        /** The link is down, perhaps temporarily. Stores are lost, and loads return all ones. */
        NOT_OPERATIONAL,
        /** The link is up again. */
        OPERATIONAL,
        /** The connection is lost permanently: close the segment and connect again. */
        LOST,
        /** A reason that has no publicly known meaning. */
        UNKNOWN
    }
}
