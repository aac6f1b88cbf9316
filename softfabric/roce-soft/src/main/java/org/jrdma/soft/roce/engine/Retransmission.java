package org.jrdma.soft.roce.engine;

import static org.jrdma.soft.roce.packet.PacketSequence.distance;

import org.jrdma.soft.roce.packet.ReceiverNotReadyTimer;

/** The retransmission of a reliable requester: its timer, its retry counters, and go-back-N. */
final class Retransmission {

    private static final int MAX_DOUBLINGS = 2;

    private final Engine engine;
    private final QueuePair queuePair;
    private final SendWindow window;
    private final WindowShare usage;
    private SendParameters parameters = new SendParameters(0, 0, 0, 0, 0);
    private int retriesLeft;
    private int notReadyRetriesLeft;

    /** True if a loss was detected and no progress was made since. Further losses are ignored. */
    private boolean recovering;

    /** True if the timer expired and no answer was received since. */
    private boolean unanswered;

    /** True if the requester waits after an RNR NAK. The timer then measures this wait. */
    private boolean waitingForReceiver;

    Retransmission(Engine engine, QueuePair queuePair, SendWindow window, WindowShare usage) {
        this.engine = engine;
        this.queuePair = queuePair;
        this.window = window;
        this.usage = usage;
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

    /** Records that an answer was received. */
    void answered() {
        unanswered = false;
    }

    /**
     * Starts the timer. Each retry without progress doubles the timeout, up to four times its
     * value, which the specification permits. A software peer may be waiting for a processor.
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

    /** Starts the timer for a packet that was sent, if no other packet is in flight. */
    void packetSent() {
        if (queuePair.deadline == TimerQueue.NEVER
                || (window.hasNothingInFlight() && !queuePair.path().isSilent())) {
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
        if (window.hasNothingInFlight()) {
            engine.schedule(queuePair, TimerQueue.NEVER);
        } else {
            startTimer();
        }
    }

    /**
     * Handles a loss: goes back once, until progress is made. A loss is ignored while waiting after
     * an RNR NAK: the requester has gone back already, and the timer must keep running.
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
        window.readsInFlight = 0;
        usage.requestWithNextPacket();
        // Restarted with the first packet sent, because waiting for the link is not a timeout.
        engine.schedule(queuePair, TimerQueue.NEVER);
    }

    void receiverNotReady(int timerCode) {
        if (waitingForReceiver) {
            return; // a duplicate
        }
        if (parameters.notReadyRetries() != SendParameters.UNLIMITED) {
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
        } else if (!window.hasNothingInFlight() || queuePair.path().isSilent()) {
            recovering = false;
            unanswered = true;
            retry();
        }
    }
}
