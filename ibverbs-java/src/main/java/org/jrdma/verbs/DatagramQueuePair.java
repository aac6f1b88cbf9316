package org.jrdma.verbs;

import org.jrdma.verbs.memory.MemorySlice;
import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Completion;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair that exchanges datagrams with any number of peers. Each message has its own {@link
 * Destination}, fits into one packet, and may be lost. In C: {@code IBV_QPT_UD}.
 *
 * <p>A received message follows {@link GlobalRouteHeader#BYTES} bytes that are reserved for a
 * {@link GlobalRouteHeader}. A receive request must be larger than the message by that number of
 * bytes, and the length in its completion includes them. The completion contains the source of the
 * message.
 */
public interface DatagramQueuePair {

    /**
     * The endpoint of this queue pair. Peers also need the queue key. They do not use the packet
     * sequence number of the endpoint.
     */
    Endpoint endpoint();

    /**
     * Brings this queue pair from RESET to READY_TO_SEND. In C: three calls of {@code
     * ibv_modify_qp}.
     *
     * @param queueKey the queue key. Received messages with another key are dropped
     * @throws VerbsException if the device rejects a transition; the message names both states and
     *     the attributes
     */
    void activate(int queueKey) throws VerbsException;

    /** The maximum length of a message: the MTU of the port at creation time. */
    int maxMessageBytes();

    /**
     * The path to the port of another queue pair, for {@link ProtectionDomain#newAddressHandle}.
     *
     * @throws VerbsException if there is no path, for example without a GID on RoCE
     */
    default AddressVector addressOf(Endpoint peer) throws VerbsException {
        return addressOf(peer.gid(), peer.lid());
    }

    /**
     * The path to a port or to a multicast group. The queue pair number for messages to a group is
     * {@link Destination#MULTICAST}.
     *
     * @param lid the LID of the port or group in an InfiniBand subnet; 0 on RoCE
     * @throws VerbsException if there is no path, for example without a GID on RoCE
     */
    AddressVector addressOf(Gid gid, int lid) throws VerbsException;

    /**
     * The path back to the sender of a message. A reply also needs the sender's queue pair number,
     * which the completion contains, and its queue key, which the completion does not contain. In
     * C: {@code ibv_init_ah_from_wc}; together with {@link ProtectionDomain#newAddressHandle},
     * {@code ibv_create_ah_from_wc}.
     *
     * @param received the completion of the receive
     * @param into the memory of the receive request, unchanged since the receive completed
     * @throws IllegalArgumentException if the completion is not that of a received datagram, or the
     *     memory is shorter than {@link GlobalRouteHeader#BYTES} bytes
     * @throws VerbsException if the header does not contain an address of this port, which is the
     *     case for a message to a multicast group
     */
    AddressVector addressOf(Completion received, MemorySlice into) throws VerbsException;

    /**
     * Attaches this queue pair to a multicast group, so that it receives messages to the group from
     * now on. The network must also deliver the group's messages to this port: on InfiniBand the
     * subnet manager does so, on RoCE the network interface must have joined the IP group. In C:
     * {@code ibv_attach_mcast}.
     *
     * @param lid the LID of the group in an InfiniBand subnet; 0 on RoCE
     */
    void attachMulticast(Gid group, int lid) throws VerbsException;

    /**
     * Detaches this queue pair from a multicast group. Closing the queue pair detaches it from all
     * groups. In C: {@code ibv_detach_mcast}.
     */
    void detachMulticast(Gid group, int lid) throws VerbsException;
}
