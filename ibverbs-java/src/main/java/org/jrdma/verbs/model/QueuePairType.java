package org.jrdma.verbs.model;

/** What a queue pair promises, and to how many peers it speaks. In C: {@code enum ibv_qp_type}. */
public enum QueuePairType {
    /**
     * Connected to one peer, and everything arrives once, in order, or the queue pair fails. In C:
     * {@code IBV_QPT_RC}.
     */
    RELIABLE_CONNECTION("reliable connection (RC)"),
    /**
     * Connected to one peer; what is lost is lost, and nobody is told. It has no reads and no
     * atomics. In C: {@code IBV_QPT_UC}.
     */
    UNRELIABLE_CONNECTION("unreliable connection (UC)"),
    /**
     * Not connected: each message goes to its own destination, or to many, fits into one packet and
     * may be lost. It has messages only. In C: {@code IBV_QPT_UD}.
     */
    UNRELIABLE_DATAGRAM("unreliable datagrams (UD)"),
    /**
     * Connected to one that receives, reliably; each request names the shared receive queue there
     * that it is for. It receives nothing. In C: {@code IBV_QPT_XRC_SEND}.
     */
    XRC_SEND("sending end of an extended reliable connection (XRC)"),
    /**
     * Connected to one that sends, reliably, and receives for all shared receive queues of its
     * domain. It sends nothing. In C: {@code IBV_QPT_XRC_RECV}.
     */
    XRC_RECEIVE("receiving end of an extended reliable connection (XRC)"),
    /**
     * Not connected: whole frames of an Ethernet port. It has messages only. In C: {@code
     * IBV_QPT_RAW_PACKET}.
     */
    RAW_PACKET("raw packets");

    private final String description;

    QueuePairType(String description) {
        this.description = description;
    }

    /** The type in words, as messages name it. */
    public String description() {
        return description;
    }
}
