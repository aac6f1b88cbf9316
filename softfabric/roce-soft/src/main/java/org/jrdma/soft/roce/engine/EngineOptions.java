package org.jrdma.soft.roce.engine;

/**
 * How an engine behaves towards the network.
 *
 * @param window how many packets of one queue pair may be unacknowledged
 * @param burst how many packets one queue pair sends before another has its turn
 * @param readPackets how many packets one READ request may ask for. A longer READ is asked for in
 *     several: responses know no window, and a socket's buffer is finite
 * @param pathBytes how much may be under way to one address and back, as Linux charges it to a
 *     socket: more than twice what is sent
 */
public record EngineOptions(int window, int burst, int readPackets, long pathBytes) {

    public static final EngineOptions DEFAULTS = new EngineOptions(128, 16, 16, 4 << 20);

    /** The same with another {@link #pathBytes}. */
    public EngineOptions withPathBytes(long bytes) {
        return new EngineOptions(window, burst, readPackets, bytes);
    }
}
