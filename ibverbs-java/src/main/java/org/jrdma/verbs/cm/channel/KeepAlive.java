package org.jrdma.verbs.cm.channel;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jrdma.verbs.PolledQueuePair;
import org.jrdma.verbs.PreparedWrite;
import org.jrdma.verbs.model.RemoteMemory;
import org.jrdma.verbs.model.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * The keep-alive of a channel: probes the peer if nothing has completed for an interval.
 *
 * <p>A probe is an RDMA write of zero bytes. The peer's device acknowledges it without a receive
 * and without the peer's program, so that a peer that handles no messages still responds. If the
 * peer does not respond, the probe fails after the last retransmission, as every request does.
 */
public final class KeepAlive {

    private static final RemoteMemory NO_MEMORY = new RemoteMemory(0, 0, 0);

    private final @Nullable PreparedWrite probe;
    private final long interval;
    private long lastCompletion;
    private boolean inFlight;

    /**
     * Creates a keep-alive.
     *
     * @param interval the time without completions after which the peer is probed; null to send no
     *     probes
     */
    public KeepAlive(PolledQueuePair queuePair, @Nullable Duration interval) {
        if (interval == null) {
            this.probe = null;
            this.interval = Long.MAX_VALUE;
        } else {
            this.probe =
                    queuePair.prepareWrite(List.of(), NO_MEMORY).id(MessageRings.KEEP_ALIVE_PROBE);
            this.interval = TimeUnit.NANOSECONDS.convert(interval);
            this.lastCompletion = System.nanoTime();
        }
    }

    /**
     * Returns the time until the next probe in nanoseconds: 0 or less if the probe is due, {@code
     * Long.MAX_VALUE} if there is no keep-alive or a probe is in flight.
     */
    public long remainingNanos() {
        return probe == null || inFlight
                ? Long.MAX_VALUE
                : interval - (System.nanoTime() - lastCompletion);
    }

    /** Restarts the interval, because a completion shows that the peer responds. */
    public void completed() {
        if (probe != null) {
            lastCompletion = System.nanoTime();
        }
    }

    /** Handles the completion of a probe. */
    public void probeCompleted() {
        inFlight = false;
    }

    /** Sends a probe if it is due. */
    public void probeIfDue() throws VerbsException {
        if (probe != null && remainingNanos() <= 0) {
            // The post fails only if the program itself has filled the send queue. Its requests
            // then detect that the peer does not respond.
            inFlight = probe.tryPost();
            completed();
        }
    }
}
