package org.jrdma.soft.roce.engine;

/**
 * What a queue pair must know to send.
 *
 * @param sequence the first packet sequence number
 * @param timeout the code t of 4.096 us * 2^t; 0 waits for ever
 * @param retries how often to send again what is not answered
 * @param notReadyRetries how often to come again when the peer has no receive; 7 for ever
 * @param maxReads how many READs and atomics may be outstanding
 */
public record SendParameters(
        int sequence, int timeout, int retries, int notReadyRetries, int maxReads) {

    /** {@link #notReadyRetries} without end. */
    public static final int FOR_EVER = 7;

    long timeoutNanos() {
        return timeout == 0 ? Long.MAX_VALUE : 4_096L << timeout;
    }
}
