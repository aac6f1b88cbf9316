package org.jrdma.verbs.cm.model;

/** A space of port numbers, which determines the kind of queue pair that a port leads to. */
public enum PortSpace {
    /** Reliable connections. In C: {@code RDMA_PS_TCP}. */
    TCP(false),
    /** Datagrams. In C: {@code RDMA_PS_UDP}. */
    UDP(true),
    /** Datagrams that interoperate with IP over InfiniBand. In C: {@code RDMA_PS_IPOIB}. */
    IPOIB(true),
    /** Any connections, addressed by service identifiers. In C: {@code RDMA_PS_IB}. */
    IB(false);

    private final boolean datagrams;

    PortSpace(boolean datagrams) {
        this.datagrams = datagrams;
    }

    /** Returns true if the port space has datagrams, and no connections. */
    public boolean isOfDatagrams() {
        return datagrams;
    }
}
