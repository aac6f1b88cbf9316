package org.jrdma.verbs.model;

/** The transport service of a queue pair. In C: {@code enum ibv_qp_type}. */
public enum QueuePairType {
    /**
     * Connected to one peer. Every message arrives once and in order, or the queue pair fails. In
     * C: {@code IBV_QPT_RC}.
     */
    RELIABLE_CONNECTION("reliable connection (RC)"),
    /**
     * Connected to one peer. Lost messages are not reported. Reads and atomics are not supported.
     * In C: {@code IBV_QPT_UC}.
     */
    UNRELIABLE_CONNECTION("unreliable connection (UC)"),
    /**
     * Not connected. Each message has its own destination, which may be a multicast group, fits
     * into one packet, and may be lost. Only messages are supported. In C: {@code IBV_QPT_UD}.
     */
    UNRELIABLE_DATAGRAM("unreliable datagrams (UD)"),
    /**
     * The sending side of a reliable connection. Each request names the peer's shared receive queue
     * that the message is for. Receives nothing. In C: {@code IBV_QPT_XRC_SEND}.
     */
    XRC_SEND("sending side of an extended reliable connection (XRC)"),
    /**
     * The receiving side of a reliable connection. Receives for all shared receive queues of its
     * XRC domain. Sends nothing. In C: {@code IBV_QPT_XRC_RECV}.
     */
    XRC_RECEIVE("receiving side of an extended reliable connection (XRC)"),
    /**
     * Not connected. Sends and receives whole Ethernet frames of a port. Only messages are
     * supported. In C: {@code IBV_QPT_RAW_PACKET}.
     */
    RAW_PACKET("raw packets");

    private final String description;

    QueuePairType(String description) {
        this.description = description;
    }

    /** The type in words, for messages. */
    public String description() {
        return description;
    }
}
