package org.jrdma.verbs;

import org.jrdma.ffi.linkage.FieldRangeChecks;

/**
 * The destination of a datagram.
 *
 * @param address the path to the port of the receiver or to a multicast group. In C: {@code
 *     wr.ud.ah}
 * @param queuePairNumber the 24-bit number of the receiving queue pair; {@link #MULTICAST} if
 *     {@code address} is a path to a multicast group. In C: {@code wr.ud.remote_qpn}
 * @param queueKey the queue key of the receiver. The receiver drops messages with another key. In
 *     C: {@code wr.ud.remote_qkey}
 */
public record Destination(AddressHandle address, int queuePairNumber, int queueKey) {

    /** The queue pair number for messages to a multicast group. */
    public static final int MULTICAST = 0xffffff;

    /** Checks that the queue pair number has at most 24 bits. */
    public Destination {
        FieldRangeChecks.check("queue pair number", queuePairNumber, 0, 0xffffff);
    }
}
