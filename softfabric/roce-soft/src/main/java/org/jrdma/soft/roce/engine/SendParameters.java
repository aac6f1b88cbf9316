package org.jrdma.soft.roce.engine;

/**
 * The parameters of the transition of a queue pair to RTS.
 *
 * @param sequence the packet sequence number of the first packet that the queue pair sends
 * @param timeout the code t of a timeout of 4.096 us * 2^t; 0 for no timeout
 * @param retries the maximum number of retransmissions after timeouts or losses without progress
 * @param notReadyRetries the maximum number of retransmissions after RNR NAKs without progress;
 *     {@link #UNLIMITED} for no limit
 * @param maxReads the maximum number of READs and atomics that may be outstanding
 */
public record SendParameters(
        int sequence, int timeout, int retries, int notReadyRetries, int maxReads) {

    /** The value of {@link #notReadyRetries} that means an unlimited number of retries. */
    public static final int UNLIMITED = 7;

    long timeoutNanos() {
        return timeout == 0 ? Long.MAX_VALUE : 4_096L << timeout;
    }
}
