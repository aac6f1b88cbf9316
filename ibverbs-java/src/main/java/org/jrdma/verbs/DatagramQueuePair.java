package org.jrdma.verbs;

import org.jrdma.verbs.model.AddressVector;
import org.jrdma.verbs.model.Endpoint;
import org.jrdma.verbs.model.Gid;
import org.jrdma.verbs.model.GlobalRouteHeader;
import org.jrdma.verbs.model.VerbsException;

/**
 * A queue pair that speaks to any number of others, a datagram at a time: each message has its
 * {@link Destination}, fits into one packet, and may be lost. In C: {@code IBV_QPT_UD}.
 *
 * <p>A message is received behind {@link GlobalRouteHeader#BYTES} bytes for a {@link
 * GlobalRouteHeader}, so a receive has room for that many more than the message; the number of
 * bytes in its completion counts them too. Its completion says where it came from.
 */
public sealed interface DatagramQueuePair permits PolledDatagramQueuePair, AsyncDatagramQueuePair {

    /**
     * Where others reach it: to be told to them, together with the queue key. The packet sequence
     * in it is of no use to them.
     */
    Endpoint endpoint();

    /**
     * Brings this queue pair from RESET to READY_TO_SEND. In C: three calls of {@code
     * ibv_modify_qp}.
     *
     * @param queueKey what messages must carry, or they are dropped
     * @throws VerbsException if the device refuses a step; the message names both states and the
     *     attributes in question
     */
    void activate(int queueKey) throws VerbsException;

    /** How long a message can be: the MTU that the port had when this was made. */
    int maxMessageBytes();

    /**
     * The way to another queue pair's port, for {@link ProtectionDomain#newAddressHandle}.
     *
     * @throws VerbsException if there is none, as without a GID on RoCE
     */
    default AddressVector addressOf(Endpoint peer) throws VerbsException {
        return addressOf(peer.gid(), peer.lid());
    }

    /**
     * The way to a port, or to a multicast group, whose messages go to {@link
     * Destination#MULTICAST}.
     *
     * @param lid the address in an InfiniBand subnet, of a group too; 0 on RoCE
     * @throws VerbsException if there is none, as without a GID on RoCE
     */
    AddressVector addressOf(Gid gid, int lid) throws VerbsException;

    /**
     * The way back to where a message came from. The destination of an answer needs the sender's
     * number besides, which is in the completion, and its queue key, which is not. In C: {@code
     * ibv_init_ah_from_wc}; together with {@link ProtectionDomain#newAddressHandle}, {@code
     * ibv_create_ah_from_wc}.
     *
     * @param received the completion of the receive
     * @param into the memory that it was received into, as it was when the receive completed
     * @throws IllegalArgumentException if the completion is not of a datagram received, or there
     *     are less than {@link GlobalRouteHeader#BYTES} bytes
     * @throws VerbsException if the header names no address of this port, as that of a message to a
     *     multicast group
     */
    AddressVector addressOf(Completion received, MemorySlice into) throws VerbsException;

    /**
     * Receives what is sent to a multicast group from now on. The network must bring it here: on
     * InfiniBand a subnet manager does, on RoCE the network interface must be in the IP group. In
     * C: {@code ibv_attach_mcast}.
     *
     * @param lid the group's address in an InfiniBand subnet; 0 on RoCE
     */
    void attachMulticast(Gid group, int lid) throws VerbsException;

    /**
     * Ends what {@link #attachMulticast} began; close() does it too. In C: {@code
     * ibv_detach_mcast}.
     */
    void detachMulticast(Gid group, int lid) throws VerbsException;
}
