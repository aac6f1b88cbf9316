package org.jrdma.soft.roce.abi.verbs;

import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.packet.Transport;

/** The types of queue pairs, each with its {@code IBV_QPT_} code. */
enum QueuePairKind {
    RELIABLE(rdma_h.IBV_QPT_RC(), Transport.RELIABLE),
    UNRELIABLE(rdma_h.IBV_QPT_UC(), Transport.UNRELIABLE),
    DATAGRAM(rdma_h.IBV_QPT_UD(), Transport.DATAGRAM),
    /** The sending side of an XRC connection. */
    EXTENDED_SENDER(rdma_h.IBV_QPT_XRC_SEND(), Transport.EXTENDED),
    /** The receiving side of an XRC connection. */
    EXTENDED_RECEIVER(rdma_h.IBV_QPT_XRC_RECV(), Transport.EXTENDED);

    private final int code;
    private final Transport transport;

    QueuePairKind(int code, Transport transport) {
        this.code = code;
        this.transport = transport;
    }

    /**
     * Returns the type with an {@code IBV_QPT_} code.
     *
     * @throws ErrnoException with {@code EOPNOTSUPP} if the type is not supported
     */
    static QueuePairKind of(int code) {
        for (var kind : values()) {
            if (kind.code == code) {
                return kind;
            }
        }
        throw new ErrnoException(Errno.EOPNOTSUPP);
    }

    int code() {
        return code;
    }

    Transport transport() {
        return transport;
    }
}
