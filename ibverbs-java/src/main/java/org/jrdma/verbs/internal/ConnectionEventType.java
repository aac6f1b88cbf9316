package org.jrdma.verbs.internal;

/** The type of an event of the connection manager. In C: {@code enum rdma_cm_event_type}. */
public enum ConnectionEventType {
    ADDRESS_RESOLVED,
    ADDRESS_ERROR,
    ROUTE_RESOLVED,
    ROUTE_ERROR,
    CONNECT_REQUEST,
    CONNECT_RESPONSE,
    CONNECT_ERROR,
    UNREACHABLE,
    REJECTED,
    ESTABLISHED,
    DISCONNECTED,
    DEVICE_REMOVED,
    MULTICAST_JOINED,
    MULTICAST_ERROR,
    ADDRESS_CHANGED,
    TIME_WAIT_EXIT,
    ADDRESS_INFO_RESOLVED,
    ADDRESS_INFO_ERROR,
    USER_DEFINED,
    /** A type that this version of the SDK does not know. */
    UNKNOWN
}
