package org.jrdma.soft.roce.engine;

import org.jrdma.ffi.CheckReturnValue;

/**
 * The options of an engine.
 *
 * @param window the maximum number of unacknowledged packets of one queue pair
 * @param burst the maximum number of packets that a queue pair sends in one turn
 * @param readPackets the maximum number of response packets that one READ request asks for. A
 *     longer READ is split into several requests, because responses have no flow control and would
 *     overflow the socket buffer of the requester
 * @param pathBytes the maximum number of bytes that may be in flight between this engine and one
 *     remote address. Bytes are counted as Linux counts them for the limit of a socket buffer,
 *     which is more than twice the size of a packet
 */
@CheckReturnValue
public record EngineOptions(int window, int burst, int readPackets, long pathBytes) {

    public static final EngineOptions DEFAULTS = new EngineOptions(128, 16, 16, 4 << 20);

    /** Returns a copy with another value of {@link #pathBytes}. */
    public EngineOptions pathBytes(long bytes) {
        return new EngineOptions(window, burst, readPackets, bytes);
    }
}
