package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import org.jrdma.soft.roce.engine.ResponseQueue.Response;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;

/**
 * The most recent READs and atomics that a reliable responder has executed, for responses to
 * requests that arrive again.
 */
final class ReplayCache {

    private final PeerLink link;
    private final ResponseQueue responses;

    /** A ring buffer: the oldest response is overwritten first. */
    private final Response[] executed;

    private int next;

    /**
     * True if the acknowledgement of a repeated request was withheld, and the sequence number of
     * that request.
     */
    private boolean withheld;

    private int lastWithheld;

    /**
     * @param maxReads the number of READs and atomics that the peer may have outstanding
     */
    ReplayCache(int maxReads, PeerLink link, ResponseQueue responses) {
        this.link = link;
        this.responses = responses;
        this.executed = new Response[maxReads];
        for (var i = 0; i < maxReads; i++) {
            executed[i] = new Response();
        }
    }

    /** Returns true if the peer has the maximum number of READs and atomics outstanding. */
    boolean isFull() {
        return responses.originalResponses() >= executed.length;
    }

    /** Returns the entry for the response to the next READ or atomic. */
    Response next() {
        return executed[next];
    }

    /**
     * Records and queues the response in {@link #next}. Returns the number of its sequence numbers.
     */
    int add() {
        var response = executed[next];
        next = (next + 1) % executed.length;
        responses.add(response);
        return response.packets;
    }

    /**
     * Returns the response to the READ or atomic that is {@code age} operations old; the last has
     * age 1.
     */
    private Response executed(int age) {
        return executed[(next + executed.length - age) % executed.length];
    }

    /**
     * Responds to a repeated request, if its result is still recorded.
     *
     * @param expected the next sequence number expected
     */
    void repeat(IncomingPacket packet, int expected, int messages) {
        if (responses.isHalfFull()) {
            return; // the peer will retry
        }
        switch (packet.opCode().operation()) {
            case SEND, WRITE -> repeatAcknowledgement(packet.sequence(), expected, messages);
            case READ_REQUEST -> repeatRead(packet, Integer.toUnsignedLong(packet.rdma().length()));
            case ATOMIC_WRITE, FLUSH -> repeatRead(packet, 0);
            case COMPARE_AND_SWAP, FETCH_AND_ADD -> repeatAtomic(packet.sequence());
            default -> throw new IllegalStateException("not a request: " + packet.opCode());
        }
    }

    /**
     * Acknowledges all requests that were executed, so that the peer need not repeat them, but only
     * up to the next READ or atomic. From an acknowledgement beyond it, the peer would conclude
     * that its response was lost.
     *
     * <p>If a READ or atomic follows, the peer repeats it too, and its response acknowledges this
     * request as well. The acknowledgement is therefore withheld unless the peer repeats the
     * request again. Otherwise the kernel's rxe, if it has received some of those responses, treats
     * the rest as an error after an older acknowledgement.
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

    /** Responds again to a request whose response is that of a READ of {@code bytes} bytes. */
    private void repeatRead(IncomingPacket packet, long bytes) {
        var header = packet.rdma();
        for (var age = 1; age <= executed.length; age++) {
            var known = executed(age);
            var skipped = distance(known.sequence, packet.sequence());
            var skippedBytes = (long) skipped * link.pathMtu();
            if (known.isRead()
                    && skipped >= 0
                    && skipped < known.packets
                    && header.key() == known.key
                    && header.address() == known.address + skippedBytes
                    && bytes <= known.bytes - skippedBytes) {
                withheld = false;
                responses.repeatRead(
                        known, packet.sequence(), link.packets(bytes), header.address(), bytes);
                return;
            }
        }
    }
}
