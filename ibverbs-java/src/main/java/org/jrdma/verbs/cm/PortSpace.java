package org.jrdma.verbs.cm;

/** What a port number counts in, and which kind of queue pair is behind it. */
public enum PortSpace {
    /** Reliable connections. In C: {@code RDMA_PS_TCP}. */
    TCP(false),
    /** Datagrams. In C: {@code RDMA_PS_UDP}. */
    UDP(true),
    /** Datagrams that IP over InfiniBand can hear. In C: {@code RDMA_PS_IPOIB}. */
    IPOIB(true),
    /** Reliable connections, addressed by service identifiers. In C: {@code RDMA_PS_IB}. */
    IB(false);

    private final boolean datagrams;

    PortSpace(boolean datagrams) {
        this.datagrams = datagrams;
    }

    /** Whether there are datagrams in it, and no connections. */
    public boolean isOfDatagrams() {
        return datagrams;
    }
}
