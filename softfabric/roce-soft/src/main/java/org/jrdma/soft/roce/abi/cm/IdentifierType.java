package org.jrdma.soft.roce.abi.cm;

import java.util.Set;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.connection.ConnectRequest;

/** The codes of the port space and of the queue pair type of an identifier. */
record IdentifierType(int portSpace, int queuePairType) {

    /** The types of queue pairs in the InfiniBand port space. */
    private static final Set<Integer> INFINIBAND_TYPES =
            Set.of(
                    rdma_h.IBV_QPT_RC(),
                    rdma_h.IBV_QPT_UC(),
                    rdma_h.IBV_QPT_UD(),
                    rdma_h.IBV_QPT_XRC_SEND(),
                    rdma_h.IBV_QPT_XRC_RECV());

    /** Returns the default type of a port space. */
    static IdentifierType of(int portSpace) {
        if (portSpace == rdma_h.RDMA_PS_TCP() || portSpace == rdma_h.RDMA_PS_IB()) {
            return new IdentifierType(portSpace, rdma_h.IBV_QPT_RC());
        }
        if (portSpace == rdma_h.RDMA_PS_UDP() || portSpace == rdma_h.RDMA_PS_IPOIB()) {
            return new IdentifierType(portSpace, rdma_h.IBV_QPT_UD());
        }
        throw new ErrnoException(Errno.EPROTONOSUPPORT);
    }

    /**
     * Returns the type for a port space and a queue pair type.
     *
     * @throws ErrnoException if the port space does not have that type
     */
    static IdentifierType of(int portSpace, int queuePairType) {
        var type = new IdentifierType(portSpace, queuePairType);
        ErrnoException.throwIf(
                !type.equals(of(portSpace))
                        && (portSpace != rdma_h.RDMA_PS_IB()
                                || !INFINIBAND_TYPES.contains(queuePairType)),
                Errno.EINVAL);
        return type;
    }

    boolean isDatagram() {
        return queuePairType == rdma_h.IBV_QPT_UD();
    }

    /** The transport of connections, as in a {@link ConnectRequest}. */
    int transport() {
        if (queuePairType == rdma_h.IBV_QPT_UC()) {
            return ConnectRequest.UNRELIABLE;
        }
        return queuePairType == rdma_h.IBV_QPT_XRC_SEND()
                        || queuePairType == rdma_h.IBV_QPT_XRC_RECV()
                ? ConnectRequest.EXTENDED
                : ConnectRequest.RELIABLE;
    }

    /** Whether the identifier can connect to a peer. An XRC receiver cannot. */
    boolean canConnect() {
        return queuePairType != rdma_h.IBV_QPT_XRC_RECV();
    }

    /** Whether peers can connect to the identifier. An XRC sender does not accept connections. */
    boolean canAccept() {
        return queuePairType != rdma_h.IBV_QPT_XRC_SEND();
    }

    /** Whether the queue pair waits for acknowledgements. */
    boolean hasAcknowledgeTimeout() {
        return queuePairType == rdma_h.IBV_QPT_RC() || queuePairType == rdma_h.IBV_QPT_XRC_SEND();
    }

    long serviceId(int port) {
        return (long) portSpace << 16 | port;
    }
}
