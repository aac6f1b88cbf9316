package org.jrdma.verbs.model;

/** The logical state of a port. In C: {@code enum ibv_port_state}, {@code ibv_port_state_str}. */
public enum PortState {
    /** A constant of C that means "no state change". No port reports this state. */
    NOP,
    /** The port has no link. */
    DOWN,
    /** The link is up, but no subnet manager has configured the port yet. */
    INITIALIZING,
    /** The port is configured and about to become active. */
    ARMED,
    /** The port is active: it can send and receive data. */
    ACTIVE,
    /** The port is active while its link is retrained. */
    ACTIVE_DEFER,
    /** A state that this version of the SDK does not know. */
    UNKNOWN
}
