package org.jrdma.verbs.cm.model;

/** A space of port numbers, which determines the type of queue pairs that use a port. */
public enum PortSpace {
    /** The port space of reliable connections. In C: {@code RDMA_PS_TCP}. */
    TCP(false),
    /** The port space of datagrams. In C: {@code RDMA_PS_UDP}. */
    UDP(true),
    /**
     * The port space of datagrams that interoperate with IP over InfiniBand. In C: {@code
     * RDMA_PS_IPOIB}.
     */
    IPOIB(true),
    /**
     * The port space of connections of any type, which service IDs address. In C: {@code
     * RDMA_PS_IB}.
     */
    IB(false);

    private final boolean datagrams;

    PortSpace(boolean datagrams) {
        this.datagrams = datagrams;
    }

    /** Returns true if the port space is for datagrams rather than connections. */
    public boolean isDatagram() {
        return datagrams;
    }
}
