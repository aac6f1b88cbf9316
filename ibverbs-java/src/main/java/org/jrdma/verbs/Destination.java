package org.jrdma.verbs;

import org.jrdma.ffi.linkage.FieldRange;

/**
 * Where a datagram goes.
 *
 * @param address the way to the port. In C: {@code wr.ud.ah}
 * @param queuePairNumber the receiver's queue pair there, 24 bits; {@link #MULTICAST} where {@code
 *     address} is a multicast group's. In C: {@code wr.ud.remote_qpn}
 * @param queueKey the receiver's key, without which it drops the message. In C: {@code
 *     wr.ud.remote_qkey}
 */
public record Destination(AddressHandle address, int queuePairNumber, int queueKey) {

    /** The number that stands for every queue pair in a multicast group. */
    public static final int MULTICAST = 0xffffff;

    /** Refuses what does not fit its field. */
    public Destination {
        FieldRange.check("queue pair number", queuePairNumber, 0, 0xffffff);
    }
}
