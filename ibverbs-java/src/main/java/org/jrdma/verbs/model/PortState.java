package org.jrdma.verbs.model;

/**
 * Whether a port can carry traffic. In C: {@code enum ibv_port_state}, {@code ibv_port_state_str}.
 */
public enum PortState {
    /** The state does not change; never seen in an answer. */
    NOP,
    /** There is no link. */
    DOWN,
    /** There is a link, and no subnet manager has seen it yet. */
    INITIALIZING,
    /** Configured, and about to become active. */
    ARMED,
    /** It carries traffic. */
    ACTIVE,
    /** It carries traffic, and its link is being trained anew. */
    ACTIVE_DEFER,
    /** A number that this version does not know. */
    UNKNOWN
}
