package org.jrdma.sisci.model;

import java.util.OptionalInt;

/**
 * Something that happened to a segment.
 *
 * @param type what it was
 * @param node the peer, of a local segment's CONNECTED and DISCONNECTED
 * @param adapter the adapter, of a local segment's events
 * @param code the library's error code; 0 for none
 */
public record SegmentEvent(Type type, OptionalInt node, OptionalInt adapter, int code) {

    /** What can happen to a segment. In C: {@code sci_segment_cb_reason_t}. */
    public enum Type {
        /** A peer has connected. */
        CONNECTED,
        /** A peer has disconnected; of a remote segment, the owner wants this side to. */
        DISCONNECTED,
        /** The link is gone, maybe for a while. Stores are lost, and loads give all ones. */
        NOT_OPERATIONAL,
        /** The link is back. */
        OPERATIONAL,
        /** The connection is lost for good: close the segment and connect again. */
        LOST,
        /** A reason that has no publicly known meaning. */
        UNKNOWN
    }
}
