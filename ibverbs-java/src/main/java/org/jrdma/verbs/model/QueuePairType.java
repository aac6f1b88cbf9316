package org.jrdma.verbs.model;

/** The transport service of a queue pair. In C: {@code enum ibv_qp_type}. */
public enum QueuePairType {
    /**
     * A reliable connection to one peer. Every message arrives exactly once and in order, or the
     * queue pair fails. In C: {@code IBV_QPT_RC}.
     */
    RELIABLE_CONNECTION("reliable connection (RC)"),
    /**
     * An unreliable connection to one peer. Messages and writes can be lost without an error. Reads
     * and atomics are not supported. In C: {@code IBV_QPT_UC}.
     */
    UNRELIABLE_CONNECTION("unreliable connection (UC)"),
    /**
     * A queue pair without connection for datagrams. Each message has its own destination, which
     * can be a multicast group. A message fits into one packet and can be lost. Writes, reads and
     * atomics are not supported. In C: {@code IBV_QPT_UD}.
     */
    UNRELIABLE_DATAGRAM("unreliable datagrams (UD)"),
    /**
     * The sending side of an extended reliable connection (XRC). Each request specifies a shared
     * receive queue of the peer. The queue pair cannot receive. In C: {@code IBV_QPT_XRC_SEND}.
     */
    XRC_SEND("sending side of an extended reliable connection (XRC)"),
    /**
     * The receiving side of an extended reliable connection (XRC). Messages go to the shared
     * receive queues of the XRC domain. The queue pair cannot send. In C: {@code IBV_QPT_XRC_RECV}.
     */
    XRC_RECEIVE("receiving side of an extended reliable connection (XRC)"),
    /**
     * A queue pair without connection that sends and receives whole Ethernet frames at a port.
     * Writes, reads and atomics are not supported. In C: {@code IBV_QPT_RAW_PACKET}.
     */
    RAW_PACKET("raw packets");

    private final String description;

    QueuePairType(String description) {
        this.description = description;
    }

    /** The name of the type in English, for messages. */
    public String description() {
        return description;
    }
}
