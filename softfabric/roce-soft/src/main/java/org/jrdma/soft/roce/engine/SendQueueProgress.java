package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

/**
 * The progress of a reliable requester in its send queue. Work requests complete in order.
 *
 * <p>The work requests from {@code head} to {@code started} (exclusive) have sequence numbers and
 * wait for acknowledgements. Later work requests have not started. {@code cursor} is the work
 * request to which the next packet to send belongs. A retransmission moves the cursor back to
 * {@code head}.
 */
final class SendQueueProgress {

    private final QueuePair queuePair;
    private final SendQueue queue;

    long head;
    long started;
    long cursor;

    /** The index of the next packet to send within the work request at the cursor. */
    int cursorPacket;

    /** The oldest sequence number that has not been acknowledged. */
    int unacknowledged;

    /** The sequence number of the next packet to send. */
    int next;

    /** The lowest sequence number that was never sent. */
    int neverSent;

    /**
     * The number of requests in flight that need a response: READ requests, atomics, ATOMIC WRITEs
     * and flushes.
     */
    int readsInFlight;

    /** The number of started work requests that need a response and are not complete. */
    int readsIncomplete;

    SendQueueProgress(QueuePair queuePair) {
        this.queuePair = queuePair;
        this.queue = queuePair.sends();
    }

    void start(int sequence) {
        unacknowledged = sequence;
        next = sequence;
        neverSent = sequence;
        readsInFlight = 0;
        readsIncomplete = 0;
    }

    SendWork atHead() {
        return queue.slot(head);
    }

    SendWork atCursor() {
        return queue.slot(cursor);
    }

    boolean hasNothingInFlight() {
        return next == unacknowledged;
    }

    /**
     * Advances the cursor beyond a packet that was sent.
     *
     * @param sequenceNumbers the number of sequence numbers that the packet uses. A READ request
     *     uses as many as its response has packets
     */
    void moveCursor(SendWork work, int sequenceNumbers) {
        cursorPacket += sequenceNumbers;
        next = plus(next, sequenceNumbers);
        if (distance(neverSent, next) > 0) {
            neverSent = next;
        }
        if (cursorPacket == work.packets) {
            cursor++;
            cursorPacket = 0;
        }
    }

    /** Moves the cursor, backward or forward, to the oldest unacknowledged packet. */
    void moveCursorToUnacknowledged() {
        cursor = head;
        next = unacknowledged;
        cursorPacket = head == started ? 0 : distance(atHead().firstSequence, unacknowledged);
    }

    /**
     * Completes the oldest work request successfully, and then the work requests after it that need
     * no acknowledgement.
     */
    void completeHead() {
        removeHead(CompletionStatus.SUCCESS);
        completeLocal();
    }

    /**
     * Completes the oldest work requests as long as they need no acknowledgement, because their
     * operation is local or they have failed.
     */
    void completeLocal() {
        while (head < started) {
            var work = atHead();
            if (work.failure != null) {
                failHead(work.failure);
                return;
            }
            if (!work.operation.isLocal()) {
                return;
            }
            if (cursor == head) {
                cursor++;
            }
            removeHead(CompletionStatus.SUCCESS);
        }
    }

    private void removeHead(CompletionStatus status) {
        // First, because it may throw OutOfMemoryError.
        queuePair.completions().completeSend(atHead(), status);
        head++;
        queue.release(head);
    }

    /**
     * Completes a work request with an error. If earlier work requests are incomplete, the error is
     * reported after they are complete.
     */
    void fail(SendWork work, CompletionStatus status) {
        work.failure = status;
        if (atHead() == work) {
            failHead(status);
        }
    }

    /**
     * Completes the oldest work request with an error and moves the queue pair to the error state.
     */
    void failHead(CompletionStatus status) {
        removeHead(status);
        queuePair.fail();
    }

    /** Completes all work requests as flushed. */
    void flush() {
        var end = queue.tail();
        while (head < end) {
            removeHead(CompletionStatus.FLUSHED);
        }
        resetCursor();
    }

    /** Drops all work requests without completions. */
    void reset() {
        head = queue.tail();
        queue.release(head);
        resetCursor();
    }

    private void resetCursor() {
        started = head;
        cursor = head;
        cursorPacket = 0;
    }

    /** Returns true if all work requests that have started are complete. */
    boolean isDrained() {
        return head == started;
    }
}
