package org.jrdma.soft.roce.abi.cm;

import java.util.Set;
import org.jrdma.abi.rdma.rdma_h;
import org.jrdma.ffi.Errno;
import org.jrdma.soft.roce.abi.ErrnoException;
import org.jrdma.soft.roce.connection.ConnectRequest;

/**
 * The port space and the queue pair type of an {@code rdma_cm_id}.
 *
 * @param portSpace the {@code RDMA_PS_} code of the port space
 * @param queuePairType the {@code IBV_QPT_} code of the queue pair type
 */
record PortSpaceAndQueueType(int portSpace, int queuePairType) {

    /** The queue pair types that are valid in the port space {@code RDMA_PS_IB}. */
    private static final Set<Integer> INFINIBAND_TYPES =
            Set.of(
                    rdma_h.IBV_QPT_RC(),
                    rdma_h.IBV_QPT_UC(),
                    rdma_h.IBV_QPT_UD(),
                    rdma_h.IBV_QPT_XRC_SEND(),
                    rdma_h.IBV_QPT_XRC_RECV());

    /**
     * Returns the type of an {@code rdma_cm_id} with the default queue pair type of a port space.
     *
     * @throws ErrnoException with {@code EPROTONOSUPPORT} if the port space is unknown
     */
    static PortSpaceAndQueueType of(int portSpace) {
        if (portSpace == rdma_h.RDMA_PS_TCP() || portSpace == rdma_h.RDMA_PS_IB()) {
            return new PortSpaceAndQueueType(portSpace, rdma_h.IBV_QPT_RC());
        }
        if (portSpace == rdma_h.RDMA_PS_UDP() || portSpace == rdma_h.RDMA_PS_IPOIB()) {
            return new PortSpaceAndQueueType(portSpace, rdma_h.IBV_QPT_UD());
        }
        throw new ErrnoException(Errno.EPROTONOSUPPORT);
    }

    /**
     * Returns the type of an identifier for a port space and a queue pair type.
     *
     * @throws ErrnoException with {@code EINVAL} if the queue pair type is not valid in the port
     *     space
     */
    static PortSpaceAndQueueType of(int portSpace, int queuePairType) {
        var type = new PortSpaceAndQueueType(portSpace, queuePairType);
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

    /**
     * The code of the transport in a connect request, one of the constants of {@link
     * ConnectRequest}.
     */
    int transport() {
        if (queuePairType == rdma_h.IBV_QPT_UC()) {
            return ConnectRequest.UNRELIABLE;
        }
        return queuePairType == rdma_h.IBV_QPT_XRC_SEND()
                        || queuePairType == rdma_h.IBV_QPT_XRC_RECV()
                ? ConnectRequest.EXTENDED
                : ConnectRequest.RELIABLE;
    }

    /**
     * Returns true if an {@code rdma_cm_id} of this type can request connections. One for XRC
     * receive queue pairs cannot.
     */
    boolean canConnect() {
        return queuePairType != rdma_h.IBV_QPT_XRC_RECV();
    }

    /**
     * Returns true if peers can connect to an {@code rdma_cm_id} of this type. One for XRC send
     * queue pairs accepts no connections.
     */
    boolean canAccept() {
        return queuePairType != rdma_h.IBV_QPT_XRC_SEND();
    }

    /** Returns true if queue pairs of this type wait for acknowledgements of their requests. */
    boolean hasAcknowledgeTimeout() {
        return queuePairType == rdma_h.IBV_QPT_RC() || queuePairType == rdma_h.IBV_QPT_XRC_SEND();
    }

    long serviceId(int port) {
        return (long) portSpace << 16 | port;
    }
}
