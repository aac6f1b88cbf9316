package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

import org.jrdma.soft.roce.engine.ResponseQueue.Response;
import org.jrdma.soft.roce.packet.AcknowledgeHeader;
import org.jrdma.soft.roce.packet.IncomingPacket;

/**
 * The last READs and atomics that a reliable responder executed, and the responses to requests that
 * arrive a second time.
 */
final class ReplayCache {

    private final PeerLink link;
    private final ResponseQueue responses;

    /** A ring in which the oldest response is overwritten first. */
    private final Response[] executed;

    private int next;

    /** Whether the acknowledgement of a repeated request was withheld, and of which. */
    private boolean withheld;

    private int lastWithheld;

    /**
     * @param maxReads how many READs and atomics the peer may have outstanding
     */
    ReplayCache(int maxReads, PeerLink link, ResponseQueue responses) {
        this.link = link;
        this.responses = responses;
        this.executed = new Response[maxReads];
        for (var i = 0; i < maxReads; i++) {
            executed[i] = new Response();
        }
    }

    /** Whether the peer has as many READs and atomics outstanding as it may. */
    boolean isFull() {
        return responses.firstAnswers() >= executed.length;
    }

    /** The place to describe the response to the next READ or atomic in. */
    Response next() {
        return executed[next];
    }

    /**
     * Keeps and queues the response in {@link #next}. Returns how many sequence numbers it takes.
     */
    int add() {
        var answer = executed[next];
        next = (next + 1) % executed.length;
        responses.add(answer);
        return answer.packets;
    }

    /** The response of {@code age} READs and atomics ago, of which the last is 1. */
    private Response executed(int age) {
        return executed[(next + executed.length - age) % executed.length];
    }

    /**
     * Answers a request that was executed before, as far as it is remembered.
     *
     * @param expected the next sequence number expected
     */
    void repeat(IncomingPacket packet, int expected, int messages) {
        if (responses.isScarce()) {
            return; // the peer will ask again
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
     * Acknowledges as much as was executed, so that the peer need not repeat all of it, but nothing
     * after a READ or atomic that follows: the peer would conclude that its response was lost.
     *
     * <p>If a READ or atomic follows, the peer repeats it too, and its response acknowledges this
     * request as well. The acknowledgement is therefore withheld unless the peer asks again without
     * it: the kernel's rxe, if it has a part of those responses, takes the next part for an error
     * after an older acknowledgement.
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

    /** Answers a request that is answered like a READ of so many bytes. */
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
