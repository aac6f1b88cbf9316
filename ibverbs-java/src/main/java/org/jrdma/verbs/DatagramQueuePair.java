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
 * <p>In the memory of a receive request, the message starts after {@link GlobalRouteHeader#BYTES}
 * bytes that are reserved for a {@link GlobalRouteHeader}. The memory must therefore be larger than
 * the message by that number of bytes, and the length in the completion includes them. The
 * completion also contains the source of the message.
 */
public interface DatagramQueuePair {

    /**
     * The endpoint of this queue pair, which peers need to send messages to it. Peers also need the
     * queue key. They ignore the packet sequence number of the endpoint.
     */
    Endpoint endpoint();

    /**
     * Activates this queue pair: moves it from the state RESET to READY_TO_SEND. In C: three calls
     * of {@code ibv_modify_qp}.
     *
     * @param queueKey the queue key of this queue pair. The device drops received messages with
     *     another key
     * @throws VerbsException if the device rejects a transition; the message names both states and
     *     the attributes
     */
    void activate(int queueKey) throws VerbsException;

    /**
     * The maximum length of a message in bytes: the active MTU of the port when the queue pair was
     * created.
     */
    int maxMessageBytes();

    /**
     * Returns the path to the port of another queue pair, for {@link
     * ProtectionDomain#newAddressHandle}.
     *
     * @throws VerbsException if there is no path, for example because a RoCE port has no GID
     */
    default AddressVector addressOf(Endpoint peer) throws VerbsException {
        return addressOf(peer.gid(), peer.lid());
    }

    /**
     * Returns the path to a port or to a multicast group, for {@link
     * ProtectionDomain#newAddressHandle}. The queue pair number in the {@link Destination} of
     * messages to a group is {@link Destination#MULTICAST}.
     *
     * @param lid the LID of the port or group in an InfiniBand subnet; 0 on RoCE
     * @throws VerbsException if there is no path, for example because a RoCE port has no GID
     */
    AddressVector addressOf(Gid gid, int lid) throws VerbsException;

    /**
     * Returns the path to the sender of a received message, for a reply. The destination of a reply
     * also requires the sender's queue pair number, which the completion contains, and the sender's
     * queue key, which the completion does not contain. In C: {@code ibv_init_ah_from_wc}; together
     * with {@link ProtectionDomain#newAddressHandle}, {@code ibv_create_ah_from_wc}.
     *
     * @param received the completion of the receive
     * @param into the memory of the receive request, unchanged since the receive completed
     * @throws IllegalArgumentException if the completion is not that of a received datagram, or the
     *     memory is shorter than {@link GlobalRouteHeader#BYTES} bytes
     * @throws VerbsException if the destination in the header of the message is not an address of
     *     this port, for example because the message was sent to a multicast group
     */
    AddressVector addressOf(Completion received, MemorySlice into) throws VerbsException;

    /**
     * Attaches this queue pair to a multicast group, so that it receives messages to the group. The
     * network must also deliver the group's messages to this port. On InfiniBand, the subnet
     * manager configures this. On RoCE, the network interface must have joined the IP multicast
     * group. In C: {@code ibv_attach_mcast}.
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
