package org.jrdma.soft.roce.engine;

/**
 * The options of an engine.
 *
 * @param window the number of packets of one queue pair that may be unacknowledged
 * @param burst the number of packets that one queue pair may send in a turn
 * @param readPackets the maximum number of packets that one READ request asks for. A longer READ is
 *     split into several requests, because responses have no flow control and a socket buffer is
 *     finite
 * @param pathBytes the number of bytes that may be in flight to and from one address. Bytes are
 *     counted as Linux charges them to a socket, which is more than twice the bytes sent
 */
public record EngineOptions(int window, int burst, int readPackets, long pathBytes) {

    public static final EngineOptions DEFAULTS = new EngineOptions(128, 16, 16, 4 << 20);

    /** Returns a copy with another {@link #pathBytes}. */
    public EngineOptions withPathBytes(long bytes) {
        return new EngineOptions(window, burst, readPackets, bytes);
    }
}
