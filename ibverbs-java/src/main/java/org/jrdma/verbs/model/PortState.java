package org.jrdma.verbs.model;

/** The logical state of a port. In C: {@code enum ibv_port_state}, {@code ibv_port_state_str}. */
public enum PortState {
    /** No state change; never reported. */
    NOP,
    /** There is no link. */
    DOWN,
    /** The link is up, but no subnet manager has configured the port yet. */
    INITIALIZING,
    /** The port is configured and about to become active. */
    ARMED,
    /** The port carries traffic. */
    ACTIVE,
    /** The port carries traffic while its link is retrained. */
    ACTIVE_DEFER,
    /** A state that this version does not know. */
    UNKNOWN
}
