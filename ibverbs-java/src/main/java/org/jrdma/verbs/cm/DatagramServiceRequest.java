package org.jrdma.verbs.cm;

import org.jrdma.verbs.DatagramQueuePair;
import org.jrdma.verbs.cm.model.ConnectionParameters;
import org.jrdma.verbs.cm.model.DatagramParameters;
import org.jrdma.verbs.model.VerbsException;

/**
 * A peer's request for the queue pair number and queue key of a datagram service. On the wire: a
 * service ID resolution request (SIDR_REQ).
 *
 * <p>The program accepts, rejects or closes the request.
 */
public final class DatagramServiceRequest extends IncomingRequest {

    DatagramServiceRequest(ConnectionEvent.DatagramRequest request) {
        super(request, "service request");
    }

    /**
     * Accepts the request and closes it. The answer contains the number of the given queue pair, to
     * which the peer then sends its datagrams.
     *
     * @param queuePair a queue pair of the request's device, active with {@link
     *     DatagramParameters#QUEUE_KEY}
     * @param privateData private data for the peer's program: at most 136 bytes
     * @throws IllegalArgumentException if the private data is longer than this limit
     */
    public void accept(DatagramQueuePair queuePair, byte... privateData) throws VerbsException {
        var number = queuePair.endpoint().queuePairNumber();
        try {
            ownership.identifier().accept(ConnectionParameters.forDatagrams(number), privateData);
        } catch (IllegalStateException e) {
            throw ownership.explained(e);
        }
        close();
    }
}
