package org.jrdma.verbs;

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
     * Not connected: whole frames of an Ethernet port. It has messages only. In C: {@code
     * IBV_QPT_RAW_PACKET}.
     */
    RAW_PACKET("raw packets");

    private final String description;

    QueuePairType(String description) {
        this.description = description;
    }

    /** As in a message. */
    String description() {
        return description;
    }
}
