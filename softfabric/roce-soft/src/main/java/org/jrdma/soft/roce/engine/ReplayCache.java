package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import org.jrdma.soft.roce.engine.ResponseQueue.Response;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;

/**
 * The most recent READs and atomics that a reliable responder has executed. The peer repeats a
 * request if the response was lost, and the responder then answers from this cache, because an
 * atomic must not be executed twice.
 */
final class ReplayCache {

    private final PeerRoute route;
    private final ResponseQueue responses;

    /** The recorded responses: a ring buffer in which a new response overwrites the oldest. */
    private final Response[] executed;

    private int next;

    /**
     * True if the last repeated SEND or WRITE was not acknowledged; see {@link
     * #repeatAcknowledgement}.
     */
    private boolean withheld;

    /** The sequence number of the request whose acknowledgement was withheld. */
    private int lastWithheld;

    /**
     * @param maxReads the maximum number of READs and atomics that the peer may have outstanding
     */
    ReplayCache(int maxReads, PeerRoute route, ResponseQueue responses) {
        this.route = route;
        this.responses = responses;
        this.executed = new Response[maxReads];
        for (var i = 0; i < maxReads; i++) {
            executed[i] = new Response();
        }
    }

    /**
     * Returns true if the cache holds as many unanswered READs and atomics as the peer may have
     * outstanding.
     */
    boolean isFull() {
        return responses.originalResponses() >= executed.length;
    }

    /**
     * Returns the entry into which the response to the next READ or atomic is written before {@link
     * #add}.
     */
    Response next() {
        return executed[next];
    }

    /**
     * Records the response that was written to {@link #next}, and queues it for sending. Returns
     * the number of sequence numbers that the response uses.
     */
    int add() {
        var response = executed[next];
        next = (next + 1) % executed.length;
        responses.add(response);
        return response.packets;
    }

    /**
     * Returns an earlier response.
     *
     * @param age 1 for the most recent response, 2 for the one before, and so on
     */
    private Response executed(int age) {
        return executed[(next + executed.length - age) % executed.length];
    }

    /**
     * Responds to a request that arrived before, if its result is still recorded.
     *
     * @param expected the sequence number that the responder expects in the next new request
     * @param messages the number of messages that the responder has executed
     */
    void repeat(IncomingPacket packet, int expected, int messages) {
        if (responses.isHalfFull()) {
            return; // The free entries are reserved for new responses, and the peer will retry.
        }
        switch (packet.opCode().operation()) {
            case SEND, WRITE -> repeatAcknowledgement(packet.sequence(), expected, messages);
            case READ_REQUEST -> repeatRead(packet, packet.rdmaLength());
            case ATOMIC_WRITE, FLUSH -> repeatRead(packet, 0);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> repeatAtomic(packet.sequence());
            default -> throw new IllegalStateException("Not a request: " + packet.opCode());
        }
    }

    /**
     * Acknowledges a repeated SEND or WRITE, and all later requests up to the next READ or atomic,
     * so that the peer need not repeat them. If the acknowledgement also covered that READ or
     * atomic, the peer would conclude that the response was lost.
     *
     * <p>If a READ or atomic follows, the peer repeats that request too, and its response also
     * acknowledges the SEND or WRITE. The acknowledgement is therefore withheld until the peer
     * repeats the SEND or WRITE a second time. Without this rule, the kernel's rxe could receive an
     * acknowledgement that is older than READ responses that it has already received, and would
     * treat the remaining responses as an error.
     */
    private void repeatAcknowledgement(int sequence, int expected, int messages) {
        var end = expected;
        for (var known : executed) {
            if (known.isUsed()
                    && distance(sequence, known.sequence) > 0
                    && distance(known.sequence, end) > 0) {
                end = known.sequence;
            }
        }
        if (end != expected && !(withheld && distance(sequence, lastWithheld) >= 0)) {
            withheld = true;
            lastWithheld = sequence;
            return;
        }
        withheld = false;
        responses.acknowledge(plus(end, -1), AcknowledgeHeader.ACKNOWLEDGED, messages);
    }

    private void repeatAtomic(int sequence) {
        for (var age = 1; age <= executed.length; age++) {
            var known = executed(age);
            if (known.isAtomic() && known.sequence == sequence) {
                withheld = false;
                responses.addRepeated(known);
                return;
            }
        }
    }

    /**
     * Repeats the response to a READ of {@code bytes} bytes. ATOMIC WRITE and FLUSH are answered
     * like a READ of 0 bytes.
     */
    private void repeatRead(IncomingPacket packet, long bytes) {
        for (var age = 1; age <= executed.length; age++) {
            var known = executed(age);
            var skipped = distance(known.sequence, packet.sequence());
            var skippedBytes = (long) skipped * route.pathMtu();
            if (known.isRead()
                    && skipped >= 0
                    && skipped < known.packets
                    && packet.rdmaKey() == known.key
                    && packet.rdmaAddress() == known.address + skippedBytes
                    && bytes <= known.bytes - skippedBytes) {
                withheld = false;
                responses.repeatRead(
                        known,
                        packet.sequence(),
                        route.packets(bytes),
                        packet.rdmaAddress(),
                        bytes);
                return;
            }
        }
    }
}
