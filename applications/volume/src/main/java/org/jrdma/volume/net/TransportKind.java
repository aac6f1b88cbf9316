package org.jrdma.volume.net;

import java.util.Locale;

/** The kinds of transports for connections between nodes. */
public enum TransportKind {
    /** Messages over a reliable queue pair. Bulk data by RDMA READ and RDMA WRITE. */
    VERBS,
    /** Messages over SISCI message queues. Bulk data by stores into segments of the peer. */
    SISCI,
    /** Messages and bulk data over a stream of supersockets-java. */
    SOCKETS;

    /** The name of the transport, which is the start of an address: {@code sockets:host:7471}. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
