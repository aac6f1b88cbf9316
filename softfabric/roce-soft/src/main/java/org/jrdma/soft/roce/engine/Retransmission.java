package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;

import org.jrdma.soft.roce.packet.ReceiverNotReadyTimer;

/**
 * The retransmission logic of a reliable requester: the timer, the retry counters, and the return
 * to the oldest unacknowledged packet after a loss (go-back-N).
 */
final class Retransmission {

    /** The maximum number of times that the timeout is doubled while retries make no progress. */
    private static final int MAX_DOUBLINGS = 2;

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendQueueProgress progress;
    private final CongestionWindowShare share;
    private SendParameters parameters = new SendParameters(0, 0, 0, 0, 0);
    private int retriesLeft;
    private int notReadyRetriesLeft;

    /**
     * True after the handling of a loss, until an acknowledgement moves the window. Further signs
     * of a loss are then ignored.
     */
    private boolean recovering;

    /** True if the timer has expired and no answer was received since. */
    private boolean unanswered;

    /**
     * True if the requester waits after an RNR NAK. The timer of the queue pair then measures this
     * wait.
     */
    private boolean waitingForReceiver;

    Retransmission(
            Engine engine,
            QueuePair queuePair,
            SendQueueProgress progress,
            CongestionWindowShare share) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.progress = progress;
        this.share = share;
    }

    void start(SendParameters newParameters) {
        change(newParameters);
        recovering = false;
        unanswered = false;
        waitingForReceiver = false;
    }

    void change(SendParameters newParameters) {
        parameters = newParameters;
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

    /** Records that an acknowledgement or response has arrived. */
    void answered() {
        unanswered = false;
    }

    /**
     * Starts the retransmission timer. Each retry without progress doubles the timeout, up to four
     * times the configured value, because a software peer may be waiting for a processor. The
     * specification permits a timer to wait up to four times its value.
     */
    void startTimer() {
        var timeout = parameters.timeoutNanos();
        var doublings = Math.min(MAX_DOUBLINGS, parameters.retries() - retriesLeft);
        engine.schedule(
                queuePair,
                timeout == Long.MAX_VALUE
                        ? TimerQueue.NEVER
                        : engine.now() + (timeout << doublings));
    }

    /**
     * Called after a packet was sent. Starts the timer if it is not running, or if no other packet
     * is in flight and the path is not silent.
     */
    void packetSent() {
        if (queuePair.deadline == TimerQueue.NEVER
                || (progress.hasNothingInFlight() && !queuePair.path().isSilent())) {
            startTimer();
        }
    }

    /**
     * Handles an acknowledgement or response that has moved the window: resets the retry counters,
     * and restarts or stops the timer.
     */
    void madeProgress() {
        if (queuePair.state() == QueuePairState.ERROR) {
            return;
        }
        resetRetries();
        recovering = false;
        waitingForReceiver = false;
        share.acknowledged(progress.unacknowledged, progress.next);
        if (distance(progress.next, progress.unacknowledged) > 0) {
            progress.moveCursorToUnacknowledged();
        }
        if (progress.hasNothingInFlight()) {
            engine.schedule(queuePair, TimerQueue.NEVER);
        } else {
            startTimer();
        }
    }

    /**
     * Handles a detected loss: retransmits from the oldest unacknowledged packet. Further losses
     * are ignored until progress is made. Losses are also ignored during the wait after an RNR NAK,
     * because the requester has already gone back and the timer must continue to measure the wait.
     */
    void lost() {
        if (!recovering && !waitingForReceiver && queuePair.state() != QueuePairState.ERROR) {
            retry();
            recovering = true;
        }
    }

    /**
     * Retransmits from the oldest unacknowledged packet, or fails the oldest work request if no
     * retries are left.
     */
    private void retry() {
        if (retriesLeft == 0) {
            progress.failHead(CompletionStatus.RETRIES_EXCEEDED);
            return;
        }
        retriesLeft--;
        queuePair.path().lost(engine.now());
        goBack();
    }

    /** Moves the cursor of the window to the oldest unacknowledged packet. */
    private void goBack() {
        share.releaseAll(progress.unacknowledged);
        progress.moveCursorToUnacknowledged();
        progress.readsInFlight = 0;
        share.requestWithNextPacket();
        // The timer starts again when the first packet is retransmitted, because the wait for a
        // free packet buffer must not count towards the timeout.
        engine.schedule(queuePair, TimerQueue.NEVER);
    }

    /**
     * Handles an RNR NAK: waits for the requested time before retransmitting, or fails the oldest
     * work request if no RNR retries are left.
     */
    void receiverNotReady(int timerCode) {
        if (waitingForReceiver) {
            return; // The RNR NAK is a duplicate.
        }
        if (parameters.notReadyRetries() != SendParameters.UNLIMITED) {
            if (notReadyRetriesLeft == 0) {
                progress.failHead(CompletionStatus.RECEIVER_NOT_READY_RETRIES_EXCEEDED);
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
        } else if (!progress.hasNothingInFlight() || queuePair.path().isSilent()) {
            recovering = false;
            unanswered = true;
            retry();
        }
    }
}
