package org.jrdma.soft.roce.engine;

/**
 * The parameters of the transition to RTS.
 *
 * @param sequence the first packet sequence number
 * @param timeout the code t of a timeout of 4.096 us * 2^t; 0 for no timeout
 * @param retries the number of retransmissions after a timeout or loss
 * @param notReadyRetries the number of retries after RNR NAKs; 7 for no limit
 * @param maxReads the number of READs and atomics that may be outstanding
 */
public record SendParameters(
        int sequence, int timeout, int retries, int notReadyRetries, int maxReads) {

    /** The value of {@link #notReadyRetries} for no limit. */
    public static final int UNLIMITED = 7;

    long timeoutNanos() {
        return timeout == 0 ? Long.MAX_VALUE : 4_096L << timeout;
    }
}
