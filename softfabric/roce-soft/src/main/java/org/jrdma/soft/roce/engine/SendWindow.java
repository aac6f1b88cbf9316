package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;
import static org.jrdma.soft.roce.packet.PacketSequence.plus;

/**
 * The positions of a reliable requester in its send queue, and completion in order.
 *
 * <p>Work requests from {@code head} to {@code started} (exclusive) have sequence numbers and wait
 * for acknowledgements. Later work requests have not started. {@code cursor} is the work request
 * whose packet is sent next; a retransmission moves it back to {@code head}.
 */
final class SendWindow {

    private final QueuePair queuePair;
    private final SendQueue queue;

    long head;
    long started;
    long cursor;

    /** The index of the next packet of the work request at the cursor. */
    int cursorPacket;

    /** The oldest sequence number without an acknowledgement. */
    int unacknowledged;

    /** The sequence number of the packet at the cursor. */
    int next;

    /** The first sequence number that was never sent. */
    int neverSent;

    /** Requests in flight that need a response: READs, atomics, ATOMIC WRITEs and flushes. */
    int readsInFlight;

    /** Work requests that need a response and are not complete. */
    int readsIncomplete;

    SendWindow(QueuePair queuePair) {
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
     * Advances the cursor past a packet that was sent.
     *
     * @param sequenceNumbers the number of sequence numbers that the packet uses; for a read
     *     request, those that its response uses
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

    /** Moves the cursor, back or forward, to the oldest unacknowledged packet. */
    void moveCursorToUnacknowledged() {
        cursor = head;
        next = unacknowledged;
        cursorPacket = head == started ? 0 : distance(atHead().firstSequence, unacknowledged);
    }

    void completeHead() {
        removeHead(CompletionStatus.SUCCESS);
        completeLocal();
    }

    /** Completes work requests at the head that need no acknowledgement: local and failed ones. */
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
        var work = atHead();
        head++;
        queuePair.completions().completeSend(work, status);
        queue.release(head);
    }

    /** Completes a work request in error, once all earlier ones are complete. */
    void fail(SendWork work, CompletionStatus status) {
        work.failure = status;
        if (atHead() == work) {
            failHead(status);
        }
    }

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

    boolean isDrained() {
        return head == started;
    }
}
