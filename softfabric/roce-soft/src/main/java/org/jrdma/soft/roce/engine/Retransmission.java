package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;

import org.jrdma.soft.roce.packet.ReceiverNotReadyTimer;

/**
 * The retries of a reliable requester: its timer, its retry counters, and going back (go-back-N).
 */
final class Retransmission {

    private static final int MOST_DOUBLINGS = 2;

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendWindow window;
    private final PathUsage usage;
    private SendParameters parameters = new SendParameters(0, 0, 0, 0, 0);
    private int retriesLeft;
    private int notReadyRetriesLeft;

    /** Whether a loss was noticed and no progress was made since. Further losses are ignored. */
    private boolean recovering;

    /** Whether the timer expired and no answer came since. */
    private boolean unanswered;

    /** Whether the peer was not ready to receive, and the timer of the wait is running. */
    private boolean waitingForReceiver;

    Retransmission(Engine engine, QueuePair queuePair, SendWindow window, PathUsage usage) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.window = window;
        this.usage = usage;
    }

    void start(SendParameters wanted) {
        change(wanted);
        recovering = false;
        unanswered = false;
        waitingForReceiver = false;
    }

    void change(SendParameters wanted) {
        parameters = wanted;
        resetRetries();
    }

    private void resetRetries() {
        retriesLeft = parameters.retries();
        notReadyRetriesLeft = parameters.notReadyRetries();
    }

    int maxReads() {
        return parameters.maxReads();
    }

    boolean isWaitingForReceiver() {
        return waitingForReceiver;
    }

    boolean isUnanswered() {
        return unanswered;
    }

    /** Notes that an answer came. */
    void answered() {
        unanswered = false;
    }

    /**
     * Starts the timer. Each retry without progress waits longer, up to four times the timeout,
     * which the specification allows: a peer in software may be waiting for a processor.
     */
    void startTimer() {
        var timeout = parameters.timeoutNanos();
        var doublings = Math.min(MOST_DOUBLINGS, parameters.retries() - retriesLeft);
        engine.schedule(
                queuePair,
                timeout == Long.MAX_VALUE
                        ? TimerQueue.NEVER
                        : engine.now() + (timeout << doublings));
    }

    /** Starts the timer with a packet that was sent, if it is the first in flight. */
    void packetSent() {
        if (queuePair.deadline == TimerQueue.NEVER
                || (window.hasNothingUnderWay() && !queuePair.path().isSilent())) {
            startTimer();
        }
    }

    /** Handles an acknowledgement that moved the window. */
    void madeProgress() {
        if (queuePair.state() == QueuePairState.ERROR) {
            return;
        }
        resetRetries();
        recovering = false;
        waitingForReceiver = false;
        usage.acknowledged(window.unacknowledged, window.next);
        if (distance(window.next, window.unacknowledged) > 0) {
            window.moveCursorToUnacknowledged();
        }
        if (window.hasNothingUnderWay()) {
            engine.schedule(queuePair, TimerQueue.NEVER);
        } else {
            startTimer();
        }
    }

    /**
     * Handles a loss: goes back, once until progress is made. A loss is ignored while the peer is
     * not ready to receive: the requester has gone back already, and the timer must keep running.
     */
    void lost() {
        if (!recovering && !waitingForReceiver && queuePair.state() != QueuePairState.ERROR) {
            retry();
            recovering = true;
        }
    }

    private void retry() {
        if (retriesLeft == 0) {
            window.failHead(CompletionStatus.RETRIES_EXCEEDED);
            return;
        }
        retriesLeft--;
        queuePair.path().lost(engine.now());
        goBack();
    }

    private void goBack() {
        usage.releaseAll(window.unacknowledged);
        window.moveCursorToUnacknowledged();
        window.readsUnderWay = 0;
        usage.requestWithNextPacket();
        // The timer starts again with the first packet sent: waiting for the link is not a timeout.
        engine.schedule(queuePair, TimerQueue.NEVER);
    }

    void receiverNotReady(int timerCode) {
        if (waitingForReceiver) {
            return; // a duplicate
        }
        if (parameters.notReadyRetries() != SendParameters.FOR_EVER) {
            if (notReadyRetriesLeft == 0) {
                window.failHead(CompletionStatus.RECEIVER_NOT_READY_RETRIES_EXCEEDED);
                return;
            }
            notReadyRetriesLeft--;
        }
        goBack();
        waitingForReceiver = true;
        engine.schedule(queuePair, engine.now() + ReceiverNotReadyTimer.nanos(timerCode));
    }

    void timerExpired() {
        if (waitingForReceiver) {
            waitingForReceiver = false;
        } else if (!window.hasNothingUnderWay() || queuePair.path().isSilent()) {
            recovering = false;
            unanswered = true;
            retry();
        }
    }
}
