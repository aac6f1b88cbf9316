package org.jrdma.soft.roce.engine;

/**
 * How an engine behaves towards the network.
 *
 * @param window how many packets of one queue pair may be unacknowledged
 * @param burst how many packets one queue pair sends before another has its turn
 * @param readPackets how many packets one READ request may ask for. A longer READ is asked for in
 *     several: responses know no window, and a socket's buffer is finite
 */
public record EngineOptions(int window, int burst, int readPackets) {

    public static final EngineOptions DEFAULTS = new EngineOptions(128, 16, 64);
}
